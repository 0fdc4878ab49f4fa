package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// maxLeafFile bounds what is read of a leaf file, in bytes.
const maxLeafFile = 64 << 10

// LeafPath is the leaf file of the transcript at path.
func LeafPath(path string) string { return stemOf(path) + ".leaf.json" }

// ReadLeaf is the leaf that was chosen for a transcript of the given id and
// length, and whether one was: a leaf file that speaks of another state of the
// transcript counts as none. It may speak of two, the one that it was written
// for and the one that was to replace it. The caller checks that the entry exists.
func ReadLeaf(fsys storage.FS, path, id string, size int64) (leaf jsonl.Leaf, ok bool, err error) {
	text, err := storage.ReadFile(fsys, LeafPath(path), maxLeafFile)
	if errors.Is(err, fs.ErrNotExist) {
		return jsonl.LeafLast(), false, nil
	}
	if err != nil {
		return jsonl.LeafLast(), false, err
	}
	v, err := jsonl.ParseString(string(text))
	speaks := func(key string) bool { return v.Get(key).Is(jsonl.Number) && v.Get(key).Num() == float64(size) }
	if err != nil || v.Get("session").Str() != id || !speaks("length") && !speaks("nextLength") {
		return jsonl.LeafLast(), false, nil
	}
	switch entry := v.Get("leaf"); entry.Kind() {
	case jsonl.Null:
		return jsonl.LeafRoot(), true, nil
	case jsonl.String:
		return jsonl.LeafAt(entry.Str()), true, nil
	}
	return jsonl.LeafLast(), false, nil
}

// readLeaf takes up the leaf that was chosen when the transcript was last open.
func (c *core) readLeaf(context.Context) error {
	c.leaf = jsonl.LeafLast()
	leaf, ok, err := ReadLeaf(c.st.fsys, c.path, c.header.ID(), c.size)
	if errors.Is(err, storage.ErrUnsafe) || errors.Is(err, storage.ErrTooLarge) {
		c.st.opt.Log.Warn("read leaf", "path", LeafPath(c.path), "cause", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read leaf: %w", err)
	}
	c.leafFile = ok
	if ok && (leaf.IsRoot() || c.tree.LeafEntry(leaf) != nil) {
		c.leaf = leaf
	}
	return nil
}

// leafIsLastLocked reports whether the leaf is where a reader would be without
// a leaf file.
func (c *core) leafIsLastLocked() bool {
	return c.tree.LeafEntry(c.leaf) == c.tree.LeafEntry(jsonl.LeafLast())
}

// writeLeafLocked writes the leaf file if the leaf is not the last entry, and
// removes one that is there otherwise. The transcript comes first.
func (c *core) writeLeafLocked(ctx context.Context) error {
	if c.memory || !c.onDisk || (c.partial && c.size == c.base) {
		return nil
	}
	path := LeafPath(c.path)
	if c.partial || c.leafIsLastLocked() { // what was appended is the leaf
		return c.dropLeafFile(path)
	}
	leaf := jsonl.NullValue()
	if id := c.leafIDLocked(); id != "" {
		leaf = jsonl.StringValue(id)
	}
	if err := writeLeafFile(ctx, c.st.fsys, c.path, c.header.ID(), c.size, leaf); err != nil {
		return err
	}
	c.leafFile = true
	return nil
}

// writeLeafForLocked makes a leaf file hold for what replaces the transcript too.
func (c *core) writeLeafForLocked(ctx context.Context, size, next int64) error {
	if c.memory || !c.leafFile || c.partial || c.leafIsLastLocked() {
		return nil
	}
	leaf := jsonl.NullValue()
	if id := c.leafIDLocked(); id != "" {
		leaf = jsonl.StringValue(id)
	}
	return writeLeafFor(ctx, c.st.fsys, c.path, c.header.ID(), size, next, leaf)
}

// writeLeafFile says which leaf was chosen for a transcript of that length.
func writeLeafFile(ctx context.Context, fsys storage.FS, path, id string, size int64, leaf jsonl.Value) error {
	return writeLeafFor(ctx, fsys, path, id, size, size, leaf)
}

// writeLeafFor says which leaf was chosen for a transcript that is about to be
// replaced by one of another length: it holds for both, so that a crash between
// the two files loses no choice.
func writeLeafFor(ctx context.Context, fsys storage.FS, path, id string, size, next int64, leaf jsonl.Value) error {
	record := jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "schema", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "session", Value: jsonl.StringValue(id)},
		jsonl.Member{Key: "length", Value: jsonl.NumberValue(float64(size))},
		jsonl.Member{Key: "leaf", Value: leaf},
	))
	if next != size {
		record.Obj().Set("nextLength", jsonl.NumberValue(float64(next)))
	}
	err := storage.Replace(ctx, fsys, LeafPath(path), newFileMode, func(w io.Writer) error {
		_, err := io.WriteString(w, record.JSON()+"\n")
		return err
	})
	if err != nil {
		return fmt.Errorf("write leaf: %w", err)
	}
	return nil
}

// dropLeafFile removes a leaf file that says nothing any more.
func (c *core) dropLeafFile(path string) error {
	if !c.leafFile {
		return nil
	}
	c.leafFile = false
	if err := c.st.fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove leaf: %w", err)
	}
	return nil
}

// Branch moves the leaf to an entry: the next one is appended below it.
// Nothing else changes. The leaf survives until the session is opened again.
//
// Errors: ErrNoEntry, ErrEntryArchived.
func (s *Session) Branch(ctx context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.branchableLocked(ctx, id); err != nil {
		return err
	}
	s.leaf = jsonl.LeafAt(id)
	return s.writeLeafLocked(ctx)
}

// branchableLocked checks that the session is open and has an entry.
func (s *Session) branchableLocked(ctx context.Context, id string) error {
	if err := s.usableLocked(); err != nil {
		return err
	}
	if err := s.loadLocked(ctx); err != nil {
		return err
	}
	if s.tree.Entry(id) != nil {
		return nil
	}
	if !s.memory && s.onDisk {
		if archived, err := ArchiveHas(ctx, s.st.fsys, s.path, id); err == nil && archived {
			return fmt.Errorf("entry %s: %w", id, ErrEntryArchived)
		}
	}
	return fmt.Errorf("entry %s: %w", id, ErrNoEntry)
}

// ResetLeaf moves the leaf before all entries: the next one becomes a root.
func (s *Session) ResetLeaf(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usableLocked(); err != nil {
		return err
	}
	if err := s.loadLocked(ctx); err != nil {
		return err
	}
	s.leaf = jsonl.LeafRoot()
	return s.writeLeafLocked(ctx)
}

// BranchWithSummary moves the leaf to the entry id, or before all entries if
// id is "", and appends a summary of what was left. details and fromExtension
// may be Absent.
//
// Errors: ErrNoEntry, those of AppendBatch; after one of those the leaf is
// where it was.
func (s *Session) BranchWithSummary(ctx context.Context, id, summary string, details, fromExtension jsonl.Value) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		if err := s.loadLocked(ctx); err != nil {
			return "", err
		}
	} else if err := s.branchableLocked(ctx, id); err != nil {
		return "", err
	}
	old := s.leaf
	s.leaf = jsonl.LeafRoot()
	if id != "" {
		s.leaf = jsonl.LeafAt(id)
	}
	r, err := s.appendLocked(ctx, newBranchSummary(summary, details, fromExtension))
	if err != nil {
		s.leaf = old
		return "", err
	}
	return r.IDs[0], nil
}

// SetLabel labels an entry; an Absent or empty label clears.
//
// Errors: ErrNoEntry, those of AppendBatch.
func (s *Session) SetLabel(ctx context.Context, target string, label jsonl.Value) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.branchableLocked(ctx, target); err != nil {
		return "", err
	}
	r, err := s.appendLocked(ctx, newLabel(target, label))
	if err != nil {
		return "", err
	}
	return r.IDs[0], nil
}
