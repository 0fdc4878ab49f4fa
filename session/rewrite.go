package session

import (
	"context"
	"fmt"

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

// SetToolCallArguments gives a tool call of an answer other arguments, and
// writes the transcript anew.
//
// Errors: ErrNoEntry if no answer has a call of that id; those of
// RewriteEntries.
func (s *Session) SetToolCallArguments(ctx context.Context, call string, arguments jsonl.Value) error {
	found := false
	err := s.RewriteEntries(ctx, func(e *jsonl.Entry) *jsonl.Obj {
		o := withArguments(e, call, arguments)
		found = found || o != nil
		return o
	})
	if err == nil && !found {
		return fmt.Errorf("tool call %s: %w", call, ErrNoEntry)
	}
	return err
}

// withArguments is an entry's record with other arguments of a call; nil if the
// call is not in it.
func withArguments(e *jsonl.Entry, call string, arguments jsonl.Value) *jsonl.Obj {
	if e.Role() != "assistant" {
		return nil
	}
	message := e.Value().Get("message")
	blocks := append([]jsonl.Value(nil), message.Get("content").Items()...)
	for i, b := range blocks {
		if b.Get("type").Str() != "toolCall" || b.Get("id").Str() != call {
			continue
		}
		block, m, o := b.Obj().Clone(), message.Obj().Clone(), e.Value().Clone()
		block.Set("arguments", arguments)
		blocks[i] = jsonl.ObjectValue(block)
		m.Set("content", jsonl.ArrayValue(blocks...))
		o.Set("message", jsonl.ObjectValue(m))
		return o
	}
	return nil
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
