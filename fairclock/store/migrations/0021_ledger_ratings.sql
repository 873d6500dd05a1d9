-- Ratings say when they begin, before they look at the ledger, and when they are done: one that read earlier and adds later finds the
-- one that read after it, and one that was killed is found by the next. What is there already is what `state` 'all' says.
ALTER TABLE ledger_ratings
    ADD COLUMN IF NOT EXISTS rating String AFTER prices_sha256,
    ADD COLUMN IF NOT EXISTS state LowCardinality(String) DEFAULT 'all' AFTER rating;
