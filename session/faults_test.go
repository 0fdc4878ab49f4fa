package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestB002APartialHeaderIsSetAsideWhole(t *testing.T) {
	b := newBench(t, Options{})
	path := b.fault("B002", "session.jsonl")
	before := b.read(path)
	s := b.open(path)
	b.say(s, "assistant", "new")
	aside, err := filepath.Glob(path + ".*.damaged")
	noErr(t, err)
	if len(aside) != 1 || b.read(aside[0]) != before {
		t.Errorf("set aside %v, want one file with the old bytes", aside)
	}
}

func TestB003ASessionBeginsWithItsHeader(t *testing.T) {
	for _, name := range []string{"empty.jsonl", "blank.jsonl", "absent.jsonl"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			path := filepath.Join(b.dir, name)
			if name != "absent.jsonl" {
				path = b.fault("B003", name)
			}
			s := b.open(path)
			b.say(s, "user", "first")
			text := b.read(path)
			if !strings.HasPrefix(text, `{"type":"session",`) || lines(text) != 2 {
				t.Errorf("file = %q, want a header and one entry", text)
			}
			if aside, _ := filepath.Glob(path + ".*.damaged"); len(aside) > 0 {
				t.Errorf("set aside %v, want nothing", aside)
			}
		})
	}
}

func TestB004AVanishedFileIsNoticed(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "user", "first")
	b.say(s, "assistant", "ok")
	noErr(t, os.Remove(s.Path()))
	_, err := s.AppendMessage(t.Context(), message("user", "second"))
	if !errors.Is(err, jsonl.ErrReplaced) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("append = %v, want ErrReplaced", err)
	}
	if _, err := os.Lstat(s.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there again: %v", err)
	}
	if entries, _ := s.Entries(t.Context()); len(entries) != 2 {
		t.Errorf("session has %d entries in memory, want the 2 that were written", len(entries))
	}
	if _, err := s.AppendMessage(t.Context(), message("user", "third")); !errors.Is(err, ErrLatched) || !errors.Is(err, jsonl.ErrReplaced) {
		t.Errorf("append afterwards = %v, want ErrLatched with its first cause", err)
	}
}

func TestB007ATornLastLineIsClosed(t *testing.T) {
	b := newBench(t, Options{})
	path := b.fault("B007", "session.jsonl")
	before := b.read(path)
	s := b.open(path)
	b.say(s, "user", "again")
	text := b.read(path)
	if !strings.HasPrefix(text, before+"\n") || lines(text) != 6 {
		t.Errorf("file has %d lines, want the old bytes, a line end and one more line", lines(text))
	}
	tr, err := jsonl.Load(t.Context(), b.fsys, path, jsonl.LoadOptions{})
	noErr(t, err)
	if len(tr.Entries()) != 4 || len(tr.Malformed) != 1 || tr.Malformed[0].Line != 5 {
		t.Errorf("file has %d entries, damaged %v; want 4 and line 5", len(tr.Entries()), tr.Malformed)
	}
}

func TestB054AFullDiskLosesNothing(t *testing.T) {
	var full bool
	b := newBench(t, Options{})
	b.fsys = &storagetest.Hook{FS: b.fsys, Before: func(op storagetest.Op, _ string) error {
		if full && op == storagetest.OpWrite {
			return &storagetest.ShortWrite{N: 10, Err: syscall.ENOSPC}
		}
		return nil
	}}
	s := b.create()
	b.say(s, "assistant", "ok")
	before := b.read(s.Path())
	full = true
	_, err := s.AppendMessage(t.Context(), message("user", "lost"))
	var failed *jsonl.AppendError
	if !errors.As(err, &failed) || failed.Outcome != jsonl.RolledBack || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("append = %v, want rolled back for want of space", err)
	}
	if err := s.RewriteEntries(t.Context(), nil); err == nil {
		t.Error("rewrite of a stopped session succeeded")
	}
	noErr(t, s.Close())
	again := b.open(s.Path())
	if err := again.RewriteEntries(t.Context(), nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("rewrite = %v, want want of space", err)
	}
	if diff := cmp.Diff(before, b.read(s.Path())); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	temps, _ := filepath.Glob(filepath.Join(b.dir, ".*.tmp"))
	if len(temps) > 0 {
		t.Errorf("temporary files %v are left", temps)
	}
	full = false
	noErr(t, again.Close())
	last := b.open(s.Path())
	b.say(last, "user", "after")
	entries, _ := last.Entries(t.Context())
	parent, _ := entries[1].Parent()
	if first, _ := entries[0].ID(); parent != first {
		t.Errorf("parent of the next entry = %q, want %q", parent, first)
	}
}

func TestB088AChosenLeafSurvives(t *testing.T) {
	b := newBench(t, Options{})
	path := b.fault("B088", "session.jsonl")
	before := b.read(path)
	s := b.open(path)
	noErr(t, s.Branch(t.Context(), "t2"))
	noErr(t, s.Close())
	if b.read(path) != before {
		t.Error("choosing a leaf changed the transcript")
	}
	again := b.open(path)
	c, err := again.Context(t.Context())
	noErr(t, err)
	if len(c.Messages) != 2 {
		t.Errorf("context has %d messages after reopening, want 2", len(c.Messages))
	}
	b.say(again, "user", "other way")
	entries, _ := again.Entries(t.Context())
	if parent, _ := entries[len(entries)-1].Parent(); parent != "t2" {
		t.Errorf("parent = %q, want t2", parent)
	}
	noErr(t, again.Close())
	if _, err := os.Lstat(LeafPath(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("leaf file is still there: %v", err)
	}
}

func TestB091EqualImagesAreStoredOnce(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "assistant", "ok")
	image := func(data string) jsonl.Value {
		return jsonl.ObjectValue(jsonl.NewObj(
			jsonl.Member{Key: "role", Value: jsonl.StringValue("user")},
			jsonl.Member{Key: "content", Value: jsonl.ArrayValue(jsonl.ObjectValue(jsonl.NewObj(
				jsonl.Member{Key: "type", Value: jsonl.StringValue("image")},
				jsonl.Member{Key: "data", Value: jsonl.StringValue(data)},
			)))}))
	}
	for _, data := range []string{strings.Repeat("QUJD", 1000), strings.Repeat("QUJD", 1000), strings.Repeat("B", 1023), strings.Repeat("Q", 1024)} {
		_, err := s.AppendMessage(t.Context(), image(data))
		noErr(t, err)
	}
	blobs, _ := filepath.Glob(filepath.Join(b.opt.Home.Blobs(), "*"))
	if refs := strings.Count(b.read(s.Path()), "blob:sha256:"); len(blobs) != 2 || refs != 3 {
		t.Errorf("%d blobs and %d references, want 2 and 3", len(blobs), refs)
	}
}

func TestB111IdsThatArePathsAreRefused(t *testing.T) {
	var ids []string
	text, err := os.ReadFile(filepath.Join("..", "testdata", "faults", "B111", "ids.json"))
	noErr(t, err)
	var listed any
	noErr(t, json.Unmarshal(text, &listed))
	ids = append(ids, flatStrings(listed)...)
	ids = append(ids, "", "..", "a/b", `a\b`, "CON", "nul.txt", "-rf", ".hidden", strings.Repeat("x", 129), "a\x00b", "ends.")
	b := newBench(t, Options{})
	s := b.create()
	for _, id := range ids {
		if err := CheckID(id); !errors.Is(err, ErrBadID) {
			t.Errorf("CheckID(%q) = %v, want ErrBadID", id, err)
		}
		if _, err := s.Child(t.Context(), id); !errors.Is(err, ErrBadID) {
			t.Errorf("Child(%q) = %v, want ErrBadID", id, err)
		}
	}
	evil := b.open(b.fault("B111", "evil.jsonl"))
	if _, _, err := evil.Fork(t.Context()); err != nil {
		t.Fatal(err)
	}
	if dir := filepath.Dir(evil.Path()); dir != b.dir {
		t.Errorf("fork lies in %s, want %s", dir, b.dir)
	}
}

// flatStrings are the strings in decoded JSON.
func flatStrings(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, flatStrings(item)...)
		}
		return all
	case map[string]any:
		if bad, ok := v["refuse"]; ok {
			return flatStrings(bad)
		}
		if id, ok := v["id"]; ok {
			return flatStrings(id)
		}
	}
	return nil
}

func TestB130OldFilesAreUpgradedByTheFirstWrite(t *testing.T) {
	for _, name := range []string{"v1.jsonl", "v2.jsonl"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			path := b.fault("B130", name)
			before := b.read(path)
			s := b.open(path)
			old, err := s.Entries(t.Context())
			noErr(t, err)
			if b.read(path) != before {
				t.Error("opening changed the file")
			}
			b.say(s, "user", "new")
			noErr(t, s.Close())
			tr, err := jsonl.Load(t.Context(), b.fsys, path, jsonl.LoadOptions{})
			noErr(t, err)
			if diff := cmp.Diff(append(idsOf(old), idsOf(tr.Entries())[len(old):]...), idsOf(tr.Entries())); tr.Stored != jsonl.CurrentVersion || diff != "" {
				t.Errorf("version %d, ids (-in memory +on disk):\n%s", tr.Stored, diff)
			}
		})
	}
}

func TestB131OtherVersionsAreLeftAlone(t *testing.T) {
	for _, name := range []string{"v6.jsonl", "vstr.jsonl"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Options{})
			path := b.fault("B131", name)
			before := b.read(path)
			_, err := b.Open(t.Context(), path, OpenOptions{})
			var version *jsonl.VersionError
			if !errors.As(err, &version) {
				t.Errorf("Open() = %v, want a VersionError", err)
			}
			if left, _ := filepath.Glob(filepath.Join(b.dir, "*")); b.read(path) != before || len(left) != 1 {
				t.Errorf("directory holds %v", left)
			}
		})
	}
}

func TestB140APromptWithoutAnswerIsKeptOnRequest(t *testing.T) {
	tests := []struct {
		name  string
		keep  bool
		roles []string
		want  int // lines of the file; 0: none
	}{
		{"prompts are dropped by default", false, []string{"user"}, 0},
		{"prompts are kept on request", true, []string{"user"}, 2},
		{"without a prompt there is nothing to keep", true, []string{"toolResult"}, 0},
		{"an answer writes all", false, []string{"user", "assistant"}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{KeepUnanswered: tt.keep})
			s := b.create()
			for _, role := range tt.roles {
				b.say(s, role, "text")
			}
			noErr(t, s.Close())
			text, err := os.ReadFile(s.Path())
			if got := bytes.Count(text, []byte("\n")); got != tt.want || (tt.want == 0) != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("file has %d lines (%v), want %d", got, err, tt.want)
			}
			if left, _ := filepath.Glob(filepath.Join(b.dir, ".*")); tt.want == 0 && len(left) > 0 {
				t.Errorf("%v is left of a session that never was", left)
			}
		})
	}
}

func TestB150ARenameThatFailsForAMomentIsTriedAgain(t *testing.T) {
	t.Parallel() // it waits
	tests := []struct {
		name  string
		times int
		ok    bool
	}{
		{"three times", 3, true},
		{"for ever", 1 << 20, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			path := b.file("a.jsonl", sessionText("a", b.dir))
			failed, armed := 0, false
			b.fsys = &storagetest.Hook{FS: b.fsys, Before: func(op storagetest.Op, _ string) error {
				if armed && op == storagetest.OpRename && failed < tt.times {
					failed++
					return fmt.Errorf("rename: %w", storage.ErrInUse)
				}
				return nil
			}}
			s := b.open(path)
			before := b.read(path)
			armed = true
			if err := s.RewriteEntries(t.Context(), nil); (err == nil) != tt.ok {
				t.Errorf("rewrite = %v, want success: %v", err, tt.ok)
			}
			if !tt.ok && b.read(path) != before {
				t.Error("the old file has changed")
			}
			if temps, _ := filepath.Glob(filepath.Join(b.dir, ".*.tmp")); len(temps) > 0 {
				t.Errorf("temporary files %v are left", temps)
			}
			noErr(t, s.Close())
			armed = false
			b.say(b.open(path), "user", "later")
		})
	}
}

func TestADirectoryOfTheUserIsNoScope(t *testing.T) {
	b := newBench(t, Options{})
	legacy := filepath.Join(b.opt.Home.Sessions(), "-old-layout")
	noErr(t, os.MkdirAll(legacy, 0o700))
	path := filepath.Join(legacy, "a.jsonl")
	noErr(t, os.WriteFile(path, []byte(sessionText("a", b.dir)), 0o600))
	_, err := b.Open(t.Context(), path, OpenOptions{Migration: scope.Disabled})
	if !errors.Is(err, scope.ErrMigrationDisabled) {
		t.Errorf("Open() = %v, want ErrMigrationDisabled", err)
	}
	if left, _ := os.ReadDir(legacy); len(left) != 1 {
		t.Errorf("the legacy directory holds %v", left)
	}
	s := b.open(path)
	if _, ok := scope.DigestOf(filepath.Base(s.Dir())); !ok {
		t.Errorf("session opened at %s, want its copy in a scope", s.Path())
	}
}
