package index

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gajae-code/gjc-index/history"
)

// pastRows reads texts of history.db, which the index does not keep. The file is
// opened when the first text is asked for, for reading only, and again once it is
// another one. What can't be read is noted and left out. Safe for several
// goroutines.
type pastRows struct {
	x *Index

	mu    sync.RWMutex // held shared while store is in use
	store *history.Store
	stamp history.Stamp // of the file that store has open
	tired atomic.Bool   // it could not be read, and is not tried again for now
}

// historyPatience is how long a lock on history.db is waited for by those who only
// read it. Who has it as the other program does never locks readers out.
const historyPatience = time.Second

// openHistory opens history.db for reading.
func (x *Index) openHistory(ctx context.Context) (*history.Store, error) {
	opt := history.Options{ReadOnly: true, BusyTimeout: min(x.opt.BusyTimeout, historyPatience)}
	return history.Open(ctx, x.fsys, x.home.HistoryDB(), opt)
}

// again lets the next reading try what could not be read before.
func (r *pastRows) again() {
	if r != nil {
		r.tired.Store(false)
	}
}

// use calls fn with history.db, unless there is none.
func (r *pastRows) use(ctx context.Context, fn func(h *history.Store) error) error {
	for {
		if r.tired.Load() {
			return errNoRows
		}
		now, err := history.StampOf(r.x.fsys, r.x.home.HistoryDB())
		if err != nil {
			return r.lost(ctx, err)
		}
		// What is appended to a log is seen without opening anew.
		now.LogSize, now.LogTime, now.LogChangeTime = 0, 0, 0
		r.mu.RLock()
		if r.store != nil && r.stamp == now {
			err := fn(r.store)
			r.mu.RUnlock()
			return r.lost(ctx, err)
		}
		r.mu.RUnlock()
		if now.Inode == 0 {
			return errors.Join(r.close(), ctx.Err())
		}
		if err := r.open(ctx, now); err != nil {
			return r.lost(ctx, err)
		}
	}
}

func (r *pastRows) open(ctx context.Context, now history.Stamp) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store != nil && r.stamp == now {
		return nil
	}
	if r.store != nil {
		_ = r.store.Close() // nothing was written
		r.store = nil
	}
	h, err := r.x.openHistory(ctx)
	if err != nil {
		return err
	}
	// To open it may make a log, and takes an empty one away.
	if now, err = history.StampOf(r.x.fsys, r.x.home.HistoryDB()); err != nil {
		return errors.Join(err, h.Close())
	}
	now.LogSize, now.LogTime, now.LogChangeTime = 0, 0, 0
	r.store, r.stamp = h, now
	return nil
}

// lost notes why history.db can't be read. Its errors must not be taken for ones
// of the index.
func (r *pastRows) lost(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	r.tired.Store(true)
	r.x.noHistory(err)
	return errNoRows
}

// close gives the file back.
func (r *pastRows) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.store == nil {
		return nil
	}
	h := r.store
	r.store = nil
	return h.Close()
}

// Texts gives the texts of rows of history.db, as far as they are there.
func (r *pastRows) Texts(ctx context.Context, ids []int64) (texts map[int64]string, err error) {
	err = r.use(ctx, func(h *history.Store) (err error) {
		texts, err = h.Texts(ctx, ids)
		return err
	})
	return texts, err
}

// Joined gives the texts of the rows from first to last in one piece, see
// history.Store.Joined.
func (r *pastRows) Joined(ctx context.Context, first, last int64, use func(n int, texts []byte)) error {
	return r.use(ctx, func(h *history.Store) error { return h.Joined(ctx, first, last, joint, use) })
}
