-- +goose Up

-- The ids in an order that ignores the case of ASCII: which of them begin alike
-- is told by neighbours.
CREATE INDEX sessions_near ON sessions (id COLLATE NOCASE);
