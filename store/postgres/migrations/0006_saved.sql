-- What the tokens that a request did not send would have cost.
ALTER TABLE ledger ADD COLUMN saved_usd double precision NOT NULL DEFAULT 0;
