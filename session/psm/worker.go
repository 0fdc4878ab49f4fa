package psm

import (
	"context"
	"sync"

	"github.com/gajae-code/gjc-index/storage"
)

// Worker sums sessions up in the background, while they are written. It reads
// what is in the files, so it sees committed records only. Safe for several
// goroutines.
type Worker struct {
	fsys storage.FS
	opt  Options

	mu      sync.Mutex
	waiting []string
	poke    chan struct{}
}

// NewWorker makes a worker; Run starts it.
func NewWorker(fsys storage.FS, opt Options) *Worker {
	return &Worker{fsys: fsys, opt: opt.filled(), poke: make(chan struct{}, 1)}
}

// Committed tells that records were appended to a transcript. It returns at
// once; a transcript that waits already is looked at once. It has the form of
// session.Options.Committed.
func (w *Worker) Committed(transcript string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range w.waiting {
		if path == transcript {
			return
		}
	}
	w.waiting = append(w.waiting, transcript)
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// Run works until ctx ends, one session after the other. What fails is left to
// the next time that the session grows; its status says why.
func (w *Worker) Run(ctx context.Context) {
	for {
		path, ok := w.next()
		if !ok {
			select {
			case <-w.poke:
				continue
			case <-ctx.Done():
				return
			}
		}
		if _, err := Run(ctx, w.fsys, path, w.opt); err != nil && ctx.Err() == nil {
			w.opt.Log.Warn("sum up a session", "path", path, "cause", err)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

func (w *Worker) next() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return "", false
	}
	path := w.waiting[0]
	w.waiting = w.waiting[1:]
	return path, true
}
