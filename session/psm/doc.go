// Package psm keeps progressive summaries of a session: while it grows, what
// was asked, done and learnt is summed up answer by answer, in a file of its
// own beside the transcript. It is separate from replay and compaction: nothing
// it writes is ever sent to a model by this program, and nothing is appended to
// the transcript.
//
// A worker reads committed records, from the archive and the transcript, and
// groups them into units that each end in the answer they led to. Units go to a
// Summarizer in batches. A batch is one line of the log, written with one write
// and synced: it names every input by its entry id and has the summaries of all
// of them, so there is no state in which an input counts as done without its
// summary, and a line that a crash has torn is no batch. Results of tools are
// evidence: alone they make no unit and wait for a record of a person or a
// model.
//
// One worker works on a session at a time; the log's own kernel lock sees to
// that. What went wrong stands in the status file, which only the worker writes.
package psm
