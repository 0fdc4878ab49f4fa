package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// ErrReplaced is a transcript whose path no longer names the file that was
// opened: it was removed, moved away or rewritten by another program. Nothing
// was written; open the session again.
var ErrReplaced = errors.New("session file was moved, removed or replaced: open it again")

// lookEvery is for how long an append trusts the last look at its path, less
// than another program needs to act on an answer. In between the open file
// alone is asked, which is cheaper and tells whether it was removed or
// replaced; only one that was renamed is noticed by the next look.
const lookEvery = 25 * time.Microsecond

// Outcome says what became of a batch of records.
type Outcome uint8

// The outcomes. Committed means written; durable it is once a sync returned.
const (
	Committed  Outcome = iota
	Deferred           // kept in memory until the first answer
	RolledBack         // not in the file
	Uncertain          // perhaps in the file, perhaps in part
)

// String is the outcome's word in output for machines.
func (o Outcome) String() string {
	switch o {
	case Committed:
		return "committed"
	case Deferred:
		return "deferred"
	case RolledBack:
		return "rolled_back"
	}
	return "uncertain"
}

// AppendError is a batch that was not committed. Outcome is RolledBack or
// Uncertain.
type AppendError struct {
	Outcome Outcome
	Err     error
}

// Error says what is known of the records and why.
func (e *AppendError) Error() string {
	if e.Outcome == RolledBack {
		return "append: nothing was written: " + e.Err.Error()
	}
	return "append: outcome unknown: " + e.Err.Error()
}

// Unwrap is the cause.
func (e *AppendError) Unwrap() error { return e.Err }

// Appender writes records at the end of one transcript. A batch is one write;
// bytes that others have appended are never touched, and a torn last line is
// closed with a line end before the first batch. For one goroutine.
type Appender struct {
	fsys storage.FS
	path string
	file storage.File
	id   storage.Info // the file that is open

	size       int64 // the file's length as this appender left it
	terminated bool  // and whether it ended in a line end
	foreign    bool  // somebody else has appended since

	every   time.Duration // lookEvery, but for tests
	looked  time.Time     // at the path
	trusted bool          // something was appended without a look since

	buf []byte
}

// OpenAppender opens the transcript at path for appending and makes it
// owner-only. It must exist. It takes the file's shared lock, which says that
// somebody is using it: storage.ErrLocked if it is about to be removed.
func OpenAppender(fsys storage.FS, path string) (*Appender, error) {
	f, err := fsys.Append(path)
	if err != nil {
		return nil, err
	}
	a := &Appender{fsys: fsys, path: path, file: f, every: lookEvery}
	if err := a.prepare(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

func (a *Appender) prepare() error {
	if err := a.file.TryLock(true); err != nil {
		return err
	}
	st, err := a.file.Stat()
	if err != nil {
		return err
	}
	a.id, a.size = st, st.Size
	if a.terminated, err = a.endsLine(st.Size); err != nil {
		return err
	}
	return nil
}

// endsLine reports whether the byte before size is a line end.
func (a *Appender) endsLine(size int64) (bool, error) {
	if size == 0 {
		return true, nil
	}
	var last [1]byte
	if _, err := a.file.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] == '\n', nil
}

// Size is the length of the file as the appender knows it.
func (a *Appender) Size() int64 { return a.size }

// Foreign reports whether bytes of others were seen since the file was opened.
func (a *Appender) Foreign() bool { return a.foreign }

// Info is the identity of the open file.
func (a *Appender) Info() storage.Info { return a.id }

// Check compares the path with the open file. Its answer is ErrReplaced if
// another file or none is there.
func (a *Appender) Check() error {
	a.looked = time.Now()
	st, err := a.fsys.Lstat(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	if err != nil {
		return err
	}
	if st.Kind != storage.Regular || !st.SameFile(a.id) {
		return ErrReplaced
	}
	a.trusted = false
	a.see(st)
	return nil
}

// look is Check, or less if the path was looked at a moment ago.
func (a *Appender) look() error {
	if time.Since(a.looked) >= a.every {
		return a.Check()
	}
	st, err := a.file.Peek()
	if err != nil {
		return err
	}
	if st.Links != a.id.Links {
		return a.Check()
	}
	a.trusted = true
	a.see(st)
	return nil
}

// see takes notice of what the open file has become.
func (a *Appender) see(st storage.Info) {
	a.id.Mode, a.id.Links = st.Mode, st.Links
	if st.Size != a.size {
		a.foreign = true
		a.size = st.Size
		a.terminated = false // not known
	}
}

// Append writes lines, whole records that each end in a line end, with one
// write, and syncs the file if sync is set. ctx is looked at before the write
// only: what was begun is finished.
//
// The error is an *AppendError. The batch is RolledBack if nothing of it is in
// the file any more, and Uncertain if bytes of it may be, or if they could not
// be synced; the file then ends in a line end if that could be done.
func (a *Appender) Append(ctx context.Context, lines []byte, sync bool) error {
	if err := a.ready(ctx, sync); err != nil {
		return &AppendError{Outcome: RolledBack, Err: err}
	}
	old := a.size
	if !a.terminated {
		a.buf = append(append(a.buf[:0], '\n'), lines...)
		lines = a.buf
	}
	n, err := a.file.Write(lines)
	if err != nil {
		return a.undo(old, int64(n), err)
	}
	a.size, a.terminated = old+int64(n), true
	if sync {
		return a.syncBatch()
	}
	return nil
}

func (a *Appender) ready(ctx context.Context, sync bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	look := a.look
	if sync {
		look = a.Check // what is to last gets the whole look, which is little beside the sync
	}
	if err := look(); err != nil {
		return err
	}
	if a.id.Mode.Perm()&0o077 != 0 {
		if err := a.file.Chmod(0o600); err != nil {
			return err
		}
		a.id.Mode = 0o600
	}
	if a.terminated {
		return nil
	}
	ended, err := a.endsLine(a.size)
	a.terminated = ended
	return err
}

func (a *Appender) syncBatch() error {
	if err := a.file.Sync(); err != nil {
		return &AppendError{Outcome: Uncertain, Err: fmt.Errorf("sync: %w", err)}
	}
	return nil
}

// undo takes n bytes back that a failed write has left after old. The file is
// cut only while its length says that nobody has written behind them.
func (a *Appender) undo(old, n int64, cause error) error {
	cut, err := a.cut(old, n)
	if cut && err == nil {
		a.size = old
		return &AppendError{Outcome: RolledBack, Err: cause}
	}
	if err != nil {
		cause = errors.Join(cause, err)
	}
	if !cut && n > 0 {
		// The tail stays, whoever comes next begins on a line of its own.
		if _, err := a.file.Write([]byte{'\n'}); err != nil {
			cause = errors.Join(cause, fmt.Errorf("close the line: %w", err))
		}
	}
	return &AppendError{Outcome: Uncertain, Err: cause}
}

func (a *Appender) cut(old, n int64) (bool, error) {
	st, err := a.file.Stat()
	if err != nil {
		return false, err
	}
	if st.Size == old && n == 0 {
		return true, nil
	}
	if n == 0 || !st.SameFile(a.id) || st.Size != old+n {
		return n == 0, nil // with n == 0 all the bytes are another writer's
	}
	if err := a.file.Truncate(old); err != nil {
		return false, fmt.Errorf("cut back: %w", err)
	}
	if err := a.file.Sync(); err != nil {
		return true, fmt.Errorf("sync after the cut: %w", err)
	}
	return true, nil
}

// Sync makes durable what was appended. Its answer is ErrReplaced if the path
// no longer names the file.
func (a *Appender) Sync() error {
	if err := a.file.Sync(); err != nil || !a.trusted {
		return err
	}
	return a.Check()
}

// Close closes the file, which frees its lock. It does not sync.
func (a *Appender) Close() error { return a.file.Close() }
