-- A conversation tree is stored in runs. A branch is a run of messages without
-- a fork; it leaves its parent after message number depth and goes on from there.
CREATE TABLE branches (
  id     INTEGER PRIMARY KEY,
  parent INTEGER REFERENCES branches (id), -- NULL: starts at the empty conversation
  depth  INTEGER NOT NULL                  -- messages shared with the parent
) STRICT;

-- One row for each distinct stored message, whoever said it.
CREATE TABLE bodies (
  id   INTEGER PRIMARY KEY,
  key  BLOB NOT NULL, -- SHA-256 of data
  hash BLOB NOT NULL, -- precis.HashMessage
  data BLOB           -- the stored form; NULL is kept for "known, but not stored"
) STRICT;
CREATE UNIQUE INDEX bodies_by_key ON bodies (key);
CREATE INDEX bodies_by_hash ON bodies (hash);

-- Message number depth of its branch, counted from 1 at the root.
CREATE TABLE nodes (
  branch      INTEGER NOT NULL REFERENCES branches (id),
  depth       INTEGER NOT NULL,
  fingerprint BLOB NOT NULL,
  body        INTEGER NOT NULL REFERENCES bodies (id),
  PRIMARY KEY (branch, depth)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX nodes_by_fingerprint ON nodes (fingerprint);

-- seq is the order in which edits were recorded; it never goes back.
CREATE TABLE edits (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  branch INTEGER NOT NULL,
  depth  INTEGER NOT NULL,
  id     TEXT NOT NULL,
  data   BLOB NOT NULL,
  FOREIGN KEY (branch, depth) REFERENCES nodes (branch, depth)
) STRICT;
CREATE UNIQUE INDEX edits_by_node ON edits (branch, depth, id);

CREATE TABLE calibrations (
  model TEXT PRIMARY KEY,
  state BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
  id           INTEGER PRIMARY KEY,
  conversation TEXT NOT NULL,
  seconds      INTEGER NOT NULL, -- since 1970, UTC
  nanos        INTEGER NOT NULL,
  data         BLOB NOT NULL
) STRICT;
CREATE INDEX ledger_by_time ON ledger (seconds, nanos);
CREATE INDEX ledger_by_conversation ON ledger (conversation, seconds, nanos);
