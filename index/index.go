package index

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Options of Open. The zero value is right for a command.
type Options struct {
	Now         func() time.Time                // nil: time.Now
	Tick        func(path string) time.Duration // clock tick of a file system; nil: storage.Tick
	Network     func(path string) bool          // is on a network file system; nil: storage.IsNetwork
	BusyTimeout time.Duration                   // how long to wait for another process; 0: 5 s
	Project     func(cwd string) string         // the project of a workspace; nil: the workspace itself
	Progress    func(Progress)                  // told of a build's progress; may be nil
	MaxLine     int64                           // longest line in bytes; 0: jsonl's default
	Workers     int                             // readers of files at once; 0: by the number of cores
	Watched     bool                            // Refresh asks a process that watches the home; see Watch
}

// tick is the clock tick of the file system that the sessions lie on.
func (x *Index) tick() time.Duration {
	x.tickOnce.Do(func() { x.tickLen = x.opt.Tick(x.root()) })
	return x.tickLen
}

// Index answers what the files say. Make one with Open, end it with Close.
type Index struct {
	fsys storage.FS
	home scope.Home
	opt  Options
	dir  string // an explicit directory instead of the home's; "" otherwise

	// mu is held shared by operations, exclusively while db changes. It comes
	// before the kernel's lock.
	mu        sync.RWMutex
	db        *migrations.DB // nil: none
	file      storage.Info   // of the file that db has open
	settled   bool           // db stays nil
	why       error          // why it does, or is for reading only; nil if there is no home
	setAsides int

	tickOnce sync.Once
	tickLen  time.Duration

	noteMu  sync.Mutex
	notes   []string
	history string // why history.db was not read; "" if it was

	heldMu  sync.Mutex
	heldHas *held

	hiddenMu  sync.Mutex
	hiddenHas hiddenCache

	past    *pastRows
	looks   looks
	sources atomic.Pointer[sources] // nil: not looked for

	pendingMu sync.Mutex
	pending   *pending // what the last refresh saw and could not store; nil if it stored all
}

// Open opens the index of home, making its database if there is none and the
// home exists. It does not fail for anything that is wrong with the database:
// see Notes. The only errors are those of ctx.
func Open(ctx context.Context, fsys storage.FS, home scope.Home, opt Options) (*Index, error) {
	x := &Index{fsys: fsys, home: home, opt: opt.withDefaults()}
	x.past = &pastRows{x: x}
	op, err := x.begin(ctx)
	if err != nil {
		return nil, err
	}
	op.done()
	return x, nil
}

// OpenDir is an Index without a database of the session files right in dir:
// each answer is read from the files.
func OpenDir(ctx context.Context, fsys storage.FS, dir string, opt Options) (*Index, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	return &Index{fsys: fsys, opt: opt.withDefaults(), dir: abs, settled: true}, ctx.Err()
}

// withDefaults fills in what is not set.
func (opt Options) withDefaults() Options {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Tick == nil {
		opt.Tick = storage.Tick
	}
	if opt.Network == nil {
		opt.Network = storage.IsNetwork
	}
	if opt.BusyTimeout == 0 {
		opt.BusyTimeout = migrations.DefaultBusyTimeout
	}
	if opt.Project == nil {
		opt.Project = func(cwd string) string { return cwd }
	}
	if opt.Workers <= 0 {
		opt.Workers = min(max(runtime.GOMAXPROCS(0)-1, 1), 4)
	}
	return opt
}

// root is the directory of the sessions.
func (x *Index) root() string {
	if x.dir != "" {
		return x.dir
	}
	return x.home.Sessions()
}

// walk looks at all session files.
func (x *Index) walk(ctx context.Context) (*walk, error) {
	if x.dir != "" {
		return walkDir(ctx, x.fsys, x.dir)
	}
	return walkSessions(ctx, x.fsys, x.home.Sessions())
}

// Close gives the database back.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.settled = true
	var err error
	if x.past != nil {
		err = x.past.close()
	}
	if x.db == nil {
		return err
	}
	db := x.db
	x.db = nil
	return errors.Join(db.Close(), err)
}

// Notes are sentences for people about what is not as it should be: a newer
// schema, a read-only home, a damaged database set aside, a busy one.
func (x *Index) Notes() []string {
	x.noteMu.Lock()
	defer x.noteMu.Unlock()
	return slices.Clone(x.notes)
}
