-- +goose Up

-- What was typed: user messages of sessions and rows of history.db.
CREATE TABLE prompts (
	id      INTEGER PRIMARY KEY, -- Unix ms << 20 | 20 bits that tell prompts of one ms apart: follows time
	source  INTEGER NOT NULL,    -- 0: a session, 1: history.db
	session INTEGER NOT NULL,    -- sessions.key; 0 for a row of history.db
	file    INTEGER NOT NULL,    -- what goes when its file goes
	entry   TEXT NOT NULL,       -- entry id; for a row of history.db its id
	line    INTEGER NOT NULL,    -- from 1; 0: none
	time_ms INTEGER NOT NULL,    -- Unix ms
	cwd     TEXT NOT NULL,
	sum     INTEGER NOT NULL,    -- first 8 bytes of the text's SHA-256
	text    TEXT NOT NULL
) STRICT;
CREATE INDEX prompts_file ON prompts (file);
CREATE INDEX prompts_session ON prompts (session);
CREATE INDEX prompts_cwd ON prompts (cwd);
CREATE INDEX prompts_sum ON prompts (sum);

-- The words of each folded prompt, under the prompt's id. It narrows a search;
-- the text decides.
CREATE VIRTUAL TABLE prompt_words USING fts5 (
	words, content = '', detail = none, columnsize = 0, tokenize = 'ascii'
);

-- The distinct words, each with a line end before and after it. Words of
-- prompts that are gone may stay, and a word may stand in several rows.
CREATE TABLE prompt_tokens (
	seq  INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;

-- The newest prompts, folded: all whose id is at least the highest floor.
-- Prompts that are gone may stay.
CREATE TABLE prompt_recent (
	seq   INTEGER PRIMARY KEY,
	floor INTEGER NOT NULL,
	data  BLOB NOT NULL  -- for each: id (8 bytes, little end first), length (uvarint), text unless over 4096 bytes
) STRICT;

-- Ids that split the prompts below the floor into pieces of about equal size.
CREATE TABLE prompt_marks (
	id INTEGER PRIMARY KEY
) STRICT;
