-- Degradations that Fairclock notices itself: what happened (kind), to which engine, and what shows it; all empty where
-- somebody said it. Their mode is empty: they bring no quality level.
ALTER TABLE degradations
    ADD COLUMN IF NOT EXISTS kind LowCardinality(String) DEFAULT '' AFTER origin,
    ADD COLUMN IF NOT EXISTS engine String DEFAULT '' AFTER kind,
    ADD COLUMN IF NOT EXISTS evidence String DEFAULT '' AFTER engine;
