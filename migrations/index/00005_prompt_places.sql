-- +goose Up

-- What was typed, in the order of time. A row of history.db is named here, and
-- its text is read there, so that nothing is kept twice of what is the greater
-- part of a history.
--
-- The full-text rows of prompt_words have these ids. They are small and close to
-- each other, since the lists of a full-text index hold differences of ids: with
-- times as ids they were five times as long. A build numbers every second id, so
-- that a prompt which comes late finds a place; if there is none, the prompts
-- around it are given others (index/place.go).
DROP INDEX prompts_file;
DROP INDEX prompts_session;
DROP INDEX prompts_cwd;
DROP INDEX prompts_sum;
DROP TABLE prompts;
CREATE TABLE prompts (
	id      INTEGER PRIMARY KEY, -- ascends with time_ms
	session INTEGER,             -- sessions.key; NULL: a row of history.db
	text_at INTEGER NOT NULL,    -- prompt_texts.key; of a row of history.db its id there
	entry   TEXT,                -- entry id; NULL for a row of history.db
	line    INTEGER,             -- from 1; NULL for a row of history.db
	time_ms INTEGER NOT NULL,    -- Unix ms
	cwd     INTEGER NOT NULL,    -- prompt_cwds.id
	sum     INTEGER NOT NULL     -- first 8 bytes of the text's SHA-256
) STRICT;
CREATE INDEX prompts_session ON prompts (session) WHERE session IS NOT NULL;
CREATE INDEX prompts_cwd ON prompts (cwd);
CREATE INDEX prompts_sum ON prompts (sum);

-- The texts of the prompts of sessions.
CREATE TABLE prompt_texts (
	key  INTEGER PRIMARY KEY,
	text TEXT NOT NULL
) STRICT;

-- The directories that prompts were typed in. Some may be named no more.
CREATE TABLE prompt_cwds (
	id  INTEGER PRIMARY KEY,
	cwd TEXT NOT NULL UNIQUE
) STRICT;

-- What finds prompts holds ids as they were, and nothing of the new tables is
-- there yet: the next command builds everything.
INSERT INTO prompt_words (prompt_words) VALUES ('delete-all');
DELETE FROM prompt_tokens;
DELETE FROM prompt_recent;
DELETE FROM prompt_marks;
DELETE FROM meta WHERE name IN ('built', 'history');
