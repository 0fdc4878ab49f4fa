// Package session lists, opens and writes sessions: transcripts with their
// lease, their sidecars and their leaf.
//
// # Writing
//
// A Store is all sessions of one home. Store.Create, Open, OpenManaged,
// ContinueRecent and ForkFrom give a Session, which is open for writing until
// it is closed; Store.InMemory gives one that is never on disk. Entries are
// appended in batches: each is validated, redacted, relieved of its images,
// given event ids and written with one write. What became of a batch is its
// outcome. Committed means written; durable it is once Flush or Close has
// returned, or at once with Options.Sync. After an error that is a
// *jsonl.AppendError the session stops: tell the user that nothing is being
// saved, and open it again.
//
// Before the first answer of the assistant a new session is in memory only.
// See Options.KeepUnanswered and Session.EnsureOnDisk.
//
// # Beside other programs
//
// One process writes a session at a time: the lease file beside the transcript
// is locked from opening to Close, and ErrBusy names who holds it. The sessions
// that one Store has open on a file share its lease. The original program knows
// nothing of leases; what it appends meanwhile is left where it is, and carried
// over when this program writes the file anew.
//
// Nothing that another program has written is ever cut off or overwritten. A
// torn last line is closed with a line end; a file without a header is set
// aside whole; a file with damaged lines is kept as it is before it is
// rewritten.
//
// # Locks
//
// Locks are waited for in one order: scope, writer (the lease), keep (the
// transcript's own lock, which says that it is in use), activation (BeginTurn),
// append, sequence (the event ids). A context says which of them its caller
// holds; a wrong order panics.
package session
