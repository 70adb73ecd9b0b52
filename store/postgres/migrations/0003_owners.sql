-- Who a part of the store belongs to. What was there before belongs to "".
CREATE TABLE owners (
  id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name bytea NOT NULL
);
CREATE UNIQUE INDEX owners_by_name ON owners (name);
INSERT INTO owners (id, name) OVERRIDING SYSTEM VALUE VALUES (0, '');

-- Every look-up begins with the owner, so that none can find what is another's.
ALTER TABLE branches ADD COLUMN owner bigint NOT NULL DEFAULT 0;
CREATE INDEX branches_by_owner ON branches (owner, id);
CREATE INDEX branches_by_parent ON branches (parent);

ALTER TABLE bodies ADD COLUMN owner bigint NOT NULL DEFAULT 0;
DROP INDEX bodies_by_key;
DROP INDEX bodies_by_hash;
CREATE UNIQUE INDEX bodies_by_key ON bodies (owner, key);
CREATE INDEX bodies_by_hash ON bodies (owner, hash, id);

-- What was there before counts as stored now.
ALTER TABLE nodes ADD COLUMN owner bigint NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN stored timestamptz NOT NULL DEFAULT now();
DROP INDEX nodes_by_fingerprint;
CREATE UNIQUE INDEX nodes_by_fingerprint ON nodes (owner, fingerprint);
CREATE INDEX nodes_by_body ON nodes (body);

ALTER TABLE summaries ADD COLUMN owner bigint NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN stored timestamptz NOT NULL DEFAULT now();
ALTER TABLE summaries DROP CONSTRAINT summaries_pkey;
ALTER TABLE summaries ADD PRIMARY KEY (owner, key);

ALTER TABLE ledger ADD COLUMN owner bigint NOT NULL DEFAULT 0;
DROP INDEX ledger_by_time;
DROP INDEX ledger_by_conversation;
CREATE INDEX ledger_by_time ON ledger (owner, seconds, nanos, id);
CREATE INDEX ledger_by_conversation ON ledger (owner, conversation, seconds, nanos, id);

-- The conversations. words is what a query's text is looked for in.
CREATE TABLE catalog (
  owner   bigint NOT NULL,
  id      bytea NOT NULL,
  head    bytea NOT NULL,
  seconds bigint NOT NULL, -- of the last update, since 1970, UTC
  nanos   integer NOT NULL,
  words   bytea NOT NULL,
  data    bytea NOT NULL,
  PRIMARY KEY (owner, id)
);
CREATE INDEX catalog_by_time ON catalog (owner, seconds DESC, nanos DESC, id);
CREATE INDEX catalog_by_head ON catalog (owner, head);

-- The words of each body, with its owner's among them.
CREATE TABLE search (
  body  bigint PRIMARY KEY REFERENCES bodies (id) ON DELETE CASCADE,
  words tsvector NOT NULL
);
CREATE INDEX search_by_words ON search USING gin (words);

-- The bodies that are not in search yet.
CREATE TABLE unsearched (
  body bigint NOT NULL
);
INSERT INTO unsearched (body) SELECT id FROM bodies;
