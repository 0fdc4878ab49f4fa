package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Receipt says what became of a batch.
type Receipt struct {
	Outcome jsonl.Outcome
	IDs     []string // of the entries, in order; set for each outcome
}

// Append appends one entry below the leaf, which moves to it, and returns its
// id. Before the first answer it stays in memory (see AppendBatch).
//
// Errors: those of AppendBatch.
func (s *Session) Append(ctx context.Context, n New) (id string, err error) {
	r, err := s.AppendBatch(ctx, n)
	if len(r.IDs) == 1 {
		id = r.IDs[0]
	}
	return id, err
}

// AppendMessage appends a message.
func (s *Session) AppendMessage(ctx context.Context, message jsonl.Value) (id string, err error) {
	return s.Append(ctx, NewMessage(message))
}

// AppendBatch appends entries, each below the one before, with one write. All
// of them are in the file (Committed), none (RolledBack), or it is not known
// how much of them (Uncertain). Before the session's first answer the batch is
// kept in memory (Deferred) and written, with all that came before, together
// with that answer.
//
// Errors: *jsonl.AppendError with the outcome, ErrClosed,
// *jsonl.UndefinedItemError, *EntryError. After one that is an AppendError the
// session answers ErrLatched until it is opened again.
func (s *Session) AppendBatch(ctx context.Context, batch ...New) (Receipt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.appendLocked(ctx, batch...)
}

func (s *Session) appendLocked(ctx context.Context, batch ...New) (Receipt, error) {
	if err := s.usableLocked(); err != nil {
		return Receipt{Outcome: jsonl.RolledBack}, err
	}
	if len(batch) == 0 {
		return Receipt{Outcome: jsonl.Committed}, nil
	}
	entries, plain, err := s.makeLocked(batch)
	r := Receipt{Outcome: jsonl.RolledBack, IDs: idsOf(entries)}
	if err != nil {
		return r, err
	}
	r.Outcome, err = s.commitLocked(ctx, entries, plain)
	return r, err
}

func idsOf(entries []*jsonl.Entry) []string {
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		id, _ := e.ID()
		ids = append(ids, id)
	}
	return ids
}

// makeLocked makes the entries of a batch: ids, parents, times, redaction,
// validation. plain says that all of them are jsonl.Plain.
func (c *core) makeLocked(batch []New) (entries []*jsonl.Entry, plain bool, err error) {
	var made map[string]bool
	if len(batch) > 1 {
		made = make(map[string]bool, len(batch))
	}
	parent := c.leafIDLocked()
	entries, plain = make([]*jsonl.Entry, 0, len(batch)), c.st.opt.Redact == nil
	for _, build := range batch {
		base := jsonl.Base{ID: c.entryIDLocked(made), Parent: parent, Timestamp: c.timestampLocked()}
		v := jsonl.ObjectValue(build(base, c.header.ID()))
		if !jsonl.Plain(v) {
			plain = false
			if v, err = normal(v); err != nil {
				return entries, false, err
			}
		}
		v = c.st.opt.Redact.Value(v)
		e := jsonl.NewEntry(v.Obj())
		entries = append(entries, e)
		if err := checkEntry(e, base.ID); err != nil {
			return entries, false, err
		}
		parent = base.ID
		if made != nil {
			made[base.ID] = true
		}
	}
	return entries, plain, nil
}

// normal is a new record as it stays in memory: nothing undefined, images as
// they read when they are loaded again.
func normal(v jsonl.Value) (jsonl.Value, error) {
	v, err := jsonl.Normalize(v)
	if err != nil {
		return v, err
	}
	return jsonl.CanonicalImages(v), nil
}

func (c *core) entryIDLocked(made map[string]bool) string {
	if c.partial {
		return longEntryID()
	}
	return c.st.newEntryID(func(id string) bool { return made[id] || c.tree.Entry(id) != nil })
}

// leafIDLocked is the id of the entry at the leaf; "" before all entries.
func (c *core) leafIDLocked() string {
	if c.partial {
		id, _ := c.leaf.ID()
		return id
	}
	e := c.tree.LeafEntry(c.leaf)
	if e == nil {
		return ""
	}
	id, _ := e.ID()
	return id
}

// checkEntry refuses an entry that the original's strict reader would refuse.
func checkEntry(e *jsonl.Entry, id string) error {
	if have, _ := e.ID(); have != id || !jsonl.ValidEntry(e.Value()) {
		return &EntryError{Type: e.Type()}
	}
	return nil
}

// commitLocked writes new entries and takes them into memory. It is the one
// way by which entries get into a transcript. plain is makeLocked's answer.
func (c *core) commitLocked(ctx context.Context, entries []*jsonl.Entry, plain bool) (jsonl.Outcome, error) {
	if c.latched != nil {
		return jsonl.RolledBack, c.latchedError()
	}
	outcome, err := c.persistLocked(ctx, entries, plain)
	if err != nil {
		return c.failed(err)
	}
	c.takeLocked(entries)
	if outcome == jsonl.Committed && c.onDisk && c.st.opt.Committed != nil {
		c.st.opt.Committed(c.path)
	}
	return outcome, nil
}

// failed latches a write error and gives it an outcome.
func (c *core) failed(err error) (jsonl.Outcome, error) {
	var failed *jsonl.AppendError
	if !errors.As(err, &failed) {
		failed = &jsonl.AppendError{Outcome: jsonl.RolledBack, Err: err}
	}
	if failed.Outcome != jsonl.RolledBack || !isContextError(err) {
		c.latch(err)
	}
	return failed.Outcome, fmt.Errorf("session %s: %w", c.header.ID(), failed)
}

// isContextError reports whether the caller gave up: nothing is wrong with the
// session then.
func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// takeLocked takes entries that are written, or deferred, into memory.
func (c *core) takeLocked(entries []*jsonl.Entry) {
	for _, e := range entries {
		if c.partial {
			id, _ := e.ID()
			c.leaf = jsonl.LeafAt(id)
			continue
		}
		c.records = append(c.records, e)
		c.tree.Append(e)
		c.leaf = jsonl.LeafLast()
	}
	c.meta.take(entries)
}

// persistLocked brings entries to disk, or leaves them for later.
func (c *core) persistLocked(ctx context.Context, entries []*jsonl.Entry, plain bool) (jsonl.Outcome, error) {
	if c.memory {
		return jsonl.Committed, nil
	}
	if !c.onDisk {
		if !c.answeredLocked(entries) {
			return jsonl.Deferred, nil
		}
		return jsonl.Committed, c.publishLocked(ctx, entries)
	}
	if c.rewrite {
		return jsonl.Committed, c.rewriteLocked(ctx, entries)
	}
	if err := c.signNew(ctx, entries); err != nil {
		return jsonl.RolledBack, err
	}
	c.buf = c.buf[:0]
	for _, e := range entries {
		if err := c.encodeLocked(ctx, jsonl.ObjectValue(e.Value()), plain); err != nil {
			return jsonl.RolledBack, err
		}
	}
	return jsonl.Committed, c.writeBufferLocked(ctx)
}

// signNew gives event ids to entries that nobody else has seen yet, in place.
func (c *core) signNew(ctx context.Context, entries []*jsonl.Entry) error {
	first, err := c.st.seq.reserve(ctx, len(entries), c.dir)
	if err != nil {
		return err
	}
	for i, e := range entries {
		e.Sign(first + jsonl.EventID(i))
	}
	return nil
}

func (c *core) answeredLocked(more []*jsonl.Entry) bool {
	for _, list := range [][]*jsonl.Entry{c.records, more} {
		for _, e := range list {
			if hasAnswer(e) {
				return true
			}
		}
	}
	return false
}

// giveEventIDs reserves event ids for the entries that have none.
func (c *core) giveEventIDs(ctx context.Context, entries []*jsonl.Entry) error {
	var without []*jsonl.Entry
	for _, e := range entries {
		if _, ok := e.EventID(); !ok && e.Type() != "session" {
			without = append(without, e)
		}
	}
	if len(without) == 0 {
		return nil
	}
	first, err := c.st.seq.reserve(ctx, len(without), c.dir)
	if err != nil {
		return err
	}
	for i, e := range without {
		setEventID(e, first+jsonl.EventID(i))
	}
	return nil
}

// eventKey is the last key of every entry that this program writes.
const eventKey = "event_id"

func setEventID(e *jsonl.Entry, id jsonl.EventID) {
	o := e.Value().Clone()
	o.Delete(eventKey)
	o.Set(eventKey, jsonl.StringValue(id.String()))
	e.SetValue(o)
}

// writeLocked appends one record.
func (c *core) writeLocked(ctx context.Context, v jsonl.Value) error {
	c.buf = c.buf[:0]
	if err := c.encodeLocked(ctx, v, false); err != nil {
		return err
	}
	return c.writeBufferLocked(ctx)
}

// encodeLocked adds a record to what is to be written; plain says that it is
// known to be jsonl.Plain.
func (c *core) encodeLocked(ctx context.Context, v jsonl.Value, plain bool) error {
	if !plain && !jsonl.Plain(v) {
		var err error
		prepare := jsonl.Preparer{Blobs: c.st.blobs}
		if v, _, err = prepare.Prepare(ctx, v); err != nil {
			return err
		}
		c.cutPending += prepare.Cut
	}
	c.buf = append(jsonl.AppendJSON(c.buf, v), '\n')
	return nil
}

// writeBufferLocked appends what was encoded, with one write.
func (c *core) writeBufferLocked(ctx context.Context) error {
	c.held.mu.Lock()
	defer c.held.mu.Unlock()
	cut := c.cutPending
	c.cutPending = 0
	if err := c.appenderLocked(); err != nil {
		return err
	}
	c.settleLocked()
	if err := c.app.Append(ctx, c.buf, c.st.opt.Sync); err != nil {
		return err
	}
	c.warnOfSize(c.app.Size())
	c.size = c.app.Size()
	c.cut += cut
	c.dirty = c.dirty || !c.st.opt.Sync
	return nil
}

// managedLimit is the length past which the original refuses a file of a scope.
const managedLimit = 64 << 20

// warnOfSize says once that a file has become too long for the original.
func (c *core) warnOfSize(size int64) {
	if c.managed && c.size <= managedLimit && size > managedLimit {
		c.st.opt.Log.Warn("session is too large for other programs: archive it", "path", c.path, "bytes", size, "limit", managedLimit)
	}
}
