package scope

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// The times of the protocol's lock. Source: behaviour, part 17.
const (
	leaseFor   = 60 * time.Second
	beatEvery  = 10 * time.Second
	waitFor    = 5 * time.Second
	waitPause  = 50 * time.Millisecond
	maxLock    = 64 << 10
	kernelLock = ".gjc-index.scope.lock"
)

// lease is a held lock of the migration protocol: a file locks/<op>.lock whose
// contents say who holds it and until when, which is how the original program
// locks. Our own processes keep out of each other's way by a kernel lock on
// the scope, taken first, and the file under it also says which attempt we
// last made. So a lease left by one of ours that was killed is known to be
// dead at once, while one of the original's is waited for as it demands.
type lease struct {
	fsys    storage.FS
	by      *Process
	path    string
	attempt string
	created time.Time
	beat    time.Time
	kernel  storage.Lock
}

// lock takes the operation's lock: behind our own processes it waits as long
// as a lease lasts, behind the original program as long as that one waits.
// migration_busy (storage.ErrLocked) if the lock is not free by then.
func (s *Scope) lock(ctx context.Context, fsys storage.FS, by *Process, op string) (*lease, error) {
	path := filepath.Join(s.Locks(), op+".lock")
	waiting, cancel := context.WithTimeout(ctx, leaseFor)
	defer cancel()
	kernel, err := fsys.Lock(waiting, filepath.Join(s.Dir, kernelLock), storage.Exclusive)
	if err != nil {
		if errors.Is(err, storage.ErrLocked) && ctx.Err() == nil {
			return nil, busy(path)
		}
		return nil, fmt.Errorf("lock scope: %w", err)
	}
	l := &lease{fsys: fsys, by: by, path: path, attempt: by.UUID(), kernel: kernel}
	if err := l.acquire(ctx); err != nil {
		return nil, errors.Join(err, kernel.Unlock())
	}
	return l, nil
}

func busy(path string) *Error {
	return refuse(MigrationBusy, path, "another process is at work on this session", "migration_busy", nil)
}

func (l *lease) acquire(ctx context.Context) error {
	ours, err := readAll(l.kernel.File())
	if err != nil {
		return err
	}
	for waited := time.Duration(0); ; waited += waitPause {
		err := l.claim(ctx)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		stolen, err := l.steal(ours)
		if err != nil {
			return err
		}
		if stolen {
			continue
		}
		if waited >= waitFor {
			return busy(l.path)
		}
		if err := l.by.Wait(ctx, waitPause); err != nil {
			return err
		}
	}
}

// claim publishes the lock file. The attempt is noted under the kernel lock
// first, so that a lease of ours can be told from one of the original's.
func (l *lease) claim(ctx context.Context) error {
	if err := l.note(); err != nil {
		return fmt.Errorf("note attempt: %w", err)
	}
	l.created = l.by.Now()
	l.beat = l.created
	err := storage.Publish(ctx, l.fsys, l.path, 0o600, l.write(false))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("take lock: %w", err)
	}
	return err
}

// note writes the attempt into the file under the kernel lock, durably, since
// the lease that follows is durable too.
func (l *lease) note() error {
	f := l.kernel.File()
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt([]byte(l.attempt), 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return l.fsys.SyncDir(filepath.Dir(f.Name()))
}

func (l *lease) write(released bool) func(io.Writer) error {
	expires := l.beat.Add(leaseFor)
	if released {
		expires = l.beat
	}
	ms := func(t time.Time) jsonl.Value { return jsonl.NumberValue(float64(t.UnixMilli())) }
	o := object("attemptId", text(l.attempt), "pid", jsonl.NumberValue(float64(l.by.PID)),
		"bootId", text(l.by.BootID), "processStartId", text(l.by.StartID),
		"createdAt", ms(l.created), "heartbeatAt", ms(l.beat), "leaseExpiresAt", ms(expires))
	if released {
		o.Obj().Set("released", jsonl.BoolValue(true))
	}
	return writeJSON(o)
}

// steal moves a lock aside whose owner can't come back: it was released, it is
// a dead one of ours, or it expired and its owner is gone. ours is the attempt
// that the last of our processes noted.
func (l *lease) steal(ours string) (bool, error) {
	info, err := l.fsys.Lstat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("inspect lock: %w", err)
	}
	if err := plainFile(l.path, info); err != nil {
		return false, err
	}
	raw, err := storage.ReadFile(l.fsys, l.path, maxLock)
	if err != nil {
		return false, fmt.Errorf("read lock: %w", err)
	}
	if !l.dead(raw, info, ours) {
		return false, nil
	}
	aside := filepath.Join(filepath.Dir(l.path), ".gjc-lock-"+l.by.UUID()+".stale")
	if err := l.fsys.RenameNoReplace(l.path, aside); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, fmt.Errorf("move lock aside: %w", err)
	}
	moved, err := l.fsys.Lstat(aside)
	if err != nil {
		return false, fmt.Errorf("inspect lock: %w", err)
	}
	if !moved.SameFile(info) {
		// Somebody was faster and this is their lock: back with it.
		return false, l.fsys.RenameNoReplace(aside, l.path)
	}
	return true, empty(l.fsys, aside)
}

func (l *lease) dead(raw []byte, info storage.Info, ours string) bool {
	now := float64(l.by.Now().UnixMilli())
	v, err := jsonl.ParseString(string(raw))
	if err != nil || !v.Get("leaseExpiresAt").Is(jsonl.Number) {
		// Its owner was killed between making and filling it, or is just now.
		return now > float64(info.ModTime/1e6)+float64(leaseFor.Milliseconds())
	}
	if v.Get("released").Bool() || ours != "" && v.Get("attemptId").Str() == ours {
		return true
	}
	if now <= v.Get("leaseExpiresAt").Num() {
		return false
	}
	boot := v.Get("bootId").Str()
	return boot != "" && l.by.BootID != "" && boot != l.by.BootID || !l.by.Alive(int(v.Get("pid").Num()))
}

// held makes sure that the lock is still ours, and renews it in time. It is
// called before each step that others must not see twice, and during copies.
func (l *lease) held(ctx context.Context) error {
	v, ok := readRecord(l.fsys, l.path)
	if !ok || v.Get("attemptId").Str() != l.attempt || v.Get("released").Bool() {
		return busy(l.path)
	}
	if now := l.by.Now(); now.Sub(l.beat) >= beatEvery {
		l.beat = now
		return storage.Replace(ctx, l.fsys, l.path, 0o600, l.write(false))
	}
	return nil
}

// release says that the lock is free. The file stays, as the original leaves it.
func (l *lease) release() error {
	ctx := context.Background() // it must happen also when the caller has had enough
	var err error
	if v, ok := readRecord(l.fsys, l.path); ok && v.Get("attemptId").Str() == l.attempt {
		l.beat = l.by.Now()
		err = storage.Replace(ctx, l.fsys, l.path, 0o600, l.write(true))
	}
	return errors.Join(err, l.kernel.Unlock())
}

func readAll(f storage.File) (string, error) {
	buf := make([]byte, 128)
	n, err := f.ReadAt(buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read last attempt: %w", err)
	}
	return strings.TrimSpace(string(buf[:n])), nil
}

// empty cuts a file to nothing, durably.
func empty(fsys storage.FS, path string) error {
	f, err := fsys.Edit(path)
	if err != nil {
		return fmt.Errorf("empty %s: %w", path, err)
	}
	err = f.Truncate(0)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
