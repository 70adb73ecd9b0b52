-- What the tokens that a request did not send would have cost.
ALTER TABLE ledger ADD COLUMN saved_usd REAL NOT NULL DEFAULT 0;
DROP INDEX ledger_sums_by_day;
CREATE INDEX ledger_sums_by_day ON ledger (owner, day, seconds, nanos, conversation, requests, input, output, cache_read, cache_write, price, sent, saved, edits, saved_usd, cost);
DROP INDEX ledger_by_conversation;
CREATE INDEX ledger_by_conversation ON ledger (owner, conversation, seconds, nanos, requests, input, output, cache_read, cache_write, price, sent, saved, edits, saved_usd, cost);
