package storage

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

// writeBuffer gathers small writes of a whole-file writer.
const writeBuffer = 64 << 10

// How long a rename is tried that another program's open handle stands against.
const (
	firstRenamePause = 5 * time.Millisecond
	maxRenamePause   = 200 * time.Millisecond
	renameFor        = 2 * time.Second
)

// Replace makes name hold what write writes, whole or not at all: a temporary
// file beside it is written, synced, closed and renamed over name, and the
// directory is synced. If it fails, the old file is as it was and nothing
// temporary is left, except that with ErrUnsynced the new file is in place.
//
// write gets a buffered writer that answers ctx's error once ctx has ended.
// What stands at name must be a regular file or nothing.
func Replace(ctx context.Context, fsys FS, name string, mode fs.FileMode, write func(io.Writer) error) error {
	info, err := fsys.Lstat(name)
	if err == nil && info.Kind != Regular {
		return &UnsafeError{Path: name, Reason: notAFile(info.Kind)}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeWhole(ctx, fsys, name, mode, write, fsys.Rename)
}

// Publish is Replace for a name that nothing has yet: it never replaces, and
// answers fs.ErrExist if anything is or appears there.
func Publish(ctx context.Context, fsys FS, name string, mode fs.FileMode, write func(io.Writer) error) error {
	if _, err := fsys.Lstat(name); err == nil {
		return &fs.PathError{Op: "publish", Path: name, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeWhole(ctx, fsys, name, mode, write, fsys.RenameNoReplace)
}

func writeWhole(ctx context.Context, fsys FS, name string, mode fs.FileMode,
	write func(io.Writer) error, rename func(oldname, newname string) error,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	temp, err := writeTemp(ctx, fsys, name, mode, write)
	if err != nil {
		return err
	}
	if err := RetryRename(ctx, func() error { return rename(temp, name) }); err != nil {
		return errors.Join(err, removeTemp(fsys, temp))
	}
	if err := fsys.SyncDir(filepath.Dir(name)); err != nil {
		return fmt.Errorf("%s: %w: %w", name, ErrUnsynced, err)
	}
	return nil
}

// writeTemp writes and syncs a new temporary file beside name, which is gone
// again if that fails.
func writeTemp(ctx context.Context, fsys FS, name string, mode fs.FileMode, write func(io.Writer) error) (string, error) {
	temp := tempName(name)
	f, err := fsys.Create(temp)
	if err != nil {
		return "", err
	}
	err = fillTemp(ctx, f, mode, write)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", errors.Join(err, removeTemp(fsys, temp))
	}
	return temp, nil
}

func fillTemp(ctx context.Context, f File, mode fs.FileMode, write func(io.Writer) error) error {
	if mode.Perm() != fileMode {
		if err := f.Chmod(mode.Perm()); err != nil {
			return err
		}
	}
	w := bufio.NewWriterSize(ctxWriter{ctx, &WriteBack{File: f}}, writeBuffer)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// removeTemp removes a temporary file; that it is gone already is no error.
func removeTemp(fsys FS, temp string) error {
	if err := fsys.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ctxWriter is a writer that fails once its context has ended. It lives within
// one call, whose context it is.
type ctxWriter struct {
	ctx context.Context
	w   io.Writer
}

func (c ctxWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// RetryRename calls rename again, for about two seconds, while it answers
// ErrInUse; other answers are final at once. It ends early with ctx.
func RetryRename(ctx context.Context, rename func() error) error {
	pause, waited := firstRenamePause, time.Duration(0)
	for {
		err := rename()
		if !errors.Is(err, ErrInUse) || waited >= renameFor {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(err, ctx.Err())
		case <-timer.C:
		}
		waited += pause
		pause = min(2*pause, maxRenamePause)
	}
}

// A temporary file is named `.<name>.<16 hexadecimal digits>.tmp`, as the
// original names its own.
const (
	tempDigits = 16
	tempSuffix = ".tmp"
)

func tempName(name string) string {
	var b [tempDigits / 2]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	dir, base := filepath.Split(name)
	return dir + "." + base + "." + hex.EncodeToString(b[:]) + tempSuffix
}

// TempOf reports whether base is the name of a temporary file that Replace or
// Publish makes, and for which file's base name.
func TempOf(base string) (string, bool) {
	rest, ok := strings.CutPrefix(base, ".")
	if !ok {
		return "", false
	}
	rest, ok = strings.CutSuffix(rest, tempSuffix)
	dot := len(rest) - tempDigits - 1
	if !ok || dot < 1 || rest[dot] != '.' {
		return "", false
	}
	for _, c := range []byte(rest[dot+1:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return rest[:dot], true
}

// HealTwin removes the temporary names of the file at name that a publish left
// when it was killed between link and unlink. The bytes stay under name. It
// does nothing where there is no second link.
func HealTwin(fsys FS, name string) error {
	info, err := fsys.Lstat(name)
	if err != nil || info.Kind != Regular || info.Links < 2 {
		return err
	}
	dir, base := filepath.Split(name)
	list, err := fsys.ReadDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	healed := false
	for _, e := range list {
		if of, ok := TempOf(e.Name); !ok || of != base {
			continue
		}
		twin, err := fsys.Lstat(dir + e.Name)
		if err != nil || !twin.SameFile(info) {
			continue
		}
		if err := fsys.Remove(dir + e.Name); err != nil {
			return err
		}
		healed = true
	}
	if !healed {
		return nil
	}
	return fsys.SyncDir(filepath.Clean(dir))
}

// renameByLink is RenameNoReplace where the system has none: a second name
// that replaces nothing, then the first one goes. Killed in between it leaves
// a twin, which HealTwin removes. A directory, which can't have two names, is
// renamed over an empty one that only this call can have made.
func renameByLink(fsys FS, oldname, newname string) error {
	info, err := fsys.Lstat(oldname)
	if err != nil {
		return err
	}
	if info.Kind == Dir {
		if err := fsys.Mkdir(newname); err != nil {
			return err
		}
		if err := fsys.Rename(oldname, newname); err != nil {
			return errors.Join(err, fsys.Remove(newname))
		}
		return nil
	}
	if err := fsys.Link(oldname, newname); err != nil {
		return err
	}
	// Another process may have healed what it took for a leftover twin.
	if err := fsys.Remove(oldname); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fsys.Remove(newname))
	}
	return nil
}
