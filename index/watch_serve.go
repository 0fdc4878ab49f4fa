package index

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// The question that a command asks a watcher, and its answer, are a line each.
// The version is of their meaning.
const (
	watchQuestion  = "is the index fresh? 1\n"
	maxWatchAnswer = 1 << 10               // bytes
	askFor         = 60 * time.Millisecond // a walk costs about as much
	maxAsking      = 32                    // questions at once
	maxSocketPath  = 100                   // bytes; the system's limit is 104 or 108
	maxHolderBytes = 4 << 10
)

// watchAnswer says whether the index held everything that had happened when
// the question came. Then its database is the one of this identity and number.
type watchAnswer struct {
	Fresh      bool   `json:"fresh"`
	Dev        uint64 `json:"dev"`
	Inode      uint64 `json:"inode"`
	Generation int64  `json:"generation"`
	Files      int    `json:"files"`
	Older      bool   `json:"older"`   // there are sessions of older layouts
	Sources    string `json:"sources"` // then a sum of what the database knows of their copies
}

// question waits for its answer, which is given once.
type question struct {
	ctx    context.Context
	answer chan watchAnswer
}

// WatchedError says that another process keeps the index of the home fresh. It
// is storage.ErrLocked. PID is 0 if it doesn't say who it is.
type WatchedError struct {
	PID         int
	Host, Since string
}

// Error names the process.
func (e *WatchedError) Error() string {
	if e.PID == 0 {
		return "another process watches this home"
	}
	return fmt.Sprintf("process %d on %s watches this home since %s", e.PID, e.Host, e.Since)
}

// Unwrap is storage.ErrLocked.
func (e *WatchedError) Unwrap() error { return storage.ErrLocked }

// networkError is a home whose changes are not all told. It is scope.ErrNetwork.
type networkError struct{ dir string }

// Error says why it can't be watched.
func (e *networkError) Error() string {
	return e.dir + " lies on a network file system, which doesn't tell of changes that other machines make"
}

// Unwrap is scope.ErrNetwork.
func (e *networkError) Unwrap() error { return scope.ErrNetwork }

// watchHolder is what the lock file says, for people.
type watchHolder struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Since string `json:"since"`
}

func watchLock(db string) string   { return db + ".watch" }
func watchSocket(db string) string { return db + ".watch.sock" }

// takeLock makes this the one watcher of the home.
func (w *watcher) takeLock(ctx context.Context) error {
	path := watchLock(w.x.home.IndexDB())
	// Who only asks for a watcher has the lock for a moment.
	wait, cancel := context.WithTimeout(ctx, lockPatience)
	lock, err := w.x.fsys.Lock(wait, path, storage.Exclusive)
	cancel()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, storage.ErrLocked) || errors.Is(err, context.DeadlineExceeded) {
		return w.x.watchHeld(path)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	w.lock = lock
	host, _ := os.Hostname() // "" says as much
	text, err := json.Marshal(watchHolder{os.Getpid(), host, w.x.opt.Now().UTC().Format(time.RFC3339)})
	if err == nil {
		err = lock.File().Truncate(0)
	}
	if err == nil {
		_, err = lock.File().WriteAt(append(text, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// watchHeld is what the holder of the watcher's lock says of itself.
func (x *Index) watchHeld(path string) *WatchedError {
	e := &WatchedError{}
	var who watchHolder
	text, err := storage.ReadFile(x.fsys, path, maxHolderBytes)
	if err == nil && json.Unmarshal(text, &who) == nil {
		e.PID, e.Host, e.Since = who.PID, who.Host, who.Since
	}
	return e
}

// watchedBy is the process that watches the home; nil if none does, or where
// that can't be told.
func (x *Index) watchedBy() *WatchedError {
	if x.dir != "" {
		return nil
	}
	path := watchLock(x.home.IndexDB())
	if _, err := x.fsys.Lstat(path); err != nil {
		return nil
	}
	lock, err := x.fsys.TryLock(path, storage.Shared)
	if err == nil {
		_ = lock.Unlock() // nothing was written
	}
	if !errors.Is(err, storage.ErrLocked) {
		return nil
	}
	return x.watchHeld(path)
}

// serve answers questions until the watcher is closed. The lock is held: a
// socket that is there was left by a process that is gone.
func (w *watcher) serve() error {
	path := watchSocket(w.x.home.IndexDB())
	if err := w.x.fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !vouches {
		return nil
	}
	if len(path) > maxSocketPath {
		return errors.New("the path of the home is too long for a socket")
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := w.x.fsys.Chmod(path, 0o600); err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	slots := make(chan struct{}, maxAsking)
	group.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			select {
			case slots <- struct{}{}:
				group.Go(func() {
					defer func() { <-slots }()
					w.converse(ctx, c)
				})
			default:
				_ = c.Close() // whoever asked looks at the files
			}
		}
	})
	w.serving = func() error {
		cancel()
		err := l.Close()
		group.Wait()
		return err
	}
	return nil
}

// converse reads one question and answers it.
func (w *watcher) converse(ctx context.Context, c net.Conn) {
	defer func() { _ = c.Close() }() // whoever asked has the answer, or has gone
	ctx, cancel := context.WithTimeout(ctx, maxWatchWait)
	defer cancel()
	_ = c.SetDeadline(time.Now().Add(maxWatchWait))
	line, err := bufio.NewReader(io.LimitReader(c, int64(len(watchQuestion)))).ReadString('\n')
	if err != nil {
		return
	}
	var a watchAnswer
	if line == watchQuestion {
		a = w.ask(ctx)
	}
	text, err := json.Marshal(a)
	if err == nil {
		_, _ = c.Write(append(text, '\n')) // without an answer the files are looked at
	}
}

// ask hands a question to the goroutine of run; while that is at work on
// something long the answer is no.
func (w *watcher) ask(ctx context.Context) watchAnswer {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	q := &question{ctx, make(chan watchAnswer, 1)}
	select {
	case w.requests <- q:
	case <-ctx.Done():
		return watchAnswer{}
	}
	select {
	case a := <-q.answer:
		return a
	case <-ctx.Done():
		return watchAnswer{}
	}
}

// answer answers a question, and those that wait beside it: it makes a file of
// its own, takes all notices before that of this file, and brings into the
// database what they tell of.
func (w *watcher) answer(ctx context.Context, first *question) error {
	all := []*question{first}
	for {
		select {
		case q := <-w.requests:
			all = append(all, q)
			continue
		default:
		}
		break
	}
	a, err := w.freshness(ctx)
	for _, q := range all {
		q.answer <- a
	}
	return err
}

func (w *watcher) freshness(ctx context.Context) (a watchAnswer, err error) {
	caught, err := w.catchUp(ctx)
	if err != nil || !caught {
		return a, err
	}
	now, err := w.readStamp(ctx)
	young := w.older && w.sources == ""                                  // it may be known by now
	if err == nil && (w.touched || w.again || young || now != w.stamp) { // another process may have written it by an older look
		err = w.flush(ctx)
	}
	if err != nil || !w.clean || w.again {
		return a, err
	}
	return watchAnswer{true, w.stamp.file.Dev, w.stamp.file.Inode, w.stamp.generation, w.last.files, w.older, w.sources}, nil
}

// catchUp takes all notices of what happened before now; false if it can't be
// told whether it did.
func (w *watcher) catchUp(ctx context.Context) (bool, error) {
	w.cookies++
	name := fmt.Sprintf("%s%d", cookiePrefix, w.cookies)
	path := filepath.Join(w.data, name)
	_ = w.x.fsys.Remove(path) // a killed process may have left it
	f, err := w.x.fsys.Create(path)
	if err != nil {
		return false, nil // a full disk: nobody is promised anything
	}
	err = errors.Join(f.Close(), w.x.fsys.Remove(path))
	if err != nil {
		return false, nil
	}
	timer := time.NewTimer(cookieWait)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-timer.C:
			return false, nil
		case e, ok := <-w.src.Events:
			if err := w.take(e, ok); err != nil {
				return false, err
			}
			if e.Name == path {
				return true, nil
			}
		case err, ok := <-w.src.Errors:
			if err := w.fail(err, ok); err != nil {
				return false, err
			}
		}
	}
}

// vouched reports whether a watcher says that the database holds all that
// happened before now. Any doubt is a no.
func (x *Index) vouched(ctx context.Context) (rep Report, yes bool) {
	if !vouches || !x.opt.Watched || x.dir != "" {
		return rep, false
	}
	a, ok := x.askWatcher(ctx)
	if !ok || !a.Fresh {
		return rep, false
	}
	want := stamp{a.Generation, storage.Info{Dev: a.Dev, Inode: a.Inode}}
	err := x.retrying(ctx, func(db *migrations.DB) error {
		yes = false
		if db == nil {
			return nil
		}
		done, _, err := built(ctx, db)
		if err != nil || !done {
			return err
		}
		now, err := x.stampOf(ctx, db)
		if err != nil || now != want {
			return err
		}
		x.sources.Store(&sources{})
		if a.Older {
			x.sources.Store(nil) // they are those of the database
			if sum, err := sumSources(ctx, db); err != nil || sum != a.Sources {
				return err
			}
		}
		x.looks.reset()
		x.forgetHistory()
		x.setPending(nil)
		rep = Report{Files: a.Files, Same: a.Files}
		yes = true
		return x.addFailures(ctx, db, &walk{root: x.root()}, &rep)
	})
	return rep, yes && err == nil
}

// knownSources is the sum of what the database knows of sessions that were
// copied; "" if the last refresh knew otherwise.
func (w *watcher) knownSources(ctx context.Context) (sum string, err error) {
	found := w.x.sources.Load()
	err = w.x.retrying(ctx, func(db *migrations.DB) error {
		sum = ""
		had, err := storedSources(ctx, db)
		if err != nil || found == nil || had.Stamp == "" || len(had.Files) != len(*found) {
			return err
		}
		sum, err = sumSources(ctx, db)
		return err
	})
	return sum, err
}

// sumSources is a sum of what the database knows of sessions that were copied.
func sumSources(ctx context.Context, db *migrations.DB) (string, error) {
	var text []string
	err := db.SelectContext(ctx, &text, `SELECT value FROM meta WHERE name = 'sources'`)
	sum := sha256.Sum256([]byte(strings.Join(text, "\n")))
	return hex.EncodeToString(sum[:]), err
}

// askWatcher asks the watcher of the home, if there is one.
func (x *Index) askWatcher(ctx context.Context) (a watchAnswer, ok bool) {
	db := x.home.IndexDB()
	path := watchSocket(db)
	info, err := x.fsys.Lstat(path)
	if err != nil || info.Kind != storage.Other || info.Mode&0o077 != 0 || len(path) > maxSocketPath {
		return a, false
	}
	if own, err := x.fsys.Lstat(db); err != nil || own.UID != info.UID {
		return a, false // somebody else's
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return a, false
	}
	defer func() { _ = c.Close() }() // nothing is left to be said
	_ = c.SetDeadline(time.Now().Add(askFor))
	if _, err := io.WriteString(c, watchQuestion); err != nil {
		return a, false
	}
	line, err := bufio.NewReader(io.LimitReader(c, maxWatchAnswer)).ReadString('\n')
	return a, err == nil && json.Unmarshal([]byte(strings.TrimSpace(line)), &a) == nil
}
