package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

func message(role, text string) jsonl.Value {
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "role", Value: jsonl.StringValue(role)},
		jsonl.Member{Key: "content", Value: jsonl.StringValue(text)},
	))
}

// oldVersion is a session of version 1.
const oldVersion = `{"type":"session","id":"old","timestamp":"2026-02-10T08:00:00.000Z","cwd":"/w"}
{"type":"message","timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"user","content":"old question"}}
{"type":"message","timestamp":"2026-02-10T08:02:00.000Z","message":{"role":"assistant","content":"old answer"}}
`

// writer plays the life of some sessions in a directory and remembers what
// became of each text that it appended.
type writer struct {
	fsys     storage.FS
	dir      string
	opt      Options
	outcomes map[string]jsonl.Outcome
	acked    func(text string)
	fail     bool // go on after an error
	err      error
}

func newWriter(fsys storage.FS, dir string, opt Options) *writer {
	opt.Home = scope.HomeAt(filepath.Join(dir, "agent"))
	opt.ProjectDir = dir
	opt.settle = time.Nanosecond
	return &writer{fsys: fsys, dir: dir, opt: opt, outcomes: map[string]jsonl.Outcome{}, acked: func(string) {}}
}

func (w *writer) sessions() string { return filepath.Join(w.dir, "s") }

// oldFile puts a session of version 1 into the directory.
func (w *writer) oldFile(t testing.TB) {
	t.Helper()
	noErr(t, storage.MkdirAll(w.fsys, w.sessions()))
	noErr(t, storage.Publish(context.Background(), w.fsys, filepath.Join(w.sessions(), "old.jsonl"), 0o600, func(f io.Writer) error {
		_, err := io.WriteString(f, oldVersion)
		return err
	}))
}

func noErr(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// append appends messages in one batch, the texts of which are kept in mind.
func (w *writer) append(s *Session, role string, texts ...string) {
	if s == nil || w.err != nil {
		return
	}
	var batch []New
	for _, text := range texts {
		batch = append(batch, NewMessage(message(role, text)))
	}
	r, err := s.AppendBatch(context.Background(), batch...)
	for _, text := range texts {
		w.outcomes[text] = r.Outcome
		if r.Outcome == jsonl.Committed {
			w.acked(text)
		}
	}
	w.note(err)
}

// note keeps the first error, unless errors are expected.
func (w *writer) note(err error) {
	if err != nil && !w.fail && w.err == nil {
		w.err = err
	}
}

// committed says that what was deferred is on disk now.
func (w *writer) committed(texts ...string) {
	for _, text := range texts {
		if w.err == nil && w.outcomes[text] == jsonl.Deferred {
			w.outcomes[text] = jsonl.Committed
			w.acked(text)
		}
	}
}

// run plays it all: create, append, batch, title, rewrite, fork, migrate.
func (w *writer) run() error {
	ctx := context.Background()
	st := NewStore(w.fsys, w.opt)
	s, err := st.Create(ctx, w.dir, CreateOptions{Dir: w.sessions()})
	w.note(err)
	w.append(s, "user", "question")
	w.append(s, "assistant", "answer")
	if w.outcomes["answer"] == jsonl.Committed {
		w.committed("question")
	}
	w.append(s, "user", "one", "two", "three")
	if s != nil && w.err == nil {
		_, err := s.SetTitle(ctx, "Title", TitleByUser)
		w.note(err)
		w.note(s.RewriteEntries(ctx, nil))
		w.append(s, "user", "after the rewrite")
		if e, err := s.LeafEntry(ctx); err == nil && e != nil {
			id, _ := e.ID()
			w.note(s.Branch(ctx, id))
		}
		_, _, err = s.Fork(ctx)
		w.note(err)
		w.append(s, "user", "in the fork")
		w.note(s.Close())
	}
	old, err := st.Open(ctx, filepath.Join(w.sessions(), "old.jsonl"), OpenOptions{})
	w.note(err)
	w.append(old, "user", "after the upgrade")
	if old != nil {
		w.note(old.Close())
	}
	return w.err
}

// found is what a directory of sessions holds.
type found struct {
	texts   map[string]int // how often each text stands in the file that has it most often
	damaged map[string]int // damaged lines of each file
	events  map[jsonl.EventID]string
	files   []string
}

// look reads all sessions of a directory.
func look(t *testing.T, fsys storage.FS, dir string) found {
	t.Helper()
	f := found{texts: map[string]int{}, damaged: map[string]int{}, events: map[jsonl.EventID]string{}}
	list, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return f
	}
	noErr(t, err)
	for _, e := range list {
		if !scope.IsTranscriptName(e.Name) {
			continue
		}
		tr, err := jsonl.Load(t.Context(), fsys, filepath.Join(dir, e.Name), jsonl.LoadOptions{})
		if err != nil {
			t.Errorf("load %s: %v", e.Name, err)
			continue
		}
		f.files = append(f.files, e.Name)
		if in := jsonl.Inspect(t.Context(), fsys, filepath.Join(dir, e.Name), jsonl.LoadOptions{}); !in.Verdict.Openable() && len(tr.Malformed)+len(tr.Recovered) == 0 {
			t.Errorf("%s is %s for the strict reader: %v", e.Name, in.Verdict, in.Cause)
		}
		f.damaged[e.Name] = len(tr.Malformed) + len(tr.Recovered)
		here := map[string]int{}
		for _, entry := range tr.Entries() {
			here[entry.Value().Get("message").Get("content").Str()]++
			if id, ok := entry.EventID(); ok {
				if other := f.events[id]; other != "" {
					t.Errorf("event id %v in %s and %s", id, other, e.Name)
				}
				f.events[id] = e.Name
			}
		}
		for text, n := range here {
			f.texts[text] = max(f.texts[text], n)
		}
	}
	return f
}

// afterwards checks that all that was promised is there, nothing twice and at
// most one line damaged, and that every session can be written on.
func afterwards(t *testing.T, fsys storage.FS, dir string, promised []string) {
	t.Helper()
	w := newWriter(fsys, dir, Options{})
	f := look(t, fsys, w.sessions())
	for _, text := range promised {
		if f.texts[text] != 1 {
			t.Errorf("%q stands %d times, want once", text, f.texts[text])
		}
	}
	for text, n := range f.texts {
		if n > 1 {
			t.Errorf("%q stands %d times", text, n)
		}
	}
	for name, n := range f.damaged {
		if n > 1 {
			t.Errorf("%s has %d damaged lines, want one at most", name, n)
		}
	}
	st := NewStore(fsys, w.opt)
	for i, name := range f.files {
		s, err := st.Open(t.Context(), filepath.Join(w.sessions(), name), OpenOptions{})
		if err != nil {
			t.Errorf("reopen %s: %v", name, err)
			continue
		}
		if _, err := s.AppendMessage(t.Context(), message("user", fmt.Sprintf("again %d", i))); err != nil {
			t.Errorf("append to %s again: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("close %s: %v", name, err)
		}
	}
	again := look(t, fsys, w.sessions())
	for i := range f.files {
		if n := again.texts[fmt.Sprintf("again %d", i)]; n != 1 {
			t.Errorf("what was appended after reopening stands %d times", n)
		}
	}
}

// promises are the texts in the order in which run gets them committed.
var promises = strings.Split("answer|question|one|two|three|after the rewrite|in the fork|after the upgrade", "|")
