package index

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// pipeBytes bounds what readings that wait for the writer hold in memory.
const pipeBytes = 24 << 20

// outcome is what became of a job.
type outcome struct {
	job
	reading *reading     // nil if isGone, or the file is as it was
	info    storage.Info // the stat before the reading: the fingerprint
	racy    []byte
	clean   bool // mayHave: the bytes are as they were
	still   bool // mayHave: the clock has not moved on yet
}

// worker reads files.
type worker struct {
	x  *Index
	db *migrations.DB // for what is known of a file that has grown; nil: read all whole
	ex *extractor
}

// do looks at one file. A file that can't be read is an outcome too; the only
// errors are those of ctx and the database.
func (w *worker) do(ctx context.Context, j job) (outcome, error) {
	o := outcome{job: j, info: j.file.info}
	if j.why == isGone {
		return o, nil
	}
	if j.file.refused != "" {
		o.reading = &reading{facts: facts{state: StateRefused, reason: j.file.refused}}
		return o, nil
	}
	err := w.read(ctx, &o)
	w.ex.rest()
	if err == nil {
		return o, nil
	}
	var dbErr databaseError
	if ctx.Err() != nil || errors.As(err, &dbErr) {
		return o, err
	}
	if errors.Is(err, fs.ErrNotExist) {
		o.why, o.reading = isGone, nil
		return o, nil
	}
	o.reading = &reading{facts: facts{state: StateUnreadable, reason: reasonOf(err)}}
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, storage.ErrUnsafe) {
		o.info.ChangeTime, o.info.ModTime = 0, 0 // it may be read another time
	}
	return o, nil
}

// databaseError is an error of the database, as opposed to one of a file.
type databaseError struct{ error }

// Unwrap gives the cause.
func (e databaseError) Unwrap() error { return e.error }

func (w *worker) read(ctx context.Context, o *outcome) (err error) {
	f, err := w.x.fsys.Open(o.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	now := w.x.opt.Now()
	if o.info, err = f.Stat(); err != nil {
		return err
	}
	young := w.x.racyAt(o.info, now.UnixNano())
	if o.why == mayHave {
		sum, err := sumRacy(f, o.info.Size)
		if err != nil {
			return err
		}
		same := o.known.Racy == nil || string(sum) == string(o.known.Racy)
		if same && o.info.Size == o.known.Size && o.info.ModTime == o.known.ModTime && o.info.ChangeTime == o.known.Change {
			same, younger, err := w.sameRacyArchives(ctx, o, now.UnixNano())
			if err != nil {
				return err
			}
			if same {
				o.clean, o.still = true, young || younger
				return nil
			}
		}
	}
	if o.reading, err = w.rows(ctx, f, o); err != nil {
		return err
	}
	if young {
		o.racy, err = sumRacy(f, o.info.Size)
	}
	return err
}

// rows reads the tail of a file that has grown, else the whole.
func (w *worker) rows(ctx context.Context, f storage.File, o *outcome) (*reading, error) {
	maxLine := w.x.opt.MaxLine
	if o.why == hasGrown && w.db != nil {
		s, ok, err := loadStored(ctx, w.db, o.key)
		if err != nil {
			return nil, databaseError{err}
		}
		if ok && s.offset <= o.info.Size {
			r, err := w.ex.tail(ctx, f, s, dbEarlier{ctx, w.db, o.key}, o.info.Size, maxLine)
			if !errors.Is(err, errWhole) {
				return r, err
			}
		}
	}
	w.ex.archives = len(o.file.archives) > 0
	r, err := w.ex.whole(ctx, f, o.info.Size, maxLine)
	if err != nil || r.state != StateOK {
		return r, err
	}
	if len(o.file.archives) == 0 {
		err = w.ex.foldIfAsked(ctx)
		w.ex.settleEffects()
		return r, err
	}
	if r.archives, err = w.statArchives(ctx, &o.job, w.x.opt.Now().UnixNano(), r.refs); err != nil {
		return r, err
	}
	reason, err := w.archived(ctx, o.path, r)
	for i := range r.archives {
		if a := &r.archives[i]; a.Reason == "" {
			a.Reason = strings.TrimPrefix(reason, filepath.Join(filepath.Dir(o.path), filepath.Base(a.Name))+": ")
		}
	}
	w.ex.settleEffects()
	return r, err
}

// archives are the archives of the file whose fingerprints hold now.
func (o *outcome) archives() []archiveRow {
	switch {
	case o.reading != nil && !o.reading.tail && o.reading.state == StateOK:
		return o.reading.archives
	case o.known != nil && (o.clean || o.reading != nil && o.reading.tail):
		return o.known.archives
	}
	return o.file.rows()
}

// racyArchives reports whether an archive is to be looked at once more.
func (o *outcome) racyArchives() bool {
	return !o.clean && slices.ContainsFunc(o.archives(), func(r archiveRow) bool { return r.Racy != nil })
}

// racyAt reports whether a file whose stat was taken at now may change again
// without its times telling.
func (x *Index) racyAt(info storage.Info, now int64) bool {
	tick := int64(x.tick())
	near := func(t int64) bool { return t-now <= tick && now-t <= tick }
	return near(info.ModTime) || near(info.ChangeTime)
}

// slot is an outcome on its way to the writer.
type slot struct {
	outcome
	err error
}

// pipe runs jobs on workers and hands the outcomes over in the order of the
// jobs. Memory is bounded: no job begins while too much waits for fn.
func (x *Index) pipe(ctx context.Context, db *migrations.DB, jobs []job, fn func(*outcome) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	room := newRoom(pipeBytes)
	defer context.AfterFunc(ctx, room.wake)()
	order, todo := make(chan chan slot, 64), make(chan func(*worker))
	var group sync.WaitGroup
	for range min(x.opt.Workers, len(jobs)) {
		group.Go(func() {
			w := &worker{x: x, db: db, ex: newExtractor()}
			for task := range todo {
				task(w)
			}
		})
	}
	group.Go(func() {
		defer close(order)
		defer close(todo)
		feed(ctx, jobs, room, order, todo)
	})
	var failed error
	for out := range order {
		s := <-out
		if s.reading != nil {
			room.give(s.reading.weight())
		}
		if failed != nil {
			continue
		}
		if failed = s.err; failed == nil {
			failed = fn(&s.outcome)
		}
		if failed != nil {
			cancel()
		}
	}
	group.Wait()
	if failed == nil {
		failed = ctx.Err() // jobs that never began
	}
	return failed
}

// feed gives jobs out, in order, as long as there is room. Workers never wait
// for room themselves, so that none that is due waits for one that is not.
func feed(ctx context.Context, jobs []job, room *room, order chan<- chan slot, todo chan<- func(*worker)) {
	for _, j := range jobs {
		room.wait(ctx)
		out := make(chan slot, 1)
		select {
		case order <- out:
		case <-ctx.Done():
			return
		}
		task := func(w *worker) {
			o, err := w.do(ctx, j)
			if o.reading != nil {
				room.take(o.reading.weight())
			}
			out <- slot{o, err}
		}
		select {
		case todo <- task:
		case <-ctx.Done():
			out <- slot{err: ctx.Err()}
			return
		}
	}
}

// room is an amount of memory that workers share. One reading may exceed it.
type room struct {
	mu   sync.Mutex
	cond *sync.Cond
	left int64
}

func newRoom(n int64) *room {
	r := &room{left: n}
	r.cond = sync.NewCond(&r.mu)
	return r
}

// wait returns once there is room.
func (r *room) wait(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.left <= 0 && ctx.Err() == nil {
		r.cond.Wait()
	}
}

func (r *room) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cond.Broadcast()
}

func (r *room) take(n int64) {
	r.mu.Lock()
	r.left -= n
	r.mu.Unlock()
}

func (r *room) give(n int64) {
	r.mu.Lock()
	r.left += n
	r.mu.Unlock()
	r.cond.Broadcast()
}
