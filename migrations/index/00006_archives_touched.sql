-- +goose Up

-- An archive beside a session file, with the fingerprint of the read that made
-- its rows: a change of it makes the session be read anew.
CREATE TABLE archives (
	session  INTEGER NOT NULL,  -- sessions.key
	name     TEXT NOT NULL,     -- path under the scope, with slashes
	dev      INTEGER NOT NULL,
	inode    INTEGER NOT NULL,
	size     INTEGER NOT NULL,  -- bytes
	mtime_ns INTEGER NOT NULL,
	ctime_ns INTEGER NOT NULL,
	racy     BLOB,              -- as of sessions
	searched INTEGER NOT NULL,  -- 1: the blobs that its bytes name are among the session's refs
	reason   TEXT,              -- why nothing of it is in; NULL if it is
	PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

-- Entries that an archive holds and the session file does not, in the order of
-- the archive.
CREATE TABLE archived (
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,  -- from 0
	file    TEXT NOT NULL,     -- archives.name
	run     INTEGER NOT NULL,  -- of the archive, from 1
	id      TEXT,
	parent  TEXT,
	type    TEXT NOT NULL,
	role    TEXT,
	time_ms INTEGER,           -- Unix ms; NULL if it can't be read
	line    INTEGER NOT NULL,  -- of the session file as it was
	offset  INTEGER NOT NULL,  -- bytes, of the value in the archive as it reads unpacked
	size    INTEGER NOT NULL,  -- bytes of the value
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX archived_id ON archived (session, id);

-- Files that a session's tool results, archived ones too, prove to be changed,
-- in the order in which they were first seen.
CREATE TABLE touched (
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,  -- from 0
	path    TEXT NOT NULL,     -- as the session has it
	file    TEXT NOT NULL,     -- where that is: a relative one lies in the session's workspace
	creates INTEGER NOT NULL,  -- how often
	writes  INTEGER NOT NULL,
	edits   INTEGER NOT NULL,
	deletes INTEGER NOT NULL,
	renames INTEGER NOT NULL,
	first   TEXT NOT NULL,     -- timestamps of the entries, as written
	last    TEXT NOT NULL,
	entry   TEXT NOT NULL,     -- id of the last of these; '' if it has none
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX touched_file ON touched (file);

-- Tool calls that have no result yet: what is appended may bring it.
CREATE TABLE open_calls (
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,  -- from 0, the oldest first
	id      TEXT NOT NULL,
	tool    TEXT NOT NULL,
	path    TEXT NOT NULL,     -- '' if the call names none
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
