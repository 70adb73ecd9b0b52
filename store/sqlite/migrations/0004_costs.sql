-- What condensing cost, so that limits need not read requests: 0 for those.
ALTER TABLE ledger ADD COLUMN cost REAL NOT NULL DEFAULT 0;
UPDATE ledger SET cost = coalesce(json_extract(CAST(data AS TEXT), '$.cost_usd'), 0)
  WHERE json_extract(CAST(data AS TEXT), '$.kind') <> 'request';
CREATE INDEX ledger_by_cost ON ledger (seconds, nanos, cost) WHERE cost <> 0;
