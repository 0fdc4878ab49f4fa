// Package migrations opens the store's two SQLite databases and keeps their
// schema current.
//
// Two databases, two rules. The index may be thrown away: its schema is made by
// the files in index/ when it is opened. Prompt history is its own small truth
// and belongs to another program as well: a fresh one is laid out by package
// history exactly as that program does, and the files in history/ (our
// additions) run only when Migrate is called. A history migration never loses a
// row.
//
// What everybody can rely on, on each pooled connection: the file is ours alone
// (0600) before SQLite sees it, WAL, synchronous NORMAL, foreign keys, a busy
// timeout, and write transactions that begin IMMEDIATE, so that none fails half
// way for a lock.
//
// A database file must never be opened by other means while a connection is
// open: closing that other descriptor drops SQLite's POSIX locks. Only this
// package names the driver, and only this package looks at SQLite's codes.
package migrations
