-- What a gateway has found out about context windows, in its own form.
CREATE TABLE windows (
  key   bytea PRIMARY KEY,
  state bytea NOT NULL
);
