package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// Options of Open. The zero value is right for a program that adds prompts.
type Options struct {
	// ReadOnly opens what is there and changes nothing; a missing file is
	// fs.ErrNotExist.
	ReadOnly bool
	// Journal makes accepted prompts survive the death of the process, by one
	// small append to a file beside history.db right after Add has returned.
	Journal bool
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// BatchFor is how long stored prompts may wait for company; 0 is 100 ms.
	BatchFor time.Duration
	// BusyTimeout is how long another process's lock is waited for; 0 is 5 s.
	BusyTimeout time.Duration
	// CloseFor is how long Close tries to store what is queued; 0 is 15 s.
	CloseFor time.Duration
}

// Store is an open history.db. Safe for several goroutines.
type Store struct {
	db       *migrations.DB
	fsys     storage.FS
	path     string
	opt      Options
	have     layout
	readOnly error // why nothing can be written, or nil

	journal *journal
	queue   queue
	wake    chan struct{} // a prompt was added, or a Flush waits
	stop    chan struct{} // closed by Close
	done    sync.WaitGroup
}

// Open opens the history at path; a missing one is made, an older one brought
// up to date, and prompts that a dead process left in its journal are stored.
// Where the file can be read but not written, it is opened for reading: see
// ReadOnly. The caller closes the result. fsys should not insist on private
// directories: the other program makes the one of history.db 0755.
//
// Errors: ErrBusy, ErrDamaged, ErrFull; fs.ErrNotExist if Options.ReadOnly;
// storage.ErrUnsafe if path is no plain file.
func Open(ctx context.Context, fsys storage.FS, path string, opt Options) (*Store, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.BatchFor == 0 {
		opt.BatchFor = 100 * time.Millisecond
	}
	if opt.CloseFor == 0 {
		opt.CloseFor = 15 * time.Second
	}
	s := &Store{fsys: fsys, path: path, opt: opt, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	err := s.open(ctx)
	if err != nil && !opt.ReadOnly && migrations.Unusable(err) && !migrations.Full(err) {
		if cause := plain(err); s.openReadOnly(ctx) == nil {
			s.readOnly, err = cause, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open history: %w", plain(err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) (err error) {
	if s.opt.ReadOnly {
		s.readOnly = ErrReadOnly
		return s.openReadOnly(ctx)
	}
	if err = storage.MkdirAll(s.fsys, filepath.Dir(s.path)); err != nil {
		return err
	}
	s.db, err = migrations.Open(ctx, s.fsys, s.path, migrations.History,
		migrations.Options{Fallback: migrations.Truncate, BusyTimeout: s.opt.BusyTimeout})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.db.Close())
		}
	}()
	if err = s.db.Writable(ctx); err != nil {
		return err
	}
	if err = layOut(ctx, s.db); err != nil {
		return err
	}
	if s.have, err = readLayout(ctx, s.db); err != nil {
		return err
	}
	if err = s.catchUp(ctx); err != nil {
		return err
	}
	if err = s.replay(ctx); err != nil && !migrations.Busy(err) { // if busy, the next one to open does it
		return err
	}
	if s.opt.Journal {
		s.journal = &journal{fsys: s.fsys, path: s.path}
	}
	if err = s.prime(ctx); err != nil {
		return err
	}
	s.start()
	return nil
}

func (s *Store) openReadOnly(ctx context.Context) (err error) {
	s.db, err = migrations.Open(ctx, s.fsys, s.path, migrations.History, migrations.Options{ReadOnly: true, BusyTimeout: s.opt.BusyTimeout})
	if err != nil {
		return err
	}
	if s.have, err = readLayout(ctx, s.db); err != nil {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

// prime takes the last prompt stored as the one that a repeat is dropped of.
func (s *Store) prime(ctx context.Context) error {
	last, err := s.prompts(ctx, `SELECT `+columns+` FROM history h ORDER BY h.id DESC LIMIT 1`)
	if err != nil || len(last) == 0 {
		return err
	}
	s.queue.last, s.queue.lastID = last[0].Text, last[0].ID
	return nil
}

// ReadOnly says why nothing can be written to this store; nil if it can.
func (s *Store) ReadOnly() error { return s.readOnly }

// Close stores what is queued and closes the database. If the queue can't be
// stored in Options.CloseFor, the error says how many prompts are left; with
// Options.Journal the next Open stores them.
func (s *Store) Close() error {
	if !s.queue.close() {
		return nil
	}
	if s.readOnly != nil {
		return s.db.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opt.CloseFor)
	defer cancel()
	err := s.Flush(ctx)
	close(s.stop)
	s.done.Wait()
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", ErrBusy, err) // that is what takes so long
	}
	if n := s.queue.size(); n > 0 {
		err = fmt.Errorf("close history: %d prompts are not stored: %w", n, err)
	} else {
		err = nil // what failed at first was stored in the end
	}
	if s.journal != nil {
		err = errors.Join(err, s.journal.close())
	}
	return errors.Join(err, s.db.Close())
}

// missing reports whether err is a file that isn't there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
