package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// found is one session that a command works on. Of a huge one tree holds the
// entries' places only, and entry reads one when it is asked for.
type found struct {
	ref       string // as the user gave it
	row       index.Row
	tree      *jsonl.Tree
	present   *jsonl.Tree // what the file itself holds, if tree has archived entries too
	malformed int         // lines that could not be read
	firstBad  int         // the first of them
	recovered int
	entry     func(e *jsonl.Entry) (*jsonl.Entry, error)
	close     func() error // ends the reading of entries
}

// with calls fn with the session that ref names.
func (a *app) with(ctx context.Context, x *index.Index, ref string, bridge bool, fn func(s found) error) error {
	s, err := a.find(ctx, x, ref, bridge)
	if err != nil {
		return err
	}
	return errors.Join(fn(s), s.close())
}

// find opens the session that ref names. bridge links over lines that were
// lost; what is odd about the file is said on stderr.
func (a *app) find(ctx context.Context, x *index.Index, ref string, bridge bool) (found, error) {
	row, err := a.row(ctx, x, ref)
	if err != nil {
		return found{}, err
	}
	f, ok, err := found{}, false, error(nil)
	if row.Size >= a.huge {
		f, ok, err = a.byLines(ctx, x, row)
	}
	if err == nil && !ok {
		f, err = a.load(ctx, row, bridge)
	}
	if err == nil {
		f.ref = ref
		a.sayRefused(row)
		a.warn(f)
	}
	return f, err
}

// refusedMark is how the index begins to say that it refuses a file.
const refusedMark = "refused: "

// unlisted says why no list has a file that can be read all the same; "" if one
// may have it.
func (a *app) unlisted(path string, info storage.Info) string {
	if info.Kind != storage.Regular {
		return ""
	}
	if info.Links > 1 {
		return "has more than one link"
	}
	dir, err := a.sessionsDir()
	if err != nil {
		return ""
	}
	rel, err := filepath.Rel(dir, filepath.Dir(path))
	if err != nil || !filepath.IsLocal(rel) || realPath(filepath.Dir(path)) == filepath.Join(realPath(dir), rel) {
		return ""
	}
	return "lies behind a symbolic link"
}

// sayRefused says of a file that was asked for by its name that no list and no
// search looks into it, and why.
func (a *app) sayRefused(row index.Row) {
	if row.State == index.StateRefused {
		a.note("%s %s: lists and searches leave it out", row.Path, strings.TrimPrefix(row.Damage, refusedMark))
	}
}

// load reads the whole file.
func (a *app) load(ctx context.Context, row index.Row, bridge bool) (found, error) {
	t, err := jsonl.Load(ctx, a.fsys, row.Path, jsonl.LoadOptions{MaxLine: a.maxLine})
	if err != nil {
		return found{}, loadError(row.Path, err)
	}
	t.Upgrade(nil)
	if row.ID == "" {
		row = rowOf(row.Path, t)
	}
	f := found{
		row: row, tree: t.Tree(bridge), malformed: t.MalformedTotal, recovered: t.RecoveredTotal,
		entry: func(e *jsonl.Entry) (*jsonl.Entry, error) { return e, nil },
		close: func() error { return nil },
	}
	if f.malformed > 0 {
		f.firstBad = t.Malformed[0].Line
	}
	return f, nil
}

// rowOf is what a command needs of a file that the index does not know.
func rowOf(path string, t *jsonl.Transcript) index.Row {
	s := t.Summary()
	row := index.Row{
		ID: s.ID, Path: path, Cwd: s.Cwd, Title: s.Title, HasTitle: s.HasTitle, FirstPrompt: s.FirstMessage,
		Messages: s.Messages, Entries: s.Entries, Size: t.Size, Version: t.Stored, State: index.StateOK,
	}
	if created, ok := jsonl.ParseDate(t.Header.Timestamp()); ok {
		row.Created = millis(created)
	}
	return row
}

// loadError says in one sentence why a file can't be read as a session.
func loadError(path string, err error) error {
	var version *jsonl.VersionError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, jsonl.ErrTooNew) && errors.As(err, &version):
		return fmt.Errorf("%s was written by a newer program (version %s): this one reads up to version %d", path, version.Version.JSON(), jsonl.CurrentVersion)
	case errors.As(err, &version):
		return fmt.Errorf("%s is damaged: its version can be none; gjc-index verify says more", path)
	case errors.Is(err, jsonl.ErrNotTranscript) && strings.Contains(err.Error(), "empty"):
		return fmt.Errorf("%s is empty", path)
	case errors.Is(err, jsonl.ErrNotTranscript):
		return fmt.Errorf("%s is damaged: it has no valid header; gjc-index verify says more", path)
	}
	return fmt.Errorf("read %s: %s%w", path, cause(err), silent{err})
}

// cause is the last word of an error that is told beside its path.
func cause(err error) string {
	if why := reason(err); why != "" {
		return why
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file"
	}
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}

// row finds a session, with words for people where there is none or several.
// The path of a session file outside the home is taken too.
func (a *app) row(ctx context.Context, x *index.Index, ref string) (index.Row, error) {
	row, err := x.Find(ctx, ref)
	var several *index.AmbiguousError
	switch {
	case errors.As(err, &several):
		if copied, ok := copyOfOlder(several); ok {
			return copied, nil
		}
		return row, fmt.Errorf("%q could be any of %s: give more of the id, or the path%w", ref, count(several.Total, "session"), silent{err})
	case !errors.Is(err, fs.ErrNotExist):
		return row, err
	case strings.ContainsRune(ref, filepath.Separator) || strings.HasSuffix(ref, ".jsonl"):
		return a.fileRow(ref)
	case !canBeID(ref):
		return row, fmt.Errorf("%q is no session id; gjc-index list shows all%w", ref, silent{session.ErrBadID})
	}
	return row, fmt.Errorf("no session %q; gjc-index list shows all%w", ref, silent{fs.ErrNotExist})
}

// fileRow is a session file that the index does not know.
func (a *app) fileRow(ref string) (index.Row, error) {
	if !strings.Contains(filepath.Base(ref), ".jsonl") || strings.ContainsRune(ref, 0) {
		return index.Row{}, fmt.Errorf("%q is no session id, and no session file: their names end in .jsonl%w", ref, silent{session.ErrBadID})
	}
	path, err := a.absolute(ref)
	if err != nil {
		return index.Row{}, err
	}
	info, err := a.fsys.Lstat(path)
	if err != nil {
		return index.Row{}, loadError(path, err)
	}
	row := index.Row{Path: path, Size: info.Size, Estimated: true}
	if why := a.unlisted(path, info); why != "" {
		row.State, row.Damage = index.StateRefused, refusedMark+why
	}
	return row, nil
}

// canBeID reports whether text can begin a session's id.
func canBeID(text string) bool {
	if text == "" || len(text) > 128 || text[0] == '.' || text[0] == '-' {
		return false
	}
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-') {
			return false
		}
	}
	return !isDevice(text)
}

// isDevice reports a name that means a device on Windows.
func isDevice(text string) bool {
	name, _, _ := strings.Cut(strings.ToUpper(text), ".")
	switch name {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) && name[3] >= '0' && name[3] <= '9'
}

// listCandidates shows what an ambiguous id could mean.
func (a *app) listCandidates(e *index.AmbiguousError) {
	for _, r := range e.Candidates {
		fmt.Fprintf(a.stderr, "  %s  %s  %s\n      %s\n", plain(r.ID), ago(a.now(), r.Active), fit(titleOf(r), 60), plain(r.Path))
	}
	if more := e.Total - len(e.Candidates); more > 0 {
		fmt.Fprintf(a.stderr, "  and %s more\n", comma(more))
	}
}

// warn says what a person must know of a damaged file: how many lines were
// lost, and where the thread breaks.
func (a *app) warn(f found) {
	if n := f.malformed; n > 0 {
		a.leftOut += n
		a.note("%s of %s could not be read, the first is line %d; gjc-index verify %s lists them", count(n, "line"), f.ref, f.firstBad, f.ref)
	}
	if f.recovered > 0 {
		a.note("damaged: %s; the records found there were recovered", count(f.recovered, "line"))
	}
	for _, w := range f.tree.Warnings() {
		switch w.Kind {
		case jsonl.OrphanParent:
			a.orphan(w.Line)
		case jsonl.BridgedParent:
			a.note("line %d followed a line that was lost; it was linked to the record before (--strict leaves the gap)", w.Line)
		case jsonl.FirstKeptMissing:
			a.note("line %d: a compaction keeps entries from one on that is not there: only its summary is left of what came before", w.Line)
		}
	}
}

func (a *app) orphan(line int) {
	a.note("line %d follows an entry that is not in the file: what came before it is not connected", line)
}

// leaf is the end of the path that an entry id names; "" is the last entry.
func (f found) leaf(id string) (jsonl.Leaf, error) {
	if id == "" {
		return jsonl.LeafLast(), nil
	}
	if f.tree.Entry(id) == nil {
		return jsonl.Leaf{}, noEntry(f.row, id)
	}
	return jsonl.LeafAt(id), nil
}

func noEntry(row index.Row, id string) error {
	if row.ID == "" { // the index doesn't know the file
		row.ID = filepath.Base(row.Path)
	}
	return fmt.Errorf("session %s has no entry %q; gjc-index tree %s shows them%w", row.ID, id, row.ID, silent{fs.ErrNotExist})
}

// entryJSON is an entry as the command prints it: whole, but for its event id.
func entryJSON(e *jsonl.Entry) []byte {
	o := e.Value()
	if o.Has("event_id") {
		o = o.Clone()
		o.Delete("event_id")
	}
	return jsonl.AppendJSON(nil, jsonl.ObjectValue(o))
}
