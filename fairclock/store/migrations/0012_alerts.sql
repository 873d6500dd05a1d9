-- One row is one change of one alert: (alert_id, sequence), and event_id follows from the two. Rows are only added.
CREATE TABLE IF NOT EXISTS alerts
(
    alert_id String,
    sequence UInt32,
    event_id String,
    state LowCardinality(String),
    severity LowCardinality(String),
    contract LowCardinality(String),
    objective String,
    changed_at DateTime64(6, 'UTC'),
    event String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (alert_id, sequence, stored_at);

-- What becomes of an event at a destination; the row with the greatest version holds. Attempts have a delivery_id.
CREATE TABLE IF NOT EXISTS deliveries
(
    destination LowCardinality(String),
    alert_id String,
    sequence UInt32,
    event_id String,
    alert_state LowCardinality(String),
    version UInt32,
    state LowCardinality(String),
    message_id String,
    delivery_id String,
    attempt UInt32,
    http_status UInt16,
    problem String,
    planned_at Nullable(DateTime64(6, 'UTC')),
    retry_at Nullable(DateTime64(6, 'UTC')),
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (alert_id, sequence, destination, version, stored_at);

-- Which alerts nobody is told of for a while; ended early by another row with a greater version.
CREATE TABLE IF NOT EXISTS silences
(
    id String,
    version UInt32,
    matchers Array(Tuple(String, String)),
    silent_from DateTime64(6, 'UTC'),
    silent_to DateTime64(6, 'UTC'),
    author String,
    reason String,
    stored_at DateTime64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (id, version);
