-- Who a part of the store belongs to. What was there before belongs to "".
CREATE TABLE owners (
  id   INTEGER PRIMARY KEY,
  name BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX owners_by_name ON owners (name);
INSERT INTO owners (id, name) VALUES (0, x'');

-- Every look-up begins with the owner, so that none can find what is another's.
ALTER TABLE branches ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
CREATE INDEX branches_by_parent ON branches (parent);

ALTER TABLE bodies ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
DROP INDEX bodies_by_key;
DROP INDEX bodies_by_hash;
CREATE UNIQUE INDEX bodies_by_key ON bodies (owner, key);
CREATE INDEX bodies_by_hash ON bodies (owner, hash);

-- stored is in milliseconds since 1970. What was there before is as old as this.
ALTER TABLE nodes ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
UPDATE nodes SET stored = CAST(unixepoch('subsec') * 1000 AS INTEGER);
DROP INDEX nodes_by_fingerprint;
CREATE UNIQUE INDEX nodes_by_fingerprint ON nodes (owner, fingerprint);
CREATE INDEX nodes_by_body ON nodes (body);

CREATE TABLE owned_summaries (
  owner  INTEGER NOT NULL,
  key    BLOB NOT NULL,
  text   BLOB NOT NULL,
  stored INTEGER NOT NULL,
  PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
INSERT INTO owned_summaries (owner, key, text, stored)
  SELECT 0, key, text, CAST(unixepoch('subsec') * 1000 AS INTEGER) FROM summaries;
DROP TABLE summaries;
ALTER TABLE owned_summaries RENAME TO summaries;

ALTER TABLE ledger ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
DROP INDEX ledger_by_time;
DROP INDEX ledger_by_conversation;
CREATE INDEX ledger_by_time ON ledger (owner, seconds, nanos);
CREATE INDEX ledger_by_conversation ON ledger (owner, conversation, seconds, nanos);

-- The conversations. words is what a query's text is looked for in.
CREATE TABLE catalog (
  owner   INTEGER NOT NULL,
  id      BLOB NOT NULL,
  head    BLOB NOT NULL,
  seconds INTEGER NOT NULL, -- of the last update, since 1970, UTC
  nanos   INTEGER NOT NULL,
  words   BLOB NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX catalog_by_time ON catalog (owner, seconds DESC, nanos DESC, id);
CREATE INDEX catalog_by_head ON catalog (owner, head);

-- Until when, in milliseconds since 1970, who does something that only one
-- process should do.
CREATE TABLE leases (
  name    BLOB PRIMARY KEY,
  holder  BLOB NOT NULL,
  expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The words of each body, once each, with its owner's as the first. The text is
-- not stored again. secure-delete takes words out of the index when their body
-- goes; without it they would only be marked.
CREATE VIRTUAL TABLE search USING fts5 (words, content = '', tokenize = 'unicode61 remove_diacritics 0', columnsize = 0);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);

-- The bodies up to this one are in the index, which was made by this version of
-- package words.
CREATE TABLE searched (
  upto    INTEGER NOT NULL,
  version TEXT NOT NULL
) STRICT;
INSERT INTO searched (upto, version) VALUES (0, '');
