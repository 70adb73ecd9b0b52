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
UPDATE ledger SET requests = 1,
  input = coalesce((convert_from(data, 'UTF8')::json -> 'usage' ->> 'input')::bigint, 0),
  output = coalesce((convert_from(data, 'UTF8')::json -> 'usage' ->> 'output')::bigint, 0),
  cache_read = coalesce((convert_from(data, 'UTF8')::json -> 'usage' ->> 'cache_read')::bigint, 0),
  cache_write = coalesce((convert_from(data, 'UTF8')::json -> 'usage' ->> 'cache_write')::bigint, 0),
  price = coalesce((convert_from(data, 'UTF8')::json ->> 'cost_usd')::double precision, 0),
  sent = coalesce((convert_from(data, 'UTF8')::json ->> 'tokens_after')::bigint, 0),
  saved = greatest(coalesce((convert_from(data, 'UTF8')::json ->> 'tokens_before')::bigint, 0) - coalesce((convert_from(data, 'UTF8')::json ->> 'tokens_after')::bigint, 0), 0)
  WHERE convert_from(data, 'UTF8')::json ->> 'kind' = 'request';
UPDATE ledger SET edits = 1 WHERE coalesce(convert_from(data, 'UTF8')::json ->> 'kind', '') NOT IN ('request', 'call');
