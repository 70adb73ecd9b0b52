-- What condensing cost, so that limits need not read requests: 0 for those.
ALTER TABLE ledger ADD COLUMN cost double precision NOT NULL DEFAULT 0;
UPDATE ledger SET cost = coalesce((convert_from(data, 'UTF8')::json ->> 'cost_usd')::double precision, 0)
  WHERE convert_from(data, 'UTF8')::json ->> 'kind' <> 'request';
CREATE INDEX ledger_by_cost ON ledger (seconds, nanos) INCLUDE (cost) WHERE cost <> 0;
