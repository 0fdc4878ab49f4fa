package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// newFileMode is the mode of every transcript that this program writes.
const newFileMode = 0o600

// appenderLocked opens the transcript for appending if it is not open, or if
// another session of this store has rewritten it since. held.mu is locked.
func (c *core) appenderLocked() error {
	if c.app != nil && c.gen == c.held.gen {
		return nil
	}
	if err := c.closeAppender(); err != nil {
		return err
	}
	app, err := jsonl.OpenAppender(c.st.fsys, c.path)
	if err != nil {
		return protectedIfLocked(err)
	}
	c.app, c.gen = app, c.held.gen
	c.strangers = c.strangers || app.Size() != c.size
	return nil
}

// closeAppender closes the transcript, and remembers whether others wrote to it.
func (c *core) closeAppender() error {
	if c.app == nil {
		return nil
	}
	old := c.app
	c.app = nil
	c.strangers = c.strangers || old.Foreign()
	return old.Close()
}

// protectedIfLocked names what holds a transcript's own lock: something that
// is about to remove it.
func protectedIfLocked(err error) error {
	if errors.Is(err, storage.ErrLocked) {
		return fmt.Errorf("%w: %w", ErrProtected, err)
	}
	return err
}

// settleLocked ends the rewrites after which nobody can be writing to the old
// file any more.
func (c *core) settleLocked() {
	kept := c.lates[:0]
	for _, r := range c.lates {
		if !r.Settled() {
			kept = append(kept, r)
			continue
		}
		before := len(r.Late())
		if err := r.Finish(context.Background()); err != nil {
			kept = append(kept, r) // once more on Close, which answers the error
		}
		c.strangers = c.strangers || len(r.Late()) > before
	}
	c.lates = kept
}

// publishLocked writes the whole session to a path that nothing has yet.
func (c *core) publishLocked(ctx context.Context, more []*jsonl.Entry) error {
	if err := c.giveEventIDs(ctx, append(append([]*jsonl.Entry(nil), c.records...), more...)); err != nil {
		return err
	}
	var all written
	err := storage.Publish(ctx, c.st.fsys, c.path, newFileMode, func(w io.Writer) (err error) {
		all, err = c.writeAll(ctx, w, more)
		return err
	})
	if errors.Is(err, storage.ErrUnsynced) {
		err = &jsonl.AppendError{Outcome: jsonl.Uncertain, Err: err}
	}
	if err != nil {
		return err
	}
	c.onDisk, c.rewrite = true, false
	c.wroteAll(all)
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	return uncertain(c.appenderLocked())
}

// wroteAll remembers that the file holds what the session has and nothing else.
func (c *core) wroteAll(all written) {
	c.size, c.base = all.size, all.size
	c.cut += all.cut
	c.patched, c.strangers = nil, false
	c.meta = nil
	c.foreignKept = len(c.foreign)
}

// uncertain is an error after which it is not known what is in the file.
func uncertain(err error) error {
	if err == nil {
		return nil
	}
	return &jsonl.AppendError{Outcome: jsonl.Uncertain, Err: err}
}

// written is what became of a session that was written whole.
type written struct {
	size int64 // in bytes
	cut  int   // texts that were too long
}

// writeAll writes the whole session, records encoded anew and patches folded.
func (c *core) writeAll(ctx context.Context, w io.Writer, more []*jsonl.Entry) (written, error) {
	var size int64
	prepare := jsonl.Preparer{Blobs: c.st.blobs}
	put := func(v jsonl.Value) error {
		p, _, err := prepare.Prepare(ctx, v)
		if err != nil {
			return err
		}
		c.buf = append(jsonl.AppendJSON(c.buf[:0], p), '\n')
		size += int64(len(c.buf))
		_, err = w.Write(c.buf)
		return err
	}
	if err := put(jsonl.ObjectValue(c.header.Value())); err != nil {
		return written{}, err
	}
	for _, list := range [][]*jsonl.Entry{c.leading, c.records, more} {
		for _, e := range list {
			v, _, err := c.st.resolve(ctx, e)
			if err != nil {
				return written{}, err
			}
			if err := put(v); err != nil {
				return written{}, err
			}
		}
	}
	n, err := w.Write(c.foreign)
	return written{size + int64(n), prepare.Cut}, err
}

// exactTries is how often a rewrite starts again because the file has grown,
// before it takes what grows along with it.
const exactTries = 3

// rewriteLocked replaces the transcript by the session as it is in memory and
// more. Lines of others that it doesn't know are kept behind them.
func (c *core) rewriteLocked(ctx context.Context, more []*jsonl.Entry) error {
	if err := c.giveEventIDs(ctx, more); err != nil {
		return err
	}
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	var err error
	for try := range exactTries {
		err = c.rewriteOnceLocked(ctx, more, try < exactTries-1)
		if !errors.Is(err, jsonl.ErrGrown) {
			break
		}
	}
	return err
}

func (c *core) rewriteOnceLocked(ctx context.Context, more []*jsonl.Entry, exact bool) (err error) {
	r, err := jsonl.BeginRewrite(c.st.fsys, c.path)
	if err != nil {
		return err
	}
	st, err := r.Info()
	if err == nil {
		err = c.learnForeign(ctx, r.File(), st)
	}
	if err == nil && c.setCopy {
		err = c.st.keepCopy(ctx, c.path)
		c.setCopy = err != nil
	}
	if err != nil {
		return errors.Join(err, r.Close())
	}
	var all written
	r.Settle = c.st.opt.settle
	placed, err := r.Replace(ctx, newFileMode, st.Size, exact, func(w io.Writer) (err error) {
		if all, err = c.writeAll(ctx, w, more); err == nil && len(more) == 0 {
			err = c.writeLeafForLocked(ctx, st.Size, all.size)
		}
		return err
	})
	if !placed {
		return errors.Join(err, r.Close())
	}
	c.lates = append(c.lates, r)
	c.held.gen++
	c.rewrite, c.onDisk, c.dirty = false, true, false
	c.wroteAll(all)
	c.strangers = len(r.Late()) > 0 // they follow what was written, in whatever order
	return uncertain(errors.Join(err, c.appenderLocked()))
}

// learnForeign looks for lines in the old file that no record of the session
// stands for, and keeps them. It reads nothing if the file is as this session
// left it.
func (c *core) learnForeign(ctx context.Context, f io.ReaderAt, st storage.Info) error {
	mine := c.gen == c.held.gen
	if mine && st.Size == c.size && !c.strangers && (c.app == nil || !c.app.Foreign()) {
		return nil
	}
	base := c.base
	if !mine {
		base = 0 // another session of this store has written it anew
	}
	found, err := c.foreignLines(ctx, io.NewSectionReader(f, base, st.Size-base), base == 0)
	c.foreign = append(c.foreign[:c.foreignBase(mine)], found...)
	return err
}

// foreignBase is how much of the foreign lines lies before base.
func (c *core) foreignBase(mine bool) int {
	if mine {
		return c.foreignKept
	}
	return 0
}

// foreignLines are the records of a file that the session does not have, each
// on a line, as they stand.
func (c *core) foreignLines(ctx context.Context, r io.Reader, whole bool) ([]byte, error) {
	ours := map[string]int{}
	for _, e := range c.records {
		ours[recordKey(e)]++
	}
	patches := maps.Clone(c.patched)
	var found []byte
	damaged := func(jsonl.LineReport) { c.setCopy = true }
	for rec, err := range jsonl.Read(ctx, r, jsonl.ReadOptions{Report: damaged}) {
		if err != nil {
			return nil, err
		}
		e := jsonl.ParseText(string(rec.Raw))
		if len(e) != 1 || (whole && isHeading(e[0])) {
			continue
		}
		key, known := recordKey(e[0]), ours
		if isPatch(e[0]) {
			key, known = string(rec.Raw), patches
		}
		if known[key] > 0 {
			known[key]--
			continue
		}
		if whole && isPatch(e[0]) {
			continue // folded into what the session has
		}
		found = append(append(found, bytes.TrimSpace(rec.Raw)...), '\n')
	}
	return found, nil
}

// isHeading tells the records that are kept apart from the entries.
func isHeading(e *jsonl.Entry) bool { return e.Type() == "session" || e.Type() == "title" }

// recordKey tells one record from another: by its event id, else by its id,
// else by all it says.
func recordKey(e *jsonl.Entry) string {
	if id, ok := e.EventID(); ok {
		return "event " + id.String()
	}
	if id, ok := e.ID(); ok {
		return "entry " + id
	}
	return jsonl.ObjectValue(e.Value()).JSON()
}

func isPatch(e *jsonl.Entry) bool {
	return e.Type() == "header_patch" || e.Type() == "entry_patch"
}
