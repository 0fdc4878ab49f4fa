-- +goose Up

-- What a file says of requests and their cost, packed: a sum over all sessions
-- reads one row a file. See index/usagepack.go.
CREATE TABLE usage_packs (
	session INTEGER PRIMARY KEY,  -- sessions.key
	pack    BLOB NOT NULL
) STRICT;
