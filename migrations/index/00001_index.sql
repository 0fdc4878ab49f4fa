-- +goose Up

-- What holds for the whole index: 'extract' (number of the rules its rows were
-- made by), 'built' (Unix ms; there only once a build was finished), 'history'
-- (fingerprint of history.db).
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A directory right under sessions/; name '' is sessions/ itself.
CREATE TABLE scopes (
	id     INTEGER PRIMARY KEY,
	name   TEXT NOT NULL UNIQUE,
	dev    INTEGER NOT NULL,
	files  INTEGER NOT NULL,  -- rows of sessions that belong to the digest
	digest BLOB NOT NULL      -- of its files' fingerprints; empty: look at each file
) STRICT;

-- One session file, readable or not.
CREATE TABLE sessions (
	key           INTEGER PRIMARY KEY,
	scope         INTEGER NOT NULL,  -- scopes.id
	name          TEXT NOT NULL,     -- path under the scope, with slashes
	-- fingerprint: the stat of the read that made the rows
	dev           INTEGER NOT NULL,
	inode         INTEGER NOT NULL,
	size          INTEGER NOT NULL,  -- bytes
	mtime_ns      INTEGER NOT NULL,
	ctime_ns      INTEGER NOT NULL,
	racy          BLOB,              -- NULL, or a sum to compare with once the clock has moved on
	-- where a read of what was appended begins; the bytes before are in
	at_offset     INTEGER NOT NULL,  -- 0: the file must be read whole
	at_line       INTEGER NOT NULL,  -- number of the line that begins there
	at_malformed  INTEGER NOT NULL,  -- lines before it that gave no record
	at_sum        BLOB,              -- of the bytes right before it
	-- what it says
	state         TEXT NOT NULL,     -- ok, empty, bad_header, newer_version, refused, unreadable
	reason        TEXT,              -- of a state that is not ok
	id            TEXT,
	version       INTEGER NOT NULL,
	cwd           TEXT,
	parent        TEXT,              -- as the header says
	child         INTEGER NOT NULL,  -- 1: lies in another session's own directory
	created_ms    INTEGER,           -- Unix ms; NULL if the header's time can't be read
	last_ms       INTEGER,           -- of the last record; NULL if it can't be read
	active_ms     INTEGER NOT NULL,  -- last_ms, else the file's time
	messages      INTEGER NOT NULL,
	entries       INTEGER NOT NULL,  -- nodes of the tree
	seconds       INTEGER NOT NULL,  -- headers after the first
	malformed     INTEGER NOT NULL,  -- lines that gave no record
	recovered     INTEGER NOT NULL,  -- damaged lines that gave records
	title         TEXT,              -- NULL if there is none
	title_source  TEXT,
	first_prompt  TEXT,
	UNIQUE (scope, name)
) STRICT;
CREATE INDEX sessions_id ON sessions (id);
CREATE INDEX sessions_list ON sessions (child, state, last_ms, mtime_ns, scope, name);  -- what a list sorts by
CREATE INDEX sessions_bad ON sessions (scope) WHERE state <> 'ok' OR malformed > 0;

-- Entries in file order.
CREATE TABLE entries (
	session    INTEGER NOT NULL,  -- sessions.key
	seq        INTEGER NOT NULL,  -- from 0
	id         TEXT,
	parent     TEXT,              -- parentId as written; NULL if null or absent
	parent_seq INTEGER,           -- the entry meant; -1: none was named; NULL: it is missing
	run        INTEGER NOT NULL,  -- first entry of the row of entries, each the next one's parent, that this one is in
	type       TEXT NOT NULL,
	role       TEXT,              -- of a message
	time_ms    INTEGER,           -- Unix ms; NULL if it can't be read
	line       INTEGER NOT NULL,
	offset     INTEGER NOT NULL,  -- bytes
	size       INTEGER NOT NULL,  -- bytes of the value
	state      INTEGER,           -- 1: carries state, or summarizes; else NULL
	gap        INTEGER,           -- 1: a line was lost right before it; else NULL
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX entries_id ON entries (session, id);
CREATE INDEX entries_state ON entries (session, seq) WHERE state = 1;
CREATE INDEX entries_missing ON entries (session, seq) WHERE parent_seq IS NULL;

-- The patch that holds for an entry's message.
CREATE TABLE patches (
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,  -- of the entry patched
	line    INTEGER NOT NULL,
	offset  INTEGER NOT NULL,  -- bytes
	size    INTEGER NOT NULL,  -- bytes
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- Every label entry; the last one of a target holds.
CREATE TABLE labels (
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	target  TEXT NOT NULL,
	label   TEXT,              -- NULL or '' clears
	current INTEGER NOT NULL,  -- 1: holds
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- One row a response, as its message says after patches.
CREATE TABLE usage (
	session     INTEGER NOT NULL,
	seq         INTEGER NOT NULL,
	time_ms     INTEGER,
	provider    TEXT,
	model       TEXT,
	input       REAL NOT NULL,  -- tokens
	output      REAL NOT NULL,
	cache_read  REAL NOT NULL,
	cache_write REAL NOT NULL,
	cost        REAL,           -- NULL: price unknown
	premium     REAL NOT NULL,  -- premium requests
	stop        TEXT,           -- stop reason
	PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- Which blobs a file names.
CREATE TABLE refs (
	session INTEGER NOT NULL,
	sum     BLOB NOT NULL,  -- SHA-256, 32 bytes
	PRIMARY KEY (session, sum)
) STRICT, WITHOUT ROWID;
