package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// ErrGrown is a transcript that somebody appended to while its new version was
// being made: read what was added and start again.
var ErrGrown = errors.New("session file has grown meanwhile")

// LateAfter is how long after a rewrite a writer may still use the old file
// that it had open.
const LateAfter = 50 * time.Millisecond

// Rewrite is a transcript that was replaced by a new version while other
// programs may have been appending to the old one. Until Finish it keeps the
// old file open and carries over what still arrives there. For one goroutine.
type Rewrite struct {
	Settle time.Duration // how long the old file is watched; set to LateAfter

	fsys    storage.FS
	path    string
	old     storage.File
	carried int64 // bytes of the old file that are in the new one, in one form or another
	at      time.Time
	late    []byte // what was carried over, whole lines
}

// BeginRewrite opens the transcript at path to rewrite it. A missing file is
// fs.ErrNotExist. The caller reads what it needs, replaces the file with
// Replace and ends with Finish, or with Close if it gives up.
func BeginRewrite(fsys storage.FS, path string) (*Rewrite, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Rewrite{Settle: LateAfter, fsys: fsys, path: path, old: f, carried: st.Size}, nil
}

// File is the old file, to read from.
func (r *Rewrite) File() storage.File { return r.old }

// Info is what the old file is now.
func (r *Rewrite) Info() (storage.Info, error) { return r.old.Stat() }

// Replace puts what write writes in the file's place. read is how many bytes
// of the old file that stands for. Right before the new file takes the name,
// the path must still be the file that was opened (ErrReplaced) and, if exact
// is set, have that length (ErrGrown); what arrived after read is carried over
// once the new file is in place. placed says that it is, also with an error:
// then it may not be durable, or lack what came late.
func (r *Rewrite) Replace(ctx context.Context, mode fs.FileMode, read int64, exact bool, write func(io.Writer) error) (placed bool, err error) {
	checked := renameCheck{FS: r.fsys, before: func() error { return r.unchanged(read, exact) }, done: &placed}
	err = storage.Replace(ctx, checked, r.path, mode, write)
	if !placed { // an ErrUnsynced may be one of something that write wrote elsewhere
		return false, err
	}
	r.carried, r.at = read, time.Now()
	return true, errors.Join(err, r.carry())
}

// unchanged reports whether the path still names the old file, as long as it
// was read.
func (r *Rewrite) unchanged(read int64, exact bool) error {
	was, err := r.old.Stat()
	if err != nil {
		return err
	}
	now, err := r.fsys.Lstat(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", ErrReplaced, err)
	}
	if err != nil {
		return err
	}
	if !now.SameFile(was) || now.Size < read {
		return ErrReplaced
	}
	if exact && now.Size != read {
		return ErrGrown
	}
	return nil
}

// carry appends the lines that the old file got since to the new one.
func (r *Rewrite) carry() error {
	st, err := r.old.Stat()
	if err != nil {
		return err
	}
	if st.Size <= r.carried {
		return nil
	}
	lines := make([]byte, st.Size-r.carried)
	if _, err := r.old.ReadAt(lines, r.carried); err != nil {
		return fmt.Errorf("read late lines: %w", err)
	}
	if lines[len(lines)-1] != '\n' {
		lines = append(lines, '\n')
	}
	a, err := OpenAppender(r.fsys, r.path)
	if err != nil {
		return fmt.Errorf("carry over late lines: %w", err)
	}
	err = a.Append(context.Background(), lines, true)
	if closeErr := a.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("carry over late lines: %w", err)
	}
	r.carried = st.Size
	r.late = append(r.late, lines...)
	return nil
}

// Late are the lines that were carried over so far.
func (r *Rewrite) Late() []byte { return r.late }

// Settled reports whether enough time has passed since Replace that nobody is
// still writing to the old file.
func (r *Rewrite) Settled() bool { return time.Since(r.at) >= r.Settle }

// Finish waits until the old file has settled, carries over what arrived there
// and closes it. It waits no longer than ctx, but looks once more in any case.
// After an error the old file is still open: Finish can be called again, or
// Close.
func (r *Rewrite) Finish(ctx context.Context) error {
	if wait := r.Settle - time.Since(r.at); wait > 0 && ctx.Err() == nil {
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	if err := r.carry(); err != nil {
		return err
	}
	return r.old.Close()
}

// Close gives up: the old file is closed and nothing carried over.
func (r *Rewrite) Close() error { return r.old.Close() }

// renameCheck is an FS that asks before a file takes another's name.
type renameCheck struct {
	storage.FS
	before func() error
	done   *bool // set when it has
}

func (c renameCheck) Rename(oldname, newname string) error {
	if err := c.before(); err != nil {
		return err
	}
	err := c.FS.Rename(oldname, newname)
	*c.done = *c.done || err == nil
	return err
}
