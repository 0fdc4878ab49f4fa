package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestTheSequenceGoesOnWhereItsFileSays(t *testing.T) {
	tests := []struct {
		name, text string
		want       jsonl.EventID // 0: refused
	}{
		{"missing", "", 1},
		{"a number", "00000000000000a0\n", 0xa0},
		{"a first writing that was cut off", "0000", 1},
		{"a number without its line end", "00000000000000a0", 1},
		{"upper case", "00000000000000A0\n", 0},
		{"zero", "0000000000000000\n", 0},
		{"more after it", "00000000000000a0\nx", 0},
		{"garbage", "not a number", 0},
		{"the last number", "ffffffffffffffff\n", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			noErr(t, b.prepare())
			if tt.text != "" {
				noErr(t, os.WriteFile(b.opt.Home.EventSequence(), []byte(tt.text), 0o600))
			}
			got, err := b.seq.reserve(t.Context(), 1, "")
			if got != tt.want || (tt.want == 0) != errors.Is(err, ErrSequence) {
				t.Errorf("reserve() = %v, %v, want %v", got, err, tt.want)
			}
			if tt.want == 0 && b.read(b.opt.Home.EventSequence()) != tt.text {
				t.Error("a damaged sequence was changed")
			}
		})
	}
}

func TestALostSequenceGoesOnAboveEveryIDInUse(t *testing.T) {
	line := func(id string) string { return `{"type":"custom","event_id":"` + id + "\"}\n" }
	tests := []struct{ name, file, text string }{
		{"transcript", "agent/sessions/v2-x/a.jsonl", line("0000000000000100")},
		{"child", "agent/sessions/v2-x/a/worker.jsonl", line("0000000000000100")},
		{"archive", "agent/sessions/v2-x/a.archive.ndjson", line("0000000000000100")},
		{"psm log", "agent/sessions/v2-x/a.psm.ndjson", line("0000000000000100")},
		{"sidecar", "agent/sessions/v2-x/a.meta.json", `{"highestEventId":"0000000000000100"}`},
		{"trash", "agent/trash/1-a/a.jsonl", line("0000000000000100")},
		{"damaged line", "agent/sessions/v2-x/a.jsonl", "garbage" + line("0000000000000100")},
		{"directory of the user", "s/b.jsonl", line("0000000000000100")},
		{"far into a file", "agent/sessions/v2-x/a.jsonl", strings.Repeat("x", 256<<10-20) + line("0000000000000100")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			noErr(t, b.prepare())
			path := filepath.Join(filepath.Dir(b.dir), tt.file)
			noErr(t, os.MkdirAll(filepath.Dir(path), 0o700))
			noErr(t, os.WriteFile(path, []byte(tt.text), 0o600))
			got, err := b.seq.reserve(t.Context(), 1, b.dir)
			if want := jsonl.EventID(0x100 + eventGap); err != nil || got != want {
				t.Errorf("reserve() = %v, %v, want %v", got, err, want)
			}
		})
	}
}

func TestADamagedSequenceIsRepairedOnRequest(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "assistant", "answer")
	noErr(t, s.Close())
	kept, err := b.RepairSequence(t.Context())
	if err != nil || kept != "" {
		t.Errorf("RepairSequence() of a good one = %q, %v", kept, err)
	}
	path := b.opt.Home.EventSequence()
	noErr(t, os.WriteFile(path, []byte("garbage of some length"), 0o600))
	st := NewStore(b.fsys, b.opt)
	again, err := st.Create(t.Context(), b.dir, CreateOptions{Dir: filepath.Join(filepath.Dir(b.dir), "agent", "sessions", "v2-x")})
	noErr(t, err)
	if _, err := again.AppendMessage(t.Context(), message("assistant", "x")); !errors.Is(err, ErrSequence) {
		t.Errorf("append = %v, want ErrSequence", err)
	}
	noErr(t, again.Close())
	kept, err = st.RepairSequence(t.Context())
	noErr(t, err)
	if b.read(kept) != "garbage of some length" {
		t.Errorf("the old file was not kept at %q", kept)
	}
	third, err := st.Create(t.Context(), b.dir, CreateOptions{Dir: b.dir})
	noErr(t, err)
	b.say(third, "assistant", "works again")
	noErr(t, third.Close())
}

// TestNoEventIDIsGivenTwiceOverFaults reserves while each operation fails in
// turn, as one process after the other.
func TestNoEventIDIsGivenTwiceOverFaults(t *testing.T) {
	storagetest.EachFault(t, storagetest.FaultPlan{}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
		m := storage.NewMemory()
		noErr(t, storage.MkdirAll(m, storagetest.CrashDir()))
		f := storagetest.NewFault(m, plan)
		given := map[jsonl.EventID]bool{}
		for i := range 6 {
			st := NewStore(f, newWriter(f, storagetest.CrashDir(), Options{}).opt)
			if i == 5 {
				st = NewStore(m, st.opt)
			}
			first, err := st.seq.reserve(t.Context(), 300, "")
			if err != nil {
				if i == 5 {
					t.Errorf("reserve() on a good disk = %v", err)
				}
				continue
			}
			for n := range jsonl.EventID(300) {
				if given[first+n] {
					t.Fatalf("event id %v was given twice", first+n)
				}
				given[first+n] = true
			}
		}
		return f
	})
}

func TestMetadataSpeakOfTheTranscriptAsItIs(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	usage, err := jsonl.ParseString(`{"role":"assistant","content":"answer","provider":"p","model":"m","usage":{"input":3,"output":2,"cacheRead":1,"cacheWrite":0,"cost":{"total":0.5}}}`)
	noErr(t, err)
	b.say(s, "user", "first prompt")
	_, err = s.AppendMessage(t.Context(), usage)
	noErr(t, err)
	_, err = s.SetTitle(t.Context(), "Title", TitleByUser)
	noErr(t, err)
	noErr(t, s.Close())
	fresh := func() Meta {
		m, err := BuildMeta(t.Context(), b.fsys, s.Path())
		noErr(t, err)
		return m
	}
	same := func(when string) {
		t.Helper()
		m, ok, err := ReadMeta(b.fsys, s.Path())
		if want := fresh(); err != nil || !ok || fmt.Sprint(m) != fmt.Sprint(want) {
			t.Errorf("%s: ReadMeta() = %+v, %v, %v\nwant %+v", when, m, ok, err, want)
		}
	}
	same("after Close")
	m := fresh()
	if m.Title != "Title" || m.FirstPrompt != "first prompt" || m.Messages != 2 || m.Entries != 2 || m.HighestEvent != 2 || len(m.Usage) != 1 || m.Usage[0].Cost != 0.5 {
		t.Errorf("metadata = %+v", m)
	}
	again := b.open(s.Path())
	_, err = again.AppendMessage(t.Context(), usage)
	noErr(t, err)
	noErr(t, again.Close())
	same("after appending to a session with metadata")
	f, err := os.OpenFile(s.Path(), os.O_APPEND|os.O_WRONLY, 0)
	noErr(t, err)
	_, err = f.WriteString("{}\n")
	noErr(t, errors.Join(err, f.Close()))
	if _, ok, err := ReadMeta(b.fsys, s.Path()); ok || err != nil {
		t.Errorf("ReadMeta() of another state of the file = %v, %v, want no", ok, err)
	}
	if m, err := b.Metadata(t.Context(), s.Path()); err != nil || m.Messages != 3 {
		t.Errorf("Metadata() = %+v, %v", m, err)
	}
}
