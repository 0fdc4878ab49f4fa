package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func (b *bench) entries(s *Session) []*jsonl.Entry {
	b.t.Helper()
	entries, err := s.Entries(b.t.Context())
	noErr(b.t, err)
	return entries
}

func (b *bench) contents(s *Session) []string {
	b.t.Helper()
	var texts []string
	for _, e := range b.entries(s) {
		texts = append(texts, e.Value().Get("message").Get("content").Str())
	}
	return texts
}

// onDisk are the texts of a transcript.
func (b *bench) onDisk(path string) []string {
	b.t.Helper()
	tr, err := jsonl.Load(b.t.Context(), b.fsys, path, jsonl.LoadOptions{})
	noErr(b.t, err)
	var texts []string
	for _, e := range tr.Entries() {
		if e.Type() == "message" {
			texts = append(texts, e.Value().Get("message").Get("content").Str())
		}
	}
	return texts
}

func TestEveryNewEntryEndsInItsEventID(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "user", "question")
	b.say(s, "assistant", "answer")
	_, err := s.SetTitle(t.Context(), "Title", TitleByUser)
	noErr(t, err)
	b.say(s, "user", "next")
	var ends []string
	for line := range strings.Lines(b.read(s.Path())) {
		end := ""
		if i := strings.LastIndex(line, `,"event_id":"`); i >= 0 {
			end = strings.TrimSpace(line[i:])
		}
		ends = append(ends, end)
	}
	want := []string{"", `,"event_id":"0000000000000001"}`, `,"event_id":"0000000000000002"}`, "", `,"event_id":"0000000000000003"}`}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Errorf("ends of lines (-want +got):\n%s", diff)
	}
	if got := b.read(b.opt.Home.EventSequence()); got != "0000000000000101\n" {
		t.Errorf("sequence file = %q, want the end of the first block", got)
	}
}

func TestEventIDsStayOutOfTheContext(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "user", "question")
	b.say(s, "assistant", "answer")
	for _, s := range []*Session{s, b.open(s.Path())} {
		c, err := s.Context(t.Context())
		noErr(t, err)
		if text := c.Value().JSON(); strings.Contains(text, "event_id") || !strings.Contains(text, "answer") {
			t.Errorf("context = %s", text)
		}
	}
}

func TestABatchIsAllOrNothing(t *testing.T) {
	hole := jsonl.ObjectValue(jsonl.NewObj(jsonl.Member{Key: "list", Value: jsonl.ArrayValue(jsonl.Value{})}))
	tests := []struct {
		name string
		bad  New
		want any
	}{
		{"an undefined element", NewCustom("x", hole), new(*jsonl.UndefinedItemError)},
		{"a message that is none", NewMessage(jsonl.StringValue("text")), new(*EntryError)},
		{"a type of another program", func(b jsonl.Base, _ string) *jsonl.Obj {
			return jsonl.NewObj(jsonl.Member{Key: "type", Value: jsonl.StringValue("their_type")})
		}, new(*EntryError)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			s := b.create()
			b.say(s, "assistant", "before")
			before := b.read(s.Path())
			r, err := s.AppendBatch(t.Context(), NewMessage(message("user", "good")), tt.bad)
			if !errors.As(err, tt.want) || r.Outcome != jsonl.RolledBack {
				t.Errorf("AppendBatch() = %v, %v; want %T, rolled back", r.Outcome, err, tt.want)
			}
			if b.read(s.Path()) != before || len(b.contents(s)) != 1 {
				t.Error("something of the batch was kept")
			}
			b.say(s, "user", "after") // a bad entry stops nothing
		})
	}
}

func TestWhatIsRedactedIsNeverWritten(t *testing.T) {
	b := newBench(t, Options{Redact: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") }})
	s := b.create()
	b.say(s, "assistant", "the password is hunter2")
	if text := b.read(s.Path()); strings.Contains(text, "hunter2") || !strings.Contains(text, "[secret]") {
		t.Errorf("file = %q", text)
	}
	if got := b.contents(s); got[0] != "the password is [secret]" {
		t.Errorf("in memory = %q", got)
	}
}

func TestACancelledCallStopsNothing(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "assistant", "before")
	_, err := s.AppendMessage(cancelled(t), message("user", "never"))
	var failed *jsonl.AppendError
	if !errors.As(err, &failed) || failed.Outcome != jsonl.RolledBack {
		t.Errorf("append = %v, want rolled back", err)
	}
	b.say(s, "user", "after")
	if diff := cmp.Diff([]string{"before", "after"}, b.onDisk(s.Path())); diff != "" {
		t.Errorf("on disk (-want +got):\n%s", diff)
	}
}

func TestSessionsOfOneStoreShareAFile(t *testing.T) {
	b := newBench(t, Options{})
	path := b.file("a.jsonl", sessionText("a", b.dir))
	one, two := b.open(path), b.open(path)
	b.say(one, "user", "from one")
	b.say(two, "user", "from two")
	noErr(t, one.RewriteEntries(t.Context(), nil))
	b.say(two, "user", "two after the rewrite")
	noErr(t, two.RewriteEntries(t.Context(), nil))
	b.say(one, "user", "one after the rewrite")
	noErr(t, one.Close())
	noErr(t, two.Close())
	count := map[string]int{}
	for _, text := range b.onDisk(path) {
		count[text]++
	}
	want := map[string]int{"Sort the tide tables": 1, "": 1, "from one": 1, "from two": 1, "two after the rewrite": 1, "one after the rewrite": 1}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}

func TestTheLeaseStaysUntilTheLastClone(t *testing.T) {
	b := newBench(t, Options{})
	path := b.file("a.jsonl", sessionText("a", b.dir))
	s := b.open(path)
	clone, err := s.Clone()
	noErr(t, err)
	other := NewStore(b.fsys, b.opt)
	noErr(t, s.Close())
	noErr(t, s.Close()) // the second does nothing
	if _, err := other.Open(t.Context(), path, OpenOptions{}); !errors.Is(err, ErrBusy) {
		t.Errorf("Open() while a clone is open = %v, want ErrBusy", err)
	}
	if _, err := s.AppendMessage(t.Context(), message("user", "x")); !errors.Is(err, ErrClosed) {
		t.Errorf("append to a closed handle = %v, want ErrClosed", err)
	}
	b.say(clone, "user", "from the clone")
	noErr(t, clone.Close())
	again, err := other.Open(t.Context(), path, OpenOptions{})
	if err != nil {
		t.Fatalf("Open() after the last Close = %v", err)
	}
	noErr(t, again.Close())
}

// TestCloseGivesTheLeaseUpLast fails each operation of Close in turn: whatever
// fails, the session can be opened afterwards and has what was committed.
func TestCloseGivesTheLeaseUpLast(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m := storage.NewMemory()
		noErr(t, storage.MkdirAll(m, storagetest.CrashDir()))
		w := newWriter(m, storagetest.CrashDir(), Options{})
		armed := false
		plan.NeverFor = func(storagetest.Op, string) bool { return !armed }
		f := storagetest.NewFault(m, plan)
		w.fsys = f
		s, err := NewStore(f, w.opt).Create(t.Context(), w.dir, CreateOptions{Dir: w.sessions()})
		noErr(t, err)
		_, err = s.AppendMessage(t.Context(), message("assistant", "answer"))
		noErr(t, err)
		armed = true
		_ = s.Close()
		armed = false
		afterwards(t, m, w.dir, []string{"answer"})
		return f
	})
}

func TestDamagedLinesAreKeptOnceBeforeARewrite(t *testing.T) {
	b := newBench(t, Options{})
	before := sessionText("a", b.dir) + "garbage\n"
	path := b.file("a.jsonl", before)
	s := b.open(path)
	b.say(s, "user", "appending keeps nothing aside")
	if aside, _ := filepath.Glob(path + ".*.damaged"); len(aside) != 0 {
		t.Errorf("set aside %v", aside)
	}
	grown := b.read(path)
	for range 2 {
		noErr(t, s.RewriteEntries(t.Context(), nil))
	}
	aside, _ := filepath.Glob(path + ".*.damaged")
	if len(aside) != 1 || b.read(aside[0]) != grown {
		t.Errorf("set aside %v, want the file as it was, once", aside)
	}
}

func TestOpeningForAppendingReadsTheEndOnly(t *testing.T) {
	b := newBench(t, Options{})
	var text strings.Builder
	text.WriteString(sessionText("a", b.dir))
	for i := range 2000 {
		fmt.Fprintf(&text, `{"type":"custom","customType":"filler","data":"%s","id":"f%d","parentId":null,"timestamp":"2026-02-10T08:03:00.000Z"}`+"\n", strings.Repeat("x", 1000), i)
	}
	text.WriteString(`{"type":"header_patch","patch":{"title":"Late title"}}` + "\n")
	path := b.file("a.jsonl", text.String())
	var read int
	count := &storagetest.Hook{FS: b.fsys, Before: func(op storagetest.Op, name string) error {
		if op == storagetest.OpRead && name == path {
			read++
		}
		return nil
	}}
	st := NewStore(count, b.opt)
	s, err := st.Open(t.Context(), path, OpenOptions{AppendOnly: true})
	noErr(t, err)
	id := b.say(s, "user", "appended")
	if len(id) != 16 || read > 20 {
		t.Errorf("id %q after %d reads, want 16 digits and few reads", id, read)
	}
	if title, _ := s.Title(); title != "Late title" {
		t.Errorf("title = %q", title)
	}
	entries, err := s.Entries(t.Context()) // reads the rest now
	noErr(t, err)
	last := entries[len(entries)-1]
	if parent, _ := last.Parent(); len(entries) != 2003 || parent != "f1999" {
		t.Errorf("%d entries, parent of the last %q; want 2003, f1999", len(entries), parent)
	}
	noErr(t, s.Close())
}

func TestOpeningForAppendingReadsTheWholeIfItMust(t *testing.T) {
	tests := []struct {
		name, text string
		parent     string // of the next entry
	}{
		{"an older format", `{"type":"session","version":3,"id":"a","timestamp":"2026-02-10T08:00:00.000Z","cwd":"/w"}
{"type":"message","id":"aa000001","parentId":null,"timestamp":"2026-02-10T08:01:00.000Z","message":{"role":"assistant","content":"x"}}
`, "aa000001"},
		{"no entry", `{"type":"session","version":5,"id":"a","timestamp":"2026-02-10T08:00:00.000Z","cwd":"/w"}` + "\n", ""},
		{"a torn end", sessionText("a", "/w") + `{"type":"message","id":"to`, "aa000002"},
		{"a last line without end", strings.TrimSuffix(sessionText("a", "/w"), "\n"), "aa000002"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			path := b.file("a.jsonl", tt.text)
			s, err := b.Open(t.Context(), path, OpenOptions{AppendOnly: true})
			noErr(t, err)
			b.say(s, "user", "next")
			noErr(t, s.Close())
			tr, err := jsonl.Load(t.Context(), b.fsys, path, jsonl.LoadOptions{})
			noErr(t, err)
			entries := tr.Entries()
			if parent, _ := entries[len(entries)-1].Parent(); parent != tt.parent {
				t.Errorf("parent = %q, want %q", parent, tt.parent)
			}
		})
	}
}

func TestAFailedAutomaticTitleStopsNothing(t *testing.T) {
	for _, source := range []TitleSource{TitleAuto, TitleByUser} {
		t.Run(string(source), func(t *testing.T) {
			b := newBench(t, Options{})
			full := false
			b.fsys = &storagetest.Hook{FS: b.fsys, Before: func(op storagetest.Op, _ string) error {
				if full && op == storagetest.OpWrite {
					return errors.New("no space")
				}
				return nil
			}}
			s := b.create()
			b.say(s, "assistant", "answer")
			full = true
			if set, err := s.SetTitle(t.Context(), "Title", source); set || err == nil {
				t.Errorf("SetTitle() = %v, %v, want an error", set, err)
			}
			full = false
			if _, has := s.Title(); has {
				t.Error("the title was kept in memory")
			}
			_, err := s.AppendMessage(t.Context(), message("user", "next"))
			if stopped := errors.Is(err, ErrLatched); stopped != (source == TitleByUser) {
				t.Errorf("append = %v, want ErrLatched: %v", err, source == TitleByUser)
			}
		})
	}
}

func TestASessionThatIsTooLongForOthersIsSaidSoOnce(t *testing.T) {
	var log bytes.Buffer
	b := newBench(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	work := filepath.Join(filepath.Dir(b.dir), "work")
	noErr(t, os.Mkdir(work, 0o700))
	s, err := b.Create(t.Context(), work, CreateOptions{})
	noErr(t, err)
	b.say(s, "assistant", "answer")
	s.size = managedLimit - 10 // as if it were that long
	for range 3 {
		s.warnOfSize(managedLimit + 1)
		s.size = managedLimit + 1
	}
	if n := strings.Count(log.String(), "too large"); n != 1 {
		t.Errorf("said %d times, want once:\n%s", n, log.String())
	}
	noErr(t, s.Close())
}

func TestAStaleLeafFileGoesWithTheNextAppend(t *testing.T) {
	b := newBench(t, Options{})
	path := b.file("a.jsonl", sessionText("a", b.dir))
	s := b.open(path)
	noErr(t, s.Branch(t.Context(), "aa000001"))
	noErr(t, s.Close())
	only, err := b.Open(t.Context(), path, OpenOptions{AppendOnly: true})
	noErr(t, err)
	b.say(only, "user", "below the chosen leaf")
	noErr(t, only.Close())
	if _, err := os.Lstat(LeafPath(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("leaf file: %v, want none", err)
	}
	entries, err := b.open(path).Entries(t.Context())
	noErr(t, err)
	if parent, _ := entries[2].Parent(); parent != "aa000001" {
		t.Errorf("parent = %q, want the chosen leaf", parent)
	}
}
