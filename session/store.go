package session

import (
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Options say how a Store behaves. The zero value of each field is usable.
type Options struct {
	Home scope.Home // where managed sessions live
}

// Store is all sessions of one home. Safe for several goroutines.
type Store struct {
	fsys storage.FS
	opt  Options
}

// NewStore makes a store over fsys. It touches nothing.
func NewStore(fsys storage.FS, opt Options) *Store {
	return &Store{fsys: fsys, opt: opt}
}
