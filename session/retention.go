package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// unansweredFor is how long a session without an answer is kept whatever is
// asked: somebody may be about to go on with it.
const unansweredFor = 24 * time.Hour

// aged is a transcript as retention sees it. It is read from its own bytes:
// what decides about a removal is never taken from a copy.
type aged struct {
	path     string
	scopeDir string
	info     storage.Info

	id, cwd, title string
	last           time.Time // of its records and of the file, the later
	begun          time.Time // of its header
	recorded       time.Time // the newest of its entries
	bytes          int64     // with what belongs to it
	answered       bool
	keep           string // why it is kept whatever is asked; "" if nothing speaks for it
}

// gather reads all sessions that may be pruned, and says what it passed over.
func (s *Store) gather(ctx context.Context, r Retention) (all []*aged, left []LeftOut, err error) {
	if r.Dir != "" {
		all, left, err = s.agedIn(r.Dir, nil)
	} else {
		all, left, err = s.agedInHome(ctx, r.Project)
	}
	if err != nil {
		return nil, nil, err
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	errs := make([]error, len(all))
	for range min(len(all)/rowsPerWorker+1, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				errs[i] = s.lookOver(ctx, all[i])
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	kept := all[:0]
	for i, a := range all {
		if errs[i] != nil {
			left = append(left, leftOut(a.path, errs[i]))
			continue
		}
		kept = append(kept, a)
	}
	return kept, left, nil
}

// agedInHome finds the transcripts of every scope, or of a project's scopes.
func (s *Store) agedInHome(ctx context.Context, project string) (all []*aged, left []LeftOut, err error) {
	for sc, err := range scope.All(ctx, s.fsys, s.opt.Home) {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			l, ok := asRefusal(err, s.opt.Home.Sessions())
			if !ok {
				return nil, nil, err
			}
			left = append(left, l)
			continue
		}
		if project != "" && sc.Project(s.fsys) != project {
			continue
		}
		in, out, err := s.agedIn(sc.Dir, sc)
		if err != nil {
			return nil, nil, err
		}
		all, left = append(all, in...), append(left, out...)
	}
	return all, left, nil
}

func (s *Store) agedIn(dir string, _ *scope.Scope) (all []*aged, left []LeftOut, err error) {
	files, left, err := s.transcriptFiles(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		all = append(all, &aged{path: filepath.Join(dir, f.Name), scopeDir: dir, info: f.Info})
	}
	return all, left, nil
}

// lookOver reads a transcript and what belongs to it. A file that is no whole
// session of a version that we know is kept.
func (s *Store) lookOver(ctx context.Context, a *aged) error {
	own, err := s.belongings(ctx, a.path)
	if err != nil {
		return err
	}
	a.bytes = bytesOf(own)
	pinned, err := s.Pinned(a.path)
	if err != nil {
		return err
	}
	if err := s.readAged(ctx, a); err != nil {
		return err
	}
	if pinned {
		a.keep = "is pinned"
	}
	return nil
}

// readAged reads the records of a transcript.
func (s *Store) readAged(ctx context.Context, a *aged) error {
	f, err := s.fsys.Open(a.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	if a.info, err = f.Stat(); err != nil {
		return err
	}
	a.last, a.keep = time.Unix(0, a.info.ModTime), ""
	a.begun, a.recorded = time.Time{}, time.Time{}
	malformed, records := 0, 0
	opt := jsonl.ReadOptions{Report: func(jsonl.LineReport) { malformed++ }}
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(f, 0, a.info.Size), opt) {
		if err != nil {
			return err
		}
		a.take(rec.Fields)
		records++
	}
	if at := a.lastRecord(); at.After(a.last) {
		a.last = at
	}
	switch {
	case a.keep != "":
	case a.id == "" && records+malformed == 0:
		a.keep = "is empty"
	case a.id == "":
		a.keep = "is damaged: " + errNoHeader.Error()
	case malformed > 0:
		a.keep = "is damaged: 1 line can't be read"
		if malformed > 1 {
			a.keep = fmt.Sprintf("is damaged: %d lines can't be read", malformed)
		}
	case !a.answered && s.opt.Now().Sub(a.last) < unansweredFor:
		a.keep = "is young and has no answer yet"
	}
	return nil
}

// take learns from one record.
func (a *aged) take(f *jsonl.Fields) {
	switch f.Type.Text() {
	case "session":
		if f.VersionKind != jsonl.Absent && (f.VersionKind != jsonl.Number || f.Version != math.Trunc(f.Version) || f.Version > jsonl.CurrentVersion) {
			a.keep = "is of a version that is not known"
		}
		if a.id == "" {
			a.id = f.ID.Text()
			a.names(f)
		}
	case "header_patch", "title":
		a.names(f)
	}
	a.answered = a.answered || f.Role.Equal("assistant")
	if ms, ok := jsonl.ParseDate(f.Timestamp.Text()); ok {
		at := &a.recorded
		if f.Type.Equal("session") {
			at = &a.begun
		}
		if t := time.UnixMilli(int64(ms)); t.After(*at) {
			*at = t
		}
	}
}

// lastRecord is the newest time that an entry tells, or the header's where no
// entry tells one.
func (a *aged) lastRecord() time.Time {
	if a.recorded.IsZero() {
		return a.begun
	}
	return a.recorded
}

func (a *aged) names(f *jsonl.Fields) {
	if f.Title.Ok() {
		a.title = f.Title.Text()
	}
	if f.Cwd.Ok() {
		a.cwd = f.Cwd.Text()
	}
}

// errNoRetention is a retention that asks for nothing, or for what can't be
// meant: then nothing is removed.
var errNoRetention = errors.New("retention is not valid")

func (r Retention) check() error {
	switch {
	case r.OlderThan < 0, r.Keep < 0, r.MaxBytes < 0:
		return fmt.Errorf("%w: a limit is below 0", errNoRetention)
	case r.OlderThan == 0 && r.Keep == 0 && r.MaxBytes == 0:
		return fmt.Errorf("%w: no limit is given", errNoRetention)
	}
	return nil
}

// OlderThan are the transcripts that were last active longer than age ago, by
// their records and by the file: of every scope, or of one directory if dir is
// not "". What could not be judged is left out.
func (s *Store) OlderThan(ctx context.Context, age time.Duration, dir string) (paths []string, left []LeftOut, err error) {
	if age <= 0 {
		return nil, nil, fmt.Errorf("%w: the age is not above 0", errNoRetention)
	}
	all, left, err := s.gather(ctx, Retention{OlderThan: age, Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	for _, a := range all {
		if a.id != "" && s.opt.Now().Sub(a.last) > age {
			paths = append(paths, a.path)
		}
	}
	return paths, left, nil
}
