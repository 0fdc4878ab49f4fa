// Package history keeps what people typed: the database history.db, shared with
// the program whose schema it has. A fresh file is laid out exactly as that
// program does, an older one is brought up to date, and either program may have
// it open at the same time.
//
// Add is for the middle of a turn: it takes a prompt in microseconds, whoever
// holds the database, and leaves storing it to a goroutine. Recent and Search
// give what the original gives for the same file. Search over everything, by
// our own rule, is the index's; Rows, Stamp and Fingerprint are what it needs.
//
// Only additions of our own, the texts that were deleted on purpose, bring in a
// table the original doesn't know; it comes into being with the first deletion.
package history
