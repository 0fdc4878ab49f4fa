package session

import (
	"context"

	"github.com/gajae-code/gjc-index/jsonl"
)

// RewriteEntries writes the transcript anew, patches folded. change may give an
// entry another record (nil keeps it) and must leave its id and its parent; a
// nil change rewrites alone. The leaf stays.
//
// Errors: those of AppendBatch; then the session and its file are as before.
func (s *Session) RewriteEntries(ctx context.Context, change func(*jsonl.Entry) *jsonl.Obj) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if err := s.loadLocked(ctx); err != nil {
		return err
	}
	if s.latched != nil {
		return s.latchedError()
	}
	records, err := s.changedRecords(change)
	if err != nil {
		return err
	}
	old := s.records
	s.records = records
	if !s.memory && s.onDisk {
		if err := s.rewriteLocked(ctx, nil); err != nil {
			s.records = old
			_, err = s.failed(err)
			return err
		}
	}
	s.tree = treeOf(records)
	return s.writeLeafLocked(ctx)
}

// changedRecords are the records with what change gives for them.
func (c *core) changedRecords(change func(*jsonl.Entry) *jsonl.Obj) ([]*jsonl.Entry, error) {
	records := append([]*jsonl.Entry(nil), c.records...)
	if change == nil {
		return records, nil
	}
	for i, e := range records {
		o := change(e)
		if o == nil {
			continue
		}
		made := jsonl.NewEntry(o)
		id, _ := made.ID()
		was, _ := e.ID()
		if id != was {
			return nil, &EntryError{Type: e.Type()}
		}
		records[i] = made
	}
	return records, nil
}

// treeOf joins the records that are entries.
func treeOf(records []*jsonl.Entry) *jsonl.Tree {
	t := jsonl.Transcript{Records: records}
	return jsonl.NewTree(t.Entries())
}
