package psm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// Options say how sessions are summed up.
type Options struct {
	Summarizer Summarizer     // nil: Extract
	Redact     jsonl.Redactor // takes secrets out of what the summarizer sees, of summaries and of errors; nil takes nothing out

	Attempts int           // how often a batch is tried in one pass; 0 is 4
	Backoff  time.Duration // before the second attempt, then twice as long each time; 0 is one second

	Now   func() time.Time                                   // nil: the system's clock
	Sleep func(ctx context.Context, d time.Duration) error   // nil: waits
	Log   *slog.Logger                                       // is told when a status can't be written; nil is quiet
	Told  func(transcript string, done Batch, remaining int) // is called after each batch that is on disk; may be nil
}

const (
	defaultAttempts = 4
	defaultBackoff  = time.Second
	maxBackoff      = time.Minute
)

func (o Options) filled() Options {
	if o.Summarizer == nil {
		o.Summarizer = Extract{}
	}
	if o.Attempts == 0 {
		o.Attempts = defaultAttempts
	}
	if o.Backoff == 0 {
		o.Backoff = defaultBackoff
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Report says what a pass did.
type Report struct {
	Inputs    int // records that were summed up
	Summaries int
	Pending   int // units that are left, after an error
}

// Run sums up what is new in the transcript at path and returns when nothing is
// left, or a batch has failed as often as it may. What was summed up before the
// failure stays. The log is made with the first batch.
//
// Errors: ErrBusy, ErrSummary, fs.ErrNotExist, jsonl.ErrNotTranscript, what the
// summarizer answered.
func Run(ctx context.Context, fsys storage.FS, path string, opt Options) (Report, error) {
	p := &pass{ctx: ctx, fsys: fsys, path: path, opt: opt.filled()}
	var err error
	if p.status, err = oldStatus(fsys, path); err != nil {
		p.opt.Log.Warn("read the status of summaries", "path", path, "cause", err)
	}
	err = p.run()
	if !errors.Is(err, ErrBusy) && p.loaded {
		p.tell(err)
	}
	return p.rep, err
}

type pass struct {
	ctx    context.Context
	fsys   storage.FS
	path   string
	opt    Options
	log    *log
	status Status
	rep    Report
	loaded bool // there is a transcript: a status may be written
}

func (p *pass) run() error {
	for failures := 0; ; {
		units, err := p.pending()
		if err != nil || len(units) == 0 {
			return errors.Join(err, p.log.close())
		}
		p.rep.Pending = len(units)
		err = p.batches(units)
		if cerr := p.log.close(); err == nil {
			err = cerr
		}
		if err == nil {
			return nil
		}
		var failed *appendError
		if failures++; !errors.As(err, &failed) || failures >= p.opt.Attempts {
			return err
		}
		// What is in the log now decides what is still to be done.
		p.note(err)
		if err := p.wait(failures); err != nil {
			return err
		}
	}
}

// appendError is a batch that could not be written: the log must be read again.
type appendError struct{ error }

// Unwrap is the cause.
func (e *appendError) Unwrap() error { return e.error }

// pending opens the log and gives the units that are not in it.
func (p *pass) pending() ([]Unit, error) {
	l, have, err := openLog(p.ctx, p.fsys, p.path)
	if err != nil {
		return nil, err
	}
	p.log = l
	p.status.Inputs, p.status.Summaries = len(have.done), have.summaries
	entries, _, err := session.Whole(p.ctx, p.fsys, p.path, jsonl.LoadOptions{})
	if err != nil {
		return nil, err
	}
	p.loaded = true
	return unitsOf(entries, have.done, p.opt.Redact), nil
}

func (p *pass) batches(units []Unit) error {
	for len(units) > 0 {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		n := batchOf(units)
		b, err := p.summed(units[:n])
		if err != nil {
			return err
		}
		if err := p.log.append(b); err != nil {
			return &appendError{err}
		}
		units = units[n:]
		p.rep.Inputs += len(b.Inputs)
		p.rep.Summaries += len(b.Summaries)
		p.rep.Pending = len(units)
		p.status.Inputs += len(b.Inputs)
		p.status.Summaries += len(b.Summaries)
		if p.opt.Told != nil {
			p.opt.Told(p.path, *b, len(units))
		}
	}
	return nil
}

// summed asks the summarizer, again after a while if it fails.
func (p *pass) summed(units []Unit) (*Batch, error) {
	for try := 1; ; try++ {
		texts, err := p.opt.Summarizer.Summarize(p.ctx, units)
		if err == nil {
			var b *Batch
			if b, err = p.batch(units, texts); err == nil {
				return b, nil
			}
		}
		if p.ctx.Err() != nil {
			return nil, p.ctx.Err()
		}
		if try >= p.opt.Attempts {
			return nil, err
		}
		p.note(err)
		if err := p.wait(try); err != nil {
			return nil, err
		}
	}
}

func (p *pass) batch(units []Unit, texts []string) (*Batch, error) {
	if len(texts) != len(units) {
		return nil, fmt.Errorf("%w: %d summaries for %d units", ErrSummary, len(texts), len(units))
	}
	b := &Batch{At: p.now(), By: p.opt.Summarizer.Name()}
	for i, u := range units {
		text := jsonl.Display(strings.ToValidUTF8(texts[i], string(utf8.RuneError)))
		if p.opt.Redact != nil {
			text = p.opt.Redact(text)
		}
		if text = strings.TrimSpace(cut(text, maxSummary)); text == "" {
			return nil, fmt.Errorf("%w: it is empty", ErrSummary)
		}
		s := Summary{Response: u.response, Text: text}
		for _, in := range u.Inputs {
			b.Inputs = append(b.Inputs, in.ref)
			s.Inputs = append(s.Inputs, in.ref.Entry)
		}
		b.Summaries = append(b.Summaries, s)
	}
	return b, nil
}

func (p *pass) wait(try int) error {
	return p.opt.Sleep(p.ctx, min(p.opt.Backoff<<min(try-1, 20), maxBackoff))
}

func (p *pass) now() string { return p.opt.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// note keeps an error for the status.
func (p *pass) note(err error) {
	if !errors.Is(err, context.Canceled) {
		p.status.addError(p.now(), err.Error(), p.opt.Redact)
	}
}

// tell writes the status. That it can't be written fails nothing.
func (p *pass) tell(err error) {
	p.status.At, p.status.State, p.status.Pending, p.status.Summarizer = p.now(), Idle, p.rep.Pending, p.opt.Summarizer.Name()
	if err != nil && p.ctx.Err() == nil {
		p.status.State = Failed
		p.note(err)
	}
	if err := p.status.write(p.ctx, p.fsys, p.path); err != nil {
		p.opt.Log.Warn("write the status of summaries", "path", p.path, "cause", err)
	}
}
