// Package checkpoint keeps what entries say after they have left a transcript.
//
// A long session can be cut: the part before a compaction goes to an archive
// file. What was used (Usage), what was changed (Effects) and what was asked
// for (TaskScope) must outlive that, so each is folded from the entries that
// leave into a checkpoint, a custom entry that stays. For every cut, the fold
// over the checkpoint and the entries that are left equals the fold over all
// entries. PlanArchive says which entries may leave.
//
// Everything here is computed from entries in the order of the file: no file
// is opened and no clock is read. Folds take a session's entries of all
// branches; given the entries of one path they speak of that path. Whoever
// holds archived entries as well folds those and leaves the checkpoints out
// (WithoutCheckpoints), so that nothing counts twice.
package checkpoint

import "github.com/gajae-code/gjc-index/jsonl"

// WithoutCheckpoints are the entries that are no checkpoint: what to fold when
// the entries that the checkpoints stand for are there too.
func WithoutCheckpoints(entries []*jsonl.Entry) []*jsonl.Entry {
	rest := make([]*jsonl.Entry, 0, len(entries))
	for _, e := range entries {
		if e.Type() != "custom" || !e.Kind().Checkpoint {
			rest = append(rest, e)
		}
	}
	return rest
}
