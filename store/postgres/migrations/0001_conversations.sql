-- Text that comes from outside is bytea: the type text refuses zero bytes and
-- whatever is not UTF-8.

-- A conversation tree is stored in runs. A branch is a run of messages without
-- a fork; it leaves its parent after message number depth and goes on from there.
-- A parent has the smaller id. Rows are never changed; AddEdit locks them.
CREATE TABLE branches (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  parent bigint REFERENCES branches (id), -- NULL: starts at the empty conversation
  depth  integer NOT NULL                 -- messages shared with the parent
);

-- One row for each distinct stored message, whoever said it.
CREATE TABLE bodies (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key  bytea NOT NULL, -- SHA-256 of data
  hash bytea NOT NULL, -- precis.HashMessage
  data bytea           -- the stored form; NULL is kept for "known, but not stored"
);
CREATE UNIQUE INDEX bodies_by_key ON bodies (key);
CREATE INDEX bodies_by_hash ON bodies (hash, id);

-- Message number depth of its branch, counted from 1 at the root.
CREATE TABLE nodes (
  branch      bigint NOT NULL REFERENCES branches (id),
  depth       integer NOT NULL,
  fingerprint bytea NOT NULL,
  body        bigint NOT NULL REFERENCES bodies (id),
  PRIMARY KEY (branch, depth)
);
CREATE UNIQUE INDEX nodes_by_fingerprint ON nodes (fingerprint);

-- seq is the order in which the edits of a path were recorded. It is given out
-- while the path is locked, so it goes up along every path.
CREATE TABLE edits (
  branch bigint NOT NULL,
  seq    bigint GENERATED ALWAYS AS IDENTITY,
  depth  integer NOT NULL,
  id     bytea NOT NULL,
  data   bytea NOT NULL,
  PRIMARY KEY (branch, seq),
  FOREIGN KEY (branch, depth) REFERENCES nodes (branch, depth)
);
CREATE UNIQUE INDEX edits_by_id ON edits (branch, id, depth);

CREATE TABLE calibrations (
  model bytea PRIMARY KEY,
  state bytea NOT NULL
);

-- Summaries by the hash of what they were made of.
CREATE TABLE summaries (
  key  bytea PRIMARY KEY,
  text bytea NOT NULL
);

CREATE TABLE ledger (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  conversation bytea NOT NULL,
  seconds      bigint NOT NULL, -- since 1970, UTC
  nanos        integer NOT NULL,
  data         bytea NOT NULL
);
CREATE INDEX ledger_by_time ON ledger (seconds, nanos, id);
CREATE INDEX ledger_by_conversation ON ledger (conversation, seconds, nanos, id);
