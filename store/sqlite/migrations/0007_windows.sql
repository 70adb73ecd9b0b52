-- What a gateway has found out about context windows, in its own form.
CREATE TABLE windows (
  key   BLOB PRIMARY KEY,
  state BLOB NOT NULL
) STRICT, WITHOUT ROWID;
