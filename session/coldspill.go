package session

import (
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
)

// EvictCompacted moves long content of the entries before firstKept, on the
// way to the leaf, to blobs, since the compaction has summed it up. The file is
// written anew with the next append.
//
// Errors: ErrNoEntry.
func (s *Session) EvictCompacted(ctx context.Context, firstKept, compaction string) (jsonl.EvictionStats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var stats jsonl.EvictionStats
	for _, id := range []string{firstKept, compaction} {
		if err := s.branchableLocked(ctx, id); err != nil {
			return stats, err
		}
	}
	why := jsonl.Eviction{At: float64(s.st.opt.Now().UnixMilli()), CompactionID: compaction, FirstKeptID: firstKept}
	made := map[*jsonl.Entry]*jsonl.Obj{}
	for _, e := range s.tree.Path(s.leaf) {
		if id, _ := e.ID(); id == firstKept {
			break
		}
		o, st, err := jsonl.Evict(ctx, s.st.blobs, e.Value(), why)
		if err != nil {
			return stats, err
		}
		stats.Add(st)
		if o != e.Value() {
			made[e] = o
		}
	}
	for e, o := range made {
		e.SetValue(o)
	}
	s.rewrite = s.rewrite || len(made) > 0
	return stats, nil
}

// EntriesForExport are all entries as they were: evicted content and images in
// their places. What could not be read is shown as a placeholder and reported.
func (s *Session) EntriesForExport(ctx context.Context) (entries []*jsonl.Obj, missing []jsonl.MissingBlob, err error) {
	err = s.View(ctx, func(tree *jsonl.Tree, _ jsonl.Leaf) error {
		for _, e := range tree.Entries() {
			v, gone, err := s.st.resolve(ctx, e)
			if err != nil {
				return err
			}
			o, lost, err := jsonl.Rehydrate(ctx, s.st.blobs, v.Obj())
			if err != nil {
				return err
			}
			missing = append(append(missing, gone...), lost...)
			entries = append(entries, o)
		}
		return nil
	})
	return entries, missing, err
}
