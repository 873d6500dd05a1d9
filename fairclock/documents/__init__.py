"""Own HTML and PDF: languages, fonts, templates."""
