"""Own the drawings of the console: SVG with real text that is coloured by the style sheet and fits its column.

A drawing has no view box of its own: lines lie in an inner one that is stretched, text stands at a share of the
width, so letters keep their size on a phone. Nothing in it is styled in place; the content security policy forbids it.
"""
