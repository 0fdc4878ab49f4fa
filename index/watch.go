package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// vouches says whether this system's notices allow a promise: that of inotify
// come in the order of what happened, whatever the directory, and a change has
// its notice before the call that made it returns.
const vouches = runtime.GOOS == "linux"

const (
	settleFor    = 100 * time.Millisecond // changes that follow one another are taken together
	restFactor   = 10                     // and a refresh is followed by that many times its length
	longestRest  = 2 * time.Second        // but by no more, however long it took
	retryAfter   = time.Second            // a refresh that could not write; then ever later
	lastRetry    = 8 * time.Second
	homeEvery    = 2 * time.Second        // of a directory above the home no notice comes
	lockPatience = 100 * time.Millisecond // for who only asks whether there is a watcher
	cookieWait   = 40 * time.Millisecond  // for a notice of our own
	maxWatchWait = 2 * time.Second        // of a question, while a refresh runs
)

// ErrWatchLimit says that the system gives no more notices of directories.
var ErrWatchLimit = errors.New("the system watches no more directories")

// ErrHomeGone says that the directory that was watched has lost its name.
var ErrHomeGone = errors.New("the home was moved or removed")

// WatchOptions of Watch. The zero value is right for a program.
type WatchOptions struct {
	Told   func(WatchEvent)  // is told of each change, on one goroutine, in order; may be nil
	Noted  func(text string) // is told, in a sentence, what is not as it should be; may be nil
	Ready  func()            // is called once the index is fresh and is kept so; may be nil
	Settle time.Duration     // how long changes are collected; 0: 100 ms
	Every  time.Duration     // walk that often where notices can't be had; 0: that is ErrWatchLimit

	add   func(name string) error // for tests: before a directory is watched
	home  time.Duration           // for tests: how often the home is looked for; 0: homeEvery
	begun func(*fsnotify.Watcher) // for tests: gets the source of notices
	rest  func(time.Duration)     // for tests: is told of each flush's length
}

// Watch keeps the index fresh until ctx ends, by the system's notices of
// changes; it doesn't poll. One process a home does: *WatchedError names
// another one.
//
// Other processes ask it by a socket beside the index whether the index holds
// all that happened before they asked (Options.Watched). Where that can't be
// promised the answer is no, and they look for themselves: on a system or a
// file system whose notices are not complete, while a file is refused or has
// several links, while a session of an older layout has lost its copy. Nothing
// a killed watcher leaves is taken for an answer. What Watch can't see is a
// change through a memory mapping, and a file system mounted over a scope
// meanwhile.
//
// Errors: *WatchedError, ErrNoIndex, ErrWatchLimit, ErrHomeGone, fs.ErrNotExist
// if there is no home, scope.ErrNetwork. The end of ctx is none.
func (x *Index) Watch(ctx context.Context, opt WatchOptions) (err error) {
	if opt.Settle == 0 {
		opt.Settle = settleFor
	}
	w := &watcher{x: x, opt: opt, requests: make(chan *question), seen: map[fileAt]*seenFile{}, changed: map[fileAt]SessionAction{}}
	defer func() {
		err = errors.Join(err, w.close())
		if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
			err = nil
		}
	}()
	if err := w.open(ctx); err != nil {
		return err
	}
	return w.run(ctx)
}

// watcher is a Watch at work. Its fields belong to the goroutine of run.
type watcher struct {
	x    *Index
	opt  WatchOptions
	lock storage.Lock
	src  *fsnotify.Watcher
	fsys *watchingFS
	data string       // the directory of the index
	home storage.Info // of it, as it was at first

	last    *walk           // nil: everything has to be looked at
	dirty   map[string]bool // scopes that have to be looked at again
	touched bool            // something happened that no flush has seen
	again   bool            // the last flush could not finish
	tries   int             // how many flushes before could not either

	older    bool   // there are sessions of older layouts
	receipts bool   // what says which of them have a copy is watched
	sources  string // sum of what the database knows of that; "" if that is not all

	clean bool  // the database held everything when stamp was taken
	stamp stamp // of the database after the last flush
	took  time.Duration

	requests chan *question
	serving  func() error
	cookies  int

	seen    map[fileAt]*seenFile
	begun   bool                     // what was there at the beginning is known
	changed map[fileAt]SessionAction // what has to be told, once it is in the database
}

// stampOf tells one state of the database from another.
type stamp struct {
	generation int64
	file       storage.Info // identity only
}

func (w *watcher) open(ctx context.Context) error {
	x := w.x
	w.data = filepath.Dir(x.home.IndexDB())
	if _, err := x.fsys.Lstat(w.data); x.dir != "" || err != nil {
		return fmt.Errorf("watch %s: %w", w.data, fs.ErrNotExist)
	}
	if x.opt.Network(w.data) {
		return &networkError{w.data}
	}
	if real, err := storage.RealPath(w.data); err == nil {
		w.data = real
	}
	if err := w.takeLock(ctx); err != nil {
		return err
	}
	src, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("%w (%w)", ErrWatchLimit, err)
	}
	w.src = src
	if w.home, err = x.fsys.Lstat(w.data); err != nil {
		return err
	}
	w.fsys = &watchingFS{FS: x.fsys, src: src, hook: w.opt.add, watched: map[string]bool{}}
	if err := w.fsys.watch(w.data); err != nil && w.opt.Every == 0 {
		return err
	}
	if w.opt.begun != nil {
		w.opt.begun(src)
	}
	w.touched = true
	if err := w.flush(ctx); err != nil {
		return err
	}
	if err := w.serve(); err != nil {
		w.note("other commands can't ask, and look at the files themselves: " + reasonOf(err))
	}
	w.took = 0 // it may have been a build, which says nothing of later ones
	if w.opt.Ready != nil {
		w.opt.Ready()
	}
	return nil
}

func (w *watcher) close() (err error) {
	if w.serving != nil {
		err = w.serving()
	}
	if w.src != nil {
		err = errors.Join(err, w.src.Close())
	}
	if w.lock != nil {
		_ = w.lock.File().Truncate(0) // what it says is for people
		err = errors.Join(err, w.lock.Unlock())
	}
	return err
}

func (w *watcher) note(text string) {
	if w.opt.Noted != nil {
		w.opt.Noted(text)
	}
}

func (w *watcher) run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	armed := false
	home := time.NewTicker(cmp.Or(w.opt.home, homeEvery))
	defer home.Stop()
	var walkAgain *time.Ticker
	for {
		if w.fsys.limited != nil && walkAgain == nil {
			walkAgain = time.NewTicker(w.opt.Every)
			defer walkAgain.Stop()
		}
		if (w.touched || w.again) && !armed {
			timer.Reset(w.pause())
			armed = true
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			armed = false
			if err := w.flush(ctx); err != nil {
				return err
			}
		case <-home.C:
			if info, err := w.x.fsys.Lstat(w.data); errors.Is(err, fs.ErrNotExist) || err == nil && !info.SameFile(w.home) {
				return ErrHomeGone
			}
		case <-ticks(walkAgain):
			w.last, w.touched = nil, true
		case q := <-w.requests:
			if err := w.answer(ctx, q); err != nil {
				return err
			}
		case e, ok := <-w.src.Events:
			if err := w.take(e, ok); err != nil {
				return err
			}
		case err, ok := <-w.src.Errors:
			if err := w.fail(err, ok); err != nil {
				return err
			}
		}
	}
}

// ticks are those of a ticker; none of nil.
func ticks(t *time.Ticker) <-chan time.Time {
	if t == nil {
		return nil
	}
	return t.C
}

// pause is how long changes are collected before they are looked at. After a
// flush that could not finish it grows, since nothing else may happen.
func (w *watcher) pause() time.Duration {
	if w.again {
		return min(retryAfter<<min(w.tries, 10), lastRetry)
	}
	return max(w.opt.Settle, min(restFactor*w.took, longestRest))
}

// fail deals with an error of the source: what it did not tell is looked for.
func (w *watcher) fail(err error, ok bool) error {
	if !ok {
		return errors.New("watch: the source of notices has ended")
	}
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.note("a notice could not be read, so everything is looked at: " + reasonOf(err))
	}
	w.last, w.touched = nil, true
	return nil
}

// flush brings into the database what happened, and tells of it.
func (w *watcher) flush(ctx context.Context) error {
	start := time.Now()
	w.touched, w.again, w.clean = false, false, false
	if err := w.look(ctx); err != nil {
		return err
	}
	if err := w.fsys.limited; err != nil && w.opt.Every == 0 {
		return err
	}
	rep, err := w.x.refreshTo(ctx, w.last)
	if err != nil {
		return err
	}
	for _, note := range w.x.Notes() {
		w.note(note)
	}
	if rep.NoIndex && !rep.Busy {
		return errors.Join(ErrNoIndex, rep.Unwritten)
	}
	if w.again = rep.Busy || rep.Unwritten != nil || w.x.unstored() != nil; w.again {
		w.tries++
	} else {
		w.tries = 0
	}
	if w.stamp, err = w.readStamp(ctx); err != nil {
		return err
	}
	if w.sources = ""; w.older {
		if w.sources, err = w.knownSources(ctx); err != nil {
			return err
		}
	}
	w.clean = vouches && !w.again && rep.History == "" && w.complete()
	if !w.again {
		err = w.tell(ctx)
	}
	w.took = time.Since(start)
	if w.opt.rest != nil {
		w.opt.rest(w.took)
	}
	return err
}

// readStamp says which state the database is in.
func (w *watcher) readStamp(ctx context.Context) (s stamp, err error) {
	err = w.x.retrying(ctx, func(db *migrations.DB) error {
		s, err = w.x.stampOf(ctx, db)
		return err
	})
	return s, err
}

// stampOf says which state the database is in, within an operation.
func (x *Index) stampOf(ctx context.Context, db *migrations.DB) (s stamp, err error) {
	if db == nil {
		return s, nil
	}
	s.file = storage.Info{Dev: x.file.Dev, Inode: x.file.Inode}
	err = db.GetContext(ctx, &s.generation, `SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'generation'), 0)`)
	return s, err
}
