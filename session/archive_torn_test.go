package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// appendTo appends text to a file that is there.
func appendTo(t *testing.T, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	noError(t, err)
	_, err = f.WriteString(text)
	noError(t, errors.Join(err, f.Close()))
}

// A run that a crash cut off counts for nothing, wherever it was cut, and the
// next run is read behind it.
func TestARunThatWasCutOffCountsForNothing(t *testing.T) {
	for _, compress := range []bool{false, true} {
		run := archiveHead(archiveBegin, "long0001", 2)
		for range 200 { // more than one block
			run = (&ArchivedLine{Line: 1, Moved: true, After: "\n", Record: []byte(`{"type":"message","id":"never","x":"` + strings.Repeat("y", 2000) + `"}`)}).append(run)
		}
		torn := string(run)
		if compress {
			torn = packed(t, torn)
		}
		for _, cut := range []int{1, 20, len(packMark()), len(packMark()) + 1, len(packMark()) + 7, len(torn) / 2, len(torn) - 1} {
			t.Run(fmt.Sprint("compress ", compress, " cut ", cut), func(t *testing.T) {
				w, path, _ := archivedSession(t, compress)
				s := w.world.store(Options{settle: 1})
				name, _, _, err := FindArchive(s.fsys, path)
				noError(t, err)
				original, _, err := WholeTranscript(t.Context(), s.fsys, path, jsonl.LoadOptions{})
				noError(t, err)
				appendTo(t, name, torn[:min(cut, len(torn))])
				late := fmt.Sprintf(lateLine, 1, lastID(t, path)) +
					`{"type":"compaction","id":"again","parentId":"late1","timestamp":"2026-03-02T00:00:00.000Z","summary":"s","firstKeptEntryId":"late1","tokensBefore":1}` + "\n"
				appendTo(t, path, late)
				a, err := s.Archive(t.Context(), path, ArchiveOptions{})
				noError(t, err)
				if a.Moved == 0 || a.Archive != name {
					t.Fatalf("the second run moved %d to %s", a.Moved, a.Archive)
				}
				again, _, err := WholeTranscript(t.Context(), s.fsys, path, jsonl.LoadOptions{})
				noError(t, err)
				want := append(ids(original.Entries()), "late1", "again")
				if diff := cmp.Diff(want, ids(again.Entries())); diff != "" {
					t.Errorf("whole (-want +got):\n%s", diff)
				}
				u, err := s.Unarchive(t.Context(), path)
				noError(t, err)
				if got, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(got), late) || u.Moved <= a.Moved {
					t.Errorf("undone: %d entries came back, %v; it ends with %.300q", u.Moved, err, got[max(0, len(got)-300):])
				}
			})
		}
	}
}

// A compressed archive with bytes that changed is refused and stays as it is.
func TestADamagedCompressedArchiveIsRefused(t *testing.T) {
	w, path, _ := archivedSession(t, true)
	s := w.world.store(Options{settle: 1})
	name := PackedArchivePath(path)
	text, err := os.ReadFile(name)
	noError(t, err)
	text[len(text)/2] ^= 0x55
	noError(t, os.WriteFile(name, text, 0o600))
	before, err := os.ReadFile(path)
	noError(t, err)
	if _, err := s.Unarchive(t.Context(), path); !errors.Is(err, ErrArchive) {
		t.Errorf("Unarchive() = %v, want ErrArchive", err)
	}
	if _, _, err := Whole(t.Context(), s.fsys, path, jsonl.LoadOptions{}); !errors.Is(err, ErrArchive) {
		t.Errorf("Whole() = %v, want ErrArchive", err)
	}
	now, err := os.ReadFile(path)
	noError(t, err)
	if kept, err := os.ReadFile(name); err != nil || string(kept) != string(text) || string(now) != string(before) {
		t.Errorf("something was changed: %v", err)
	}
}

// FuzzReadArchive reads any bytes as an archive, plain and compressed.
func FuzzReadArchive(f *testing.F) {
	plain := string(archiveHead(archiveBegin, "s", 1)) + `{"line":1,"record":{"type":"session"}}` + "\n" +
		`{"line":2,"moved":true,"before":" ","after":"","record":{"id":"a"}}` + "\n" +
		`{"type":"gjc-index/archive_end","v":1,"session":"s","run":1,"size":9,"sha256":"x","lines":2,"moved":1,"tail":"","checkpoints":["c"]}` + "\n"
	f.Add([]byte(plain), false)
	var out strings.Builder
	z, err := newPacker(&out)
	if err != nil {
		f.Fatal(err)
	}
	_, err = z.Write([]byte(plain))
	if err := errors.Join(err, z.Close()); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(out.String()+out.String()[:40]+out.String()), true)
	f.Fuzz(func(t *testing.T, text []byte, compressed bool) {
		m := storage.NewMemory()
		path := filepath.FromSlash("/s/a.jsonl")
		noErr(t, storage.MkdirAll(m, filepath.Dir(path)))
		name := ArchivePath(path)
		if compressed {
			name = PackedArchivePath(path)
		}
		file, err := m.Create(name)
		noErr(t, err)
		_, err = file.Write(text)
		noErr(t, errors.Join(err, file.Close()))
		runs := 0
		for l, err := range ReadArchive(t.Context(), m, path) {
			if err == nil && l.Record == nil {
				runs++
			}
		}
		if runs > len(text) {
			t.Errorf("%d runs of %d bytes", runs, len(text))
		}
	})
}

// An archive that is gone, or has lost its end, looks as if nothing had been
// archived; the session says otherwise.
func TestAnArchiveThatLostItsEndIsNotForgotten(t *testing.T) {
	for _, compress := range []bool{false, true} {
		for what, harm := range map[string]func(name string, text []byte) error{
			"cut":     func(name string, text []byte) error { return os.Truncate(name, int64(len(text)-5)) },
			"empty":   func(name string, _ []byte) error { return os.Truncate(name, 0) },
			"missing": func(name string, _ []byte) error { return os.Remove(name) },
			"changed": func(name string, text []byte) error {
				for i := len(text) / 2; i < len(text)/2+20; i++ {
					text[i] = 0xff
				}
				return os.WriteFile(name, text, 0o600)
			},
			"garbage": func(name string, text []byte) error {
				return os.WriteFile(name, append(text, "{\"garbage"...), 0o600)
			},
		} {
			t.Run(fmt.Sprint(what, " compress ", compress), func(t *testing.T) {
				w, path, _ := archivedSession(t, compress)
				s := w.world.store(Options{settle: 1})
				if got := archiveFindings(t, s); len(got) > 0 {
					t.Fatalf("before: %v", got)
				}
				name := archivePathOf(s.fsys, path)
				text, err := os.ReadFile(name)
				noError(t, err)
				noError(t, harm(name, text))
				before, err := os.ReadFile(path)
				noError(t, err)
				got := archiveFindings(t, s)
				if what == "garbage" && !compress { // a run that a crash cut off
					if len(got) > 0 {
						t.Errorf("found %v", got)
					}
					return
				}
				if len(got) != 1 {
					t.Errorf("found %v", got)
				}
				if _, err := s.Unarchive(t.Context(), path); !errors.Is(err, ErrArchive) {
					t.Errorf("Unarchive() = %v, want ErrArchive", err)
				}
				if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
					t.Errorf("the session was changed: %v", err)
				}
			})
		}
	}
}

// archiveFindings is what the doctor says is bad.
func archiveFindings(t *testing.T, s *Store) (bad []string) {
	t.Helper()
	opt := DoctorOptions{Free: func(string) int64 { return 1 << 40 }, Network: func(string) bool { return false }}
	noError(t, s.Doctor(t.Context(), opt, func(f Finding) error {
		if f.Check == "archive" && f.State == HealthBad {
			bad = append(bad, f.Detail)
		}
		return nil
	}))
	return bad
}
