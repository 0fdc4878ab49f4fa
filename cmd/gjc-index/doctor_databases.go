package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// databases checks the index and the prompt history.
func (a *app) databases(ctx context.Context, f doctorFlags, w *ward) error {
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	if err := a.checkIndex(ctx, home, f, w); err != nil {
		return err
	}
	return a.checkHistory(ctx, home, f, w)
}

// checkIndex opens the index as every command does, and compares it with the
// files.
func (a *app) checkIndex(ctx context.Context, home scope.Home, f doctorFlags, w *ward) error {
	path := home.IndexDB()
	if !a.isThere(path) {
		return w.take(session.Finding{Check: "index", State: session.HealthOK, Path: path, Detail: "there is none yet: the next list makes it"})
	}
	x, err := a.open(ctx, index.Options{Now: a.now, MaxLine: a.maxLine, Project: a.projectOf})
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }() // nothing of its own is left to be written
	rep, err := x.Refresh(ctx)
	if err != nil {
		return err
	}
	odd := 0
	for _, note := range x.Notes() {
		odd++
		if err := w.take(session.Finding{Check: "index", State: session.HealthWarn, Path: path, Detail: note}); err != nil {
			return err
		}
	}
	if rep.Busy || rep.NoIndex || rep.Unwritten != nil || f.quick {
		if odd > 0 {
			return nil
		}
		return w.take(session.Finding{Check: "index", State: session.HealthOK, Path: path, Detail: "can be opened"})
	}
	return a.indexDrift(ctx, x, path, f, w, odd)
}

// indexDrift tells of differences between the index and the files. It is made
// anew if that is asked for: nothing is stored only there.
func (a *app) indexDrift(ctx context.Context, x *index.Index, path string, f doctorFlags, w *ward, odd int) error {
	n := 0
	first := ""
	for d, err := range x.Check(ctx) {
		if errors.Is(err, index.ErrNoIndex) {
			return nil
		}
		if err != nil && ctx.Err() != nil {
			return err
		}
		if err != nil {
			d = index.Difference{Path: path, What: sentence(err)}
		}
		if n++; n == 1 {
			first = at(d.Path, d.Line) + " " + d.What
		}
	}
	out := session.Finding{Check: "index", State: session.HealthOK, Path: path, Detail: "agrees with the files"}
	switch {
	case n == 0 && odd > 0:
		return nil
	case n > 0 && f.fix:
		rep, err := x.Rebuild(ctx)
		if err != nil {
			return err
		}
		out.State, out.Detail = session.HealthBad, fmt.Sprintf("differed from the files in %s and was made anew", count(n, "place"))
		if out.Fixed = !rep.Busy && rep.Unwritten == nil; !out.Fixed {
			out.Detail = "differs from the files, and could not be written now"
		}
	case n > 0:
		out.State, out.Detail = session.HealthBad, fmt.Sprintf("differs from the files in %s, the first: %s", count(n, "place"), first)
		out.Fix = fixCommand
	}
	return w.take(out)
}

// checkHistory asks whether history.db can be read and its search agrees with
// its prompts. That is asked of a copy, since SQLite asks by writing.
func (a *app) checkHistory(ctx context.Context, home scope.Home, f doctorFlags, w *ward) error {
	path := home.HistoryDB()
	out := session.Finding{Check: "history", State: session.HealthOK, Path: path, Detail: "can be read, and its search agrees with it"}
	if !a.isThere(path) {
		out.Detail = "there is none yet: the first prompt makes it"
		return w.take(out)
	}
	if n := a.pendingPrompts(path); n > 0 && !f.fix {
		err := w.take(session.Finding{Check: "history", State: session.HealthWarn, Path: path, Fix: fixCommand,
			Detail: count(n, "file") + " of prompts beside it wait to be stored, which the next program that adds one does"})
		if err != nil {
			return err
		}
	}
	if f.fix {
		return a.healHistory(ctx, path, w, out)
	}
	at := path
	copied, remove, err := a.copyHistory(ctx, path)
	if err == nil {
		at = copied
		defer remove()
	}
	if err == nil {
		out, err = historyState(ctx, a.fsys, at, out)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		out = historyFault(out, err)
	}
	return w.take(out)
}

// historyState checks the history at a path that may be written.
func historyState(ctx context.Context, fsys storage.FS, path string, out session.Finding) (session.Finding, error) {
	h, err := history.Open(ctx, fsys, path, history.Options{})
	if err != nil {
		return out, err
	}
	inStep, err := h.Check(ctx)
	if !inStep && err == nil {
		out.State, out.Fix = session.HealthBad, fixCommand
		out.Detail = "its search does not agree with its prompts, so that some are not found; no prompt is lost"
	}
	return out, errors.Join(err, h.Close())
}

func historyFault(out session.Finding, err error) session.Finding {
	switch {
	case errors.Is(err, history.ErrDamaged):
		out.State, out.Detail = session.HealthBad, "is damaged, and left as it is; the prompts of sessions are found without it"
		out.Fix = "gjc-index history export, then move it aside and use gjc-index history import"
	case errors.Is(err, errNotChecked), errors.Is(err, history.ErrBusy):
		out.State, out.Detail = session.HealthWarn, "is being written all the time, and was not checked"
	default:
		out.State, out.Detail = session.HealthWarn, "can't be checked: "+sentence(err)
	}
	return out
}

// healHistory stores prompts that wait and makes the search anew if it must be.
func (a *app) healHistory(ctx context.Context, path string, w *ward, out session.Finding) error {
	waiting := a.pendingPrompts(path)
	h, err := history.Open(ctx, a.fsys, path, history.Options{Now: a.now})
	if err == nil {
		var rebuilt bool
		rebuilt, err = h.Heal(ctx)
		if rebuilt {
			out.State, out.Fixed, out.Detail = session.HealthBad, true, "its search did not agree with its prompts and was made anew; no prompt was touched"
		}
		err = errors.Join(err, h.Close())
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		out = historyFault(out, err)
	}
	if left := a.pendingPrompts(path); waiting > left {
		fixed := session.Finding{Check: "history", State: session.HealthWarn, Path: path, Fixed: true, Detail: "prompts that waited beside it are stored"}
		if err := w.take(fixed); err != nil {
			return err
		}
	}
	return w.take(out)
}

// pendingPrompts counts the files of prompts that are not stored yet.
func (a *app) pendingPrompts(path string) int {
	names, _ := a.fsys.ReadDir(filepath.Dir(path)) // none is told of elsewhere
	n := 0
	for _, e := range names {
		if strings.HasPrefix(e.Name, filepath.Base(path)+".") && strings.HasSuffix(e.Name, ".pending") {
			n++
		}
	}
	return n
}

// errNotChecked is a database that changed whenever it was copied.
var errNotChecked = errors.New("changes all the time")

// copyTries is how often a copy is made of what changes meanwhile.
const copyTries = 3

// copyHistory copies the database and its log to a directory of its own.
func (a *app) copyHistory(ctx context.Context, path string) (copied string, remove func(), err error) {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	dir := filepath.Join(os.TempDir(), "gjc-index-doctor-"+hex.EncodeToString(b[:]))
	if err := a.fsys.Mkdir(dir); err != nil {
		return "", nil, err
	}
	remove = func() {
		names, _ := a.fsys.ReadDir(dir)
		for _, e := range names {
			_ = a.fsys.Remove(filepath.Join(dir, e.Name)) // what stays is the system's to clean
		}
		_ = a.fsys.Remove(dir)
	}
	copied = filepath.Join(dir, filepath.Base(path))
	for range copyTries {
		before := a.stamps(path)
		for _, end := range []string{"", "-wal"} {
			if err = a.copyOne(ctx, path+end, copied+end); err != nil {
				remove()
				return "", nil, err
			}
		}
		if a.stamps(path) == before {
			return copied, remove, nil
		}
		_ = errors.Join(a.fsys.Remove(copied), a.fsys.Remove(copied+"-wal")) // copied anew
	}
	remove()
	return "", nil, errNotChecked
}

// stamps tell whether a database was written meanwhile.
func (a *app) stamps(path string) (s [2][2]int64) {
	for i, end := range []string{"", "-wal"} {
		if info, err := a.fsys.Lstat(path + end); err == nil {
			s[i] = [2]int64{info.Size, info.ModTime}
		}
	}
	return s
}

func (a *app) copyOne(ctx context.Context, from, to string) error {
	f, err := a.fsys.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	return storage.Publish(ctx, a.fsys, to, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}
