-- What is summed up of an entry. price is the cost of a request, cost that of condensing;
-- requests and edits are 0 or 1. day counts from 1970, in UTC.
ALTER TABLE ledger ADD COLUMN day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN input INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN output INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN cache_read INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN cache_write INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN price REAL NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN sent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN saved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE ledger ADD COLUMN edits INTEGER NOT NULL DEFAULT 0;
UPDATE ledger SET day = (seconds - ((seconds % 86400) + 86400) % 86400) / 86400;
UPDATE ledger SET requests = 1,
  input = coalesce(json_extract(CAST(data AS TEXT), '$.usage.input'), 0),
  output = coalesce(json_extract(CAST(data AS TEXT), '$.usage.output'), 0),
  cache_read = coalesce(json_extract(CAST(data AS TEXT), '$.usage.cache_read'), 0),
  cache_write = coalesce(json_extract(CAST(data AS TEXT), '$.usage.cache_write'), 0),
  price = coalesce(json_extract(CAST(data AS TEXT), '$.cost_usd'), 0),
  sent = coalesce(json_extract(CAST(data AS TEXT), '$.tokens_after'), 0),
  saved = max(coalesce(json_extract(CAST(data AS TEXT), '$.tokens_before'), 0) - coalesce(json_extract(CAST(data AS TEXT), '$.tokens_after'), 0), 0)
  WHERE json_extract(CAST(data AS TEXT), '$.kind') = 'request';
UPDATE ledger SET edits = 1 WHERE coalesce(json_extract(CAST(data AS TEXT), '$.kind'), '') NOT IN ('request', 'call');
-- Sums are read from these alone, each group in a row.
CREATE INDEX ledger_sums_by_day ON ledger (owner, day, seconds, nanos, conversation, requests, input, output, cache_read, cache_write, price, sent, saved, edits, cost);
DROP INDEX ledger_by_conversation;
CREATE INDEX ledger_by_conversation ON ledger (owner, conversation, seconds, nanos, requests, input, output, cache_read, cache_write, price, sent, saved, edits, cost);
