// Package index answers from SQLite what the session files say: which sessions
// there are, what was typed, where each entry lies. The files are the truth:
// whatever the database holds can be thrown away and made again from them.
//
// # What it may be asked
//
// Sessions, prompts, one session's entries by offset, labels, usage. Every
// answer is as fresh as the last Refresh; a file that is on disk and not in the
// database yet is listed from its prefix, never hidden.
//
// A session of an older layout that was migrated lies in its workspace's scope as
// a copy; the source is hidden as long as the copy is there.
//
// # What stops it
//
// Nothing about the database stops a caller. An older schema is migrated; a file
// that is damaged, or whose tables somebody has changed, is set aside and built
// again; a newer one is left alone and a busy one not waited for. What the
// database doesn't hold, all of it where none can be used, is answered from the
// files; where these are too much to read whole, rows are marked (Row.Estimated).
// A full disk is no damage. Notes says which of these happened, in a sentence
// each, and no error or note is in SQLite's words.
//
// # How a file gets in
//
// Refresh walks the sessions directory and compares each file's identity, size
// and times with those it stored. A file that has grown is read from where the
// last read ended; any other change means reading it whole. A file's
// fingerprint and its rows go in with one transaction and mean: the bytes
// before the offset are in. A file whose times lie within one clock tick of the
// stat that was stored may still change unseen; it is read once more.
//
// What can't be seen without reading everything, bytes changed in place below
// the offset and then growth of the same file, is left to Check and Rebuild.
//
// An Index is safe for several goroutines, its file for several processes.
package index
