package session

import (
	"log/slog"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Options say how a Store behaves. The zero value of each field is usable.
type Options struct {
	Home     scope.Home       // where managed sessions live
	Now      func() time.Time // nil: the system's clock
	Log      *slog.Logger     // is told of best-effort failures; nil is quiet
	Terminal string           // whose last session breadcrumbs keep, see TerminalID; "" keeps none
}

// Store is all sessions of one home. Safe for several goroutines.
type Store struct {
	fsys storage.FS
	opt  Options
}

// NewStore makes a store over fsys. It touches nothing.
func NewStore(fsys storage.FS, opt Options) *Store {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return &Store{fsys: fsys, opt: opt}
}
