package session

import (
	"cmp"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Options say how a Store behaves. The zero value of each field is usable.
type Options struct {
	Home scope.Home // where managed sessions live

	Now          func() time.Time // nil: the system's clock
	NewEntryID   func() string    // nil: 8 random hexadecimal digits, not used in the session yet
	NewSessionID func() string    // nil: a UUID of version 7
	UpgradeIDs   func() string    // ids for entries of version 1; nil derives them from their position

	ProjectDir       string         // workspace of a session begun at a path alone; "" is the process's directory
	Migration        scope.Policy   // of legacy sessions that are to be written; "" is scope.CopyRetain
	Process          *scope.Process // who takes the locks of the migration protocol; nil is this process
	KeepUnanswered   bool           // Flush and Close write a session that holds prompts and no answer
	Sync             bool           // each batch is synced before it counts as committed
	RequireTaskScope bool           // no turn begins in a session that nobody delegated a task to
	Redact           jsonl.Redactor // takes secrets out of what is appended; nil takes nothing out
	Terminal         string         // whose last session a breadcrumb keeps, see TerminalID; "" keeps none
	Unzstd           Unzstd         // reads compressed archives; nil: none can be read
	Committed        func(string)   // is told the path of a transcript after each batch that was written to it; must return at once and not call the session; may be nil
	Log              *slog.Logger   // is told of best-effort failures and of the first write error; nil is quiet

	settle time.Duration // see jsonl.Rewrite; tests shorten it
	group  int           // see groupSize; tests shorten it
	whole  int           // see manySyncs; tests shorten it
}

// Unzstd reads what a zstd stream holds.
type Unzstd func(io.Reader) (io.ReadCloser, error)

// Store is all sessions of one home. Safe for several goroutines.
type Store struct {
	fsys  storage.FS
	opt   Options
	blobs *blob.Store
	seq   *sequence

	mu   sync.Mutex
	held map[string]*held // by the real path of the transcript
}

// NewStore makes a store over fsys. It touches nothing.
func NewStore(fsys storage.FS, opt Options) *Store {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Migration == "" {
		opt.Migration = scope.CopyRetain
	}
	if opt.Process == nil {
		opt.Process = scope.ThisProcess()
	}
	if opt.settle == 0 {
		opt.settle = jsonl.LateAfter
	}
	opt.group, opt.whole = cmp.Or(opt.group, groupSize), cmp.Or(opt.whole, manySyncs)
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{fsys: fsys, opt: opt, held: map[string]*held{}}
	s.blobs = blob.New(fsys, opt.Home.Blobs())
	s.blobs.Now = opt.Now
	s.seq = &sequence{fsys: fsys, home: opt.Home}
	return s
}

// timestamp is the present as records say it.
func (s *Store) timestamp() string { return s.opt.Now().UTC().Format(timeLayout) }

// timeLayout is ECMAScript's Date.prototype.toISOString.
const timeLayout = "2006-01-02T15:04:05.000Z"

// stamp is a time as records say it, kept since many entries bear the same.
type stamp struct {
	ms   int64 // Unix
	text string
}

// timestampLocked is the present as records say it.
func (c *core) timestampLocked() string {
	now := c.st.opt.Now()
	if ms := now.UnixMilli(); ms != c.stamp.ms || c.stamp.text == "" {
		c.stamp = stamp{ms, now.UTC().Format(timeLayout)}
	}
	return c.stamp.text
}

// projectDir is the workspace of a session that nobody named one for.
func (s *Store) projectDir() (string, error) {
	if s.opt.ProjectDir != "" {
		return s.opt.ProjectDir, nil
	}
	return os.Getwd()
}

// prepare makes the home, which holds the event ids of every session.
func (s *Store) prepare() error {
	if s.opt.Home.Dir() == "" {
		return nil
	}
	return s.opt.Home.Prepare(s.fsys)
}
