-- Who does something that only one replica should do, and until when by the
-- clock of the database.
CREATE TABLE leases (
  name    bytea PRIMARY KEY,
  holder  bytea NOT NULL,
  expires timestamptz NOT NULL
);
