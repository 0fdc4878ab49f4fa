-- +goose Up
-- Texts the user deleted, by SHA-256 of their UTF-8 bytes: an import does not
-- bring them back, and what was deleted can't be read here.
CREATE TABLE gjc_index_tombstones (
	hash       BLOB PRIMARY KEY,   -- 32 bytes
	deleted_at INTEGER NOT NULL    -- Unix seconds
) STRICT, WITHOUT ROWID;
