"""Own the colours of the report's drawings: told apart by colour-blind readers, and never by colour alone."""

WITH_QUEUE, WITHOUT_QUEUE = "#b4451f", "#1f5f8b"
PHASE_COLOURS = {
    "network": "#8d96a1",
    "frontend": "#5fb0dd",
    "queue": "#b4451f",
    "prefill": "#1f5f8b",
    "decode": "#2f8f77",
}
INK, MUTED, RULE, UNUSED, OUTSIDE = "#1d2733", "#5a6675", "#c9d0d8", "#c3cad3", "#eef1f4"
