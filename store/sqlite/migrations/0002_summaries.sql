-- Summaries by the hash of what they were made of. Text is kept as it came.
CREATE TABLE summaries (
  key  BLOB PRIMARY KEY,
  text BLOB NOT NULL
) STRICT, WITHOUT ROWID;
