-- What is summed up of an entry. price is the cost of a request, cost that of condensing;
-- requests and edits are 0 or 1. day counts from 1970, in UTC.
ALTER TABLE ledger
  ADD COLUMN day bigint NOT NULL DEFAULT 0,
  ADD COLUMN requests bigint NOT NULL DEFAULT 0,
  ADD COLUMN input bigint NOT NULL DEFAULT 0,
  ADD COLUMN output bigint NOT NULL DEFAULT 0,
  ADD COLUMN cache_read bigint NOT NULL DEFAULT 0,
  ADD COLUMN cache_write bigint NOT NULL DEFAULT 0,
  ADD COLUMN price double precision NOT NULL DEFAULT 0,
  ADD COLUMN sent bigint NOT NULL DEFAULT 0,
  ADD COLUMN saved bigint NOT NULL DEFAULT 0,
  ADD COLUMN edits bigint NOT NULL DEFAULT 0;
UPDATE ledger SET day = (seconds - ((seconds % 86400) + 86400) % 86400) / 86400;
-- JSON is read without the escapes of NUL, which PostgreSQL has no text for.
UPDATE ledger SET requests = 1,
  input = coalesce((entry -> 'usage' ->> 'input')::bigint, 0),
  output = coalesce((entry -> 'usage' ->> 'output')::bigint, 0),
  cache_read = coalesce((entry -> 'usage' ->> 'cache_read')::bigint, 0),
  cache_write = coalesce((entry -> 'usage' ->> 'cache_write')::bigint, 0),
  price = coalesce((entry ->> 'cost_usd')::double precision, 0),
  sent = coalesce((entry ->> 'tokens_after')::bigint, 0),
  saved = greatest(coalesce((entry ->> 'tokens_before')::bigint, 0) - coalesce((entry ->> 'tokens_after')::bigint, 0), 0)
  FROM (SELECT id, regexp_replace(convert_from(data, 'UTF8'), '(?<!\\)((?:\\\\)*)\\u0000', '\1', 'g')::json AS entry FROM ledger OFFSET 0) AS old
  WHERE old.id = ledger.id AND entry ->> 'kind' = 'request';
UPDATE ledger SET edits = 1
  FROM (SELECT id, regexp_replace(convert_from(data, 'UTF8'), '(?<!\\)((?:\\\\)*)\\u0000', '\1', 'g')::json AS entry FROM ledger OFFSET 0) AS old
  WHERE old.id = ledger.id AND coalesce(entry ->> 'kind', '') NOT IN ('request', 'call');
