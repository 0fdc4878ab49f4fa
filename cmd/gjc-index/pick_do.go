package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/redact"
)

// overheard is what a command would have printed.
type overheard struct{ out, notes bytes.Buffer }

// text is the notes, on one line.
func (s *overheard) text() string {
	var lines []string
	for line := range strings.Lines(s.notes.String()) {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "gjc-index: "))
	}
	return strings.Join(lines, "; ")
}

// aside is the command as it would run by itself, with what it prints kept.
func (a *app) aside() (*app, *overheard) {
	s := &overheard{}
	return &app{
		stdin: strings.NewReader(""), out: bufio.NewWriter(&s.out), stderr: &s.notes,
		fsys: a.fsys, now: a.now, env: a.env, screen: screen{width: defaultWidth},
		home: a.home, sessionDir: a.sessionDir, config: a.config, noRefresh: true, maxLine: a.maxLine,
		projects: map[string]string{}, noted: map[string]bool{}, huge: a.huge,
	}, s
}

// act does what the command of its name does, and says what came of it.
func (p *pickIndex) act(ctx context.Context, act pickAct, item pickItem, arg string) pickDone {
	end, err := p.begin()
	if err != nil {
		return pickDone{text: "the picker is closed", bad: true}
	}
	defer end()
	b, s := p.app.aside()
	done, err := b.picked(context.WithoutCancel(ctx), p, act, item, arg) // what is begun is done
	if err != nil {
		return pickDone{text: refusedAct(item, err), bad: true}
	}
	p.generation.Add(1)
	if err := b.out.Flush(); err == nil && act == actArchive {
		_, done.text, _ = strings.Cut(strings.TrimSpace(s.out.String()), "  ")
	}
	if notes := s.text(); notes != "" {
		done.text += "; " + notes
	}
	return done
}

func (a *app) picked(ctx context.Context, p *pickIndex, act pickAct, item pickItem, arg string) (pickDone, error) {
	write := writeFlags{}
	name := "“" + fit(titleOf(item.Row), 40) + "”"
	switch act {
	case actPin:
		if item.pinned {
			return pickDone{text: "no longer pinned: " + name}, a.pin(ctx, item.Path, false)
		}
		return pickDone{text: "pinned, so that it is never pruned: " + name}, a.pin(ctx, item.Path, true)
	case actTitle:
		return pickDone{text: "renamed to “" + fit(plain(session.CleanTitle(arg)), 60) + "”"}, a.title(ctx, item.Path, arg, write)
	case actLabel:
		return a.pickLabel(ctx, item, strings.TrimSpace(arg), write)
	case actExport:
		return a.pickExport(ctx, p, item, arg)
	case actArchive:
		defer debug.SetGCPercent(debug.SetGCPercent(shortGC)) // archiving sets its own
		return pickDone{}, a.archiveOne(ctx, item.Path, archiveFlags{})
	case actTrash:
		return a.pickTrash(ctx, item)
	}
	st, err := a.lifeStore()
	if err != nil {
		return pickDone{}, err
	}
	path, err := st.Restore(ctx, filepath.Base(item.found))
	if errors.Is(err, scope.ErrConflict) {
		err = fmt.Errorf("something has its name now; it stays in the trash%w", silent{err})
	}
	return pickDone{text: "brought back: " + name, path: path}, err
}

func (a *app) pickLabel(ctx context.Context, item pickItem, text string, write writeFlags) (pickDone, error) {
	if err := mustBeText("the label", text); err != nil {
		return pickDone{}, err
	}
	if text == "" {
		return pickDone{text: "the label is gone"}, a.label(ctx, item.Path, item.found, jsonl.Value{}, write)
	}
	return pickDone{text: "labelled “" + fit(plain(text), 60) + "”"}, a.label(ctx, item.Path, item.found, jsonl.StringValue(text), write)
}

// pickExport writes the session to a file, whose name says in which format.
func (a *app) pickExport(ctx context.Context, p *pickIndex, item pickItem, out string) (pickDone, error) {
	user, _ := os.UserHomeDir() // without one ~ is a name
	out = homePath(strings.TrimSpace(out), user)
	if out == "" || out == "-" {
		return pickDone{}, errors.New("give the name of a file to export to")
	}
	if a.isDir(out) {
		out = filepath.Join(out, p.exportName(item))
	}
	f := exportFlags{out: out}
	format, err := exportFormat(f)
	if err != nil {
		return pickDone{}, err
	}
	if format.Whole() && strings.HasSuffix(out, ".zst") {
		return pickDone{}, errors.New("an archive is made by gjc-index export --format archive")
	}
	x, err := p.open(ctx)
	if err != nil {
		return pickDone{}, err
	}
	e := exporting{app: a, x: x, f: f, format: format, redact: redact.Count, told: func(int64) {}}
	if _, err := e.one(ctx, item.Row, out); err != nil {
		return pickDone{}, err
	}
	return pickDone{text: "exported to " + plain(out)}, nil
}

func (a *app) pickTrash(ctx context.Context, item pickItem) (pickDone, error) {
	t, err := a.target(ctx, item.Path)
	if err != nil {
		return pickDone{}, err
	}
	st, err := a.store(writeFlags{migration: string(scope.CopyRetain)})
	if err != nil {
		return pickDone{}, err
	}
	trash, _, err := removed(ctx, st, t.Path, false)
	if err != nil {
		return pickDone{}, deleteError(t, deleteFlags{}, err)
	}
	return pickDone{text: "moved to the trash: “" + fit(titleOf(item.Row), 40) + "” (^Z brings it back)", trash: *trash}, nil
}

// refusedAct says in one line why nothing was done.
func refusedAct(item pickItem, err error) string {
	var busy *session.BusyError
	switch {
	case errors.As(err, &busy) && busy.PID != 0:
		return fmt.Sprintf("process %d on %s has been writing it since %s: nothing was changed", busy.PID, plain(busy.Host), plain(busy.Since))
	case errors.As(err, &busy):
		return "another process is writing it: nothing was changed"
	case errors.Is(err, session.ErrPinned):
		return "it is pinned: alt+p unpins it; nothing was changed"
	case errors.Is(err, session.ErrProtected):
		return "another process reads or writes it: nothing was changed"
	}
	return plain(sentence(err))
}
