CREATE TABLE made (version TEXT PRIMARY KEY);

-- every file that was looked at, recordings or not
CREATE TABLE files (
	rowid INTEGER PRIMARY KEY AUTOINCREMENT,
	path TEXT NOT NULL UNIQUE,
	size INTEGER NOT NULL,
	modified INTEGER NOT NULL, -- microseconds
	program TEXT NOT NULL, -- of its place
	why TEXT NOT NULL, -- it was not read; '': it was
	reason TEXT NOT NULL
);

CREATE TABLE sessions (
	file INTEGER PRIMARY KEY,
	id TEXT NOT NULL,
	agent TEXT NOT NULL,
	project TEXT NOT NULL,
	title TEXT NOT NULL,
	model TEXT NOT NULL,
	parent TEXT NOT NULL,
	state TEXT NOT NULL,
	used INTEGER NOT NULL, -- microseconds
	messages INTEGER NOT NULL,
	tokens INTEGER NOT NULL,
	cost REAL NOT NULL,
	condensations INTEGER NOT NULL,
	texted INTEGER NOT NULL DEFAULT 0, -- its words are in the index
	facts BLOB NOT NULL -- the whole of it, as JSON
);
CREATE INDEX sessions_used ON sessions (used DESC, id);
CREATE INDEX sessions_id ON sessions (id);
CREATE INDEX sessions_texted ON sessions (texted) WHERE texted = 0;
CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';

-- the requests of sessions whose provider names them; forks of a session have its first
CREATE TABLE requests (
	file INTEGER PRIMARY KEY,
	first TEXT NOT NULL, -- the ID of the first
	list BLOB NOT NULL -- all, as JSON
);
CREATE INDEX requests_first ON requests (first);

-- words of passages; texts says which passages [first, after) of which file a row is
CREATE TABLE texts (
	rowid INTEGER PRIMARY KEY,
	file INTEGER NOT NULL,
	first INTEGER NOT NULL,
	after INTEGER NOT NULL
);
CREATE INDEX texts_file ON texts (file, first);
CREATE VIRTUAL TABLE text USING fts5 (words, content = '', contentless_delete = 1, detail = none, tokenize = 'unicode61 remove_diacritics 0');
INSERT INTO text (text, rank) VALUES ('hashsize', 33554432); -- fewer and larger segments to merge
