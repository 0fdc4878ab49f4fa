package history

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
)

// added is a prompt that Add took.
type added struct {
	text string
	cwd  *string
	at   time.Time
}

// queue is what Add took and nobody has stored yet. Sequence numbers count
// accepted prompts: items[i] is number stored+i+1.
type queue struct {
	mu       sync.Mutex
	closed   bool
	last     string // the last prompt accepted
	lastID   int64  // the highest row id seen stored
	items    []added
	stored   int
	noted    int           // number of the last item in the journal
	attempt  chan struct{} // closed after the attempt to store that comes next
	err      error         // of the last attempt
	pressing bool          // a Flush waits: don't wait for company

	awake bool // whom Add would wake looks by itself, see noteAll and rouse
	idle  int  // how often it found nothing
}

// put takes a prompt unless it repeats the last one, and says whether somebody
// must be woken for it.
func (q *queue) put(a added) (wake bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, ErrClosed
	}
	if a.text == q.last {
		return false, nil
	}
	q.last = a.text
	q.items = append(q.items, a)
	return !q.awake, nil
}

// close refuses further prompts; false if that was so already.
func (q *queue) close() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	was := q.closed
	q.closed = true
	return !was
}

// lastErr is why the last attempt to store failed, or nil.
func (q *queue) lastErr() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.err
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}

// snapshot gives what waits. The items stay until settle.
func (q *queue) snapshot() []added {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pressing = false
	return q.items[:len(q.items):len(q.items)]
}

// settle notes the end of an attempt to store the first n items.
func (q *queue) settle(n int, lastID int64, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err == nil {
		q.items = q.items[n:]
		q.stored += n
		q.lastID = max(q.lastID, lastID)
	}
	q.err = err
	if q.attempt != nil {
		close(q.attempt)
		q.attempt = nil
	}
}

// Add takes a prompt and returns at once, whoever holds the database; it is
// stored soon after, see Flush. White space around it is cut off; an empty
// prompt and a repeat of the last one are dropped (the directory doesn't
// matter for that). cwd may be nil. Errors: ErrClosed, and why the store is
// read-only.
func (s *Store) Add(text string, cwd *string) error {
	if s.readOnly != nil {
		return fmt.Errorf("add prompt: %w", s.readOnly)
	}
	a := added{text: storable(Trim(text)), at: s.opt.Now()}
	if a.text == "" {
		return nil
	}
	if cwd != nil {
		dir := storable(*cwd)
		a.cwd = &dir
	}
	wake, err := s.queue.put(a)
	if err != nil {
		return fmt.Errorf("add prompt: %w", err)
	}
	if wake {
		s.nudge()
	}
	return nil
}

func (s *Store) nudge() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// flushTries is how often Flush lets storing fail for a lock: SQLite's lock is
// not fair, and each try waits for the busy timeout.
const flushTries = 3

// Flush returns once all that Add took before is stored, or says why it is not
// (ErrBusy, ErrFull, ErrReadOnly); it then stays queued and is tried again with
// the next prompt and by Close.
func (s *Store) Flush(ctx context.Context) error {
	q := &s.queue
	q.mu.Lock()
	target := q.stored + len(q.items)
	q.mu.Unlock()
	for failed := 0; ; {
		q.mu.Lock()
		if q.stored >= target {
			q.mu.Unlock()
			return nil
		}
		if q.attempt == nil {
			q.attempt = make(chan struct{})
		}
		attempt := q.attempt
		q.pressing = true
		q.mu.Unlock()
		s.nudge()
		select {
		case <-ctx.Done():
			if err := q.lastErr(); err != nil {
				return fmt.Errorf("store prompts: %w: %w", err, ctx.Err())
			}
			return fmt.Errorf("store prompts: %w", ctx.Err())
		case <-attempt:
		}
		err := q.lastErr()
		if err == nil {
			continue
		}
		if failed++; failed == flushTries || !errors.Is(err, ErrBusy) {
			return fmt.Errorf("store prompts: %w", err)
		}
	}
}

// start runs the goroutine that stores, and the one that writes the journal: a
// database that is locked must not hold up the journal.
func (s *Store) start() {
	store := s.wake
	if s.journal != nil {
		store = make(chan struct{}, 1)
		s.done.Go(func() { s.noteAll(store) })
	}
	s.done.Go(func() { s.storeAll(store) })
}

// storeAll stores what is queued whenever it is woken, in batches, until nothing
// is left. A lock will be free some time; after another failure it waits for the
// next prompt or Flush.
func (s *Store) storeAll(wake <-chan struct{}) {
	for {
		select {
		case <-s.stop:
			return
		case <-wake:
		}
		for more := true; more; {
			s.rouse(true)
			s.waitForCompany(wake)
			err := s.storeBatch(context.Background())
			more = s.rouse(err == nil || errors.Is(err, ErrBusy)) && !s.stopped()
		}
	}
}

// rouse notes whether this goroutine is going to look at the queue again by
// itself, if it is the one that Add wakes; it stays so only if there is more.
func (s *Store) rouse(again bool) (more bool) {
	q := &s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	more = again && len(q.items) > 0
	if s.journal == nil {
		q.awake = more
	}
	return more
}

func (s *Store) stopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// waitForCompany lets a batch grow unless somebody presses.
func (s *Store) waitForCompany(wake <-chan struct{}) {
	timer := time.NewTimer(s.opt.BatchFor)
	defer timer.Stop()
	for {
		s.queue.mu.Lock()
		pressing := s.queue.pressing
		s.queue.mu.Unlock()
		if pressing {
			return
		}
		select {
		case <-timer.C:
			return
		case <-s.stop:
			return
		case <-wake:
		}
	}
}

// storeBatch stores what is queued now in one transaction, in the order in
// which it was added, and frees the journal of it.
func (s *Store) storeBatch(ctx context.Context) error {
	batch := s.queue.snapshot()
	var lastID int64
	var err error
	if len(batch) > 0 {
		err = plain(s.db.Write(ctx, func(tx *sqlx.Tx) error {
			lastID, err = s.insert(ctx, tx, batch, s.opt.Now())
			return err
		}))
	}
	s.queue.settle(len(batch), lastID, err)
	if err == nil && s.journal != nil {
		err = s.journal.trim(&s.queue)
	}
	return err
}

// insert adds rows with the time of the insertion, and gives the last id.
func (s *Store) insert(ctx context.Context, tx *sqlx.Tx, batch []added, now time.Time) (lastID int64, err error) {
	const query = `INSERT INTO history (prompt, created_at, cwd) VALUES (?, ?, ?)`
	stmt, err := s.db.Prepared(ctx, query)
	if err != nil {
		return 0, err
	}
	stmt = tx.StmtxContext(ctx, stmt)
	for _, a := range batch {
		res, err := stmt.ExecContext(ctx, a.text, now.Unix(), a.cwd)
		if err != nil {
			return 0, err
		}
		if lastID, err = res.LastInsertId(); err != nil {
			return 0, err
		}
	}
	return lastID, nil
}
