-- What is a word has changed (each syllable of Korean is one), so that every body
-- is indexed anew.
TRUNCATE search, unsearched;
INSERT INTO unsearched (body) SELECT id FROM bodies;
