package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// TestListsAreTheSameWithAnySidecars: whatever is done to metadata sidecars,
// no list and no metadata say anything else than without them.
func TestListsAreTheSameWithAnySidecars(t *testing.T) {
	used, long := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "w")
		noError(t, err)
		w := &world{t: t, root: dir}
		w.home = newWorld(t).home
		cwd := w.workspace("w")
		sc := w.scope(cwd)
		s := w.store(Options{})
		var paths []string
		for i := range rapid.IntRange(1, 4).Draw(r, "sessions") {
			l := newLongSession(rapid.Uint64Range(0, 9).Draw(r, "seed"), cwd) // two may be twins but for the id
			for range rapid.IntRange(1, 40).Draw(r, "steps") {
				l.step()
			}
			path := filepath.Join(sc.Dir, fmt.Sprintf("a%d.jsonl", i))
			text := strings.Replace(l.text.String(), "long0001", fmt.Sprintf("long000%d", i), 1)
			noError(t, os.WriteFile(path, []byte(text), 0o600))
			at := time.Date(2026, 1, 1, 0, 0, rapid.IntRange(0, 1).Draw(r, "time"), 0, time.UTC)
			noError(t, os.Chtimes(path, at, at))
			paths = append(paths, path)
			m, err := BuildMeta(t.Context(), s.fsys, path)
			noError(t, err)
			noError(t, s.writeMetaFile(t.Context(), path, m))
			rows := 0
			if st, err := os.Stat(path); err == nil && st.Size() > jsonl.ListingPrefix {
				rows = 1
			}
			long += rows
			if e, err := readHead(s.fsys, path); err != nil {
				t.Fatal(err)
			} else if in, ok := e.keptRow(s.fsys, path); ok != (rows == 1) {
				t.Fatalf("a sidecar that was just written has a row: %v, %+v", ok, in)
			}
		}
		edited := map[string]bool{}
		for _, path := range paths {
			edited[path] = spoil(t, r, path, rapid.SampledFrom(paths).Draw(r, "other"))
		}
		type all struct {
			List, All Listing
			Metas     []Meta
		}
		look := func() (a all) {
			var err, allErr error
			a.List, err = s.List(t.Context(), cwd)
			a.All, allErr = s.ListAll(t.Context())
			noError(t, errors.Join(err, allErr))
			for _, path := range paths {
				if edited[path] {
					continue // what is hidden like that, the counts of the whole can't tell
				}
				m, err := s.Metadata(t.Context(), path)
				noError(t, err)
				m.row = metaRow{} // only a file has it
				a.Metas = append(a.Metas, m)
			}
			return a
		}
		with := look()
		for _, path := range paths {
			if _, ok, err := ReadMeta(s.fsys, path); ok && err == nil {
				used++
			}
			if err := os.Remove(MetaPath(path)); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", look()), fmt.Sprintf("%+v", with)); diff != "" {
			r.Fatalf("sidecars change what is told (-without +with):\n%s", diff)
		}
	})
	if used == 0 || long == 0 {
		t.Errorf("%d sidecars were ever valid, %d with a row", used, long)
	}
}

// TestARowMadeByOtherRulesIsNotTaken: the bytes are the same, what they mean is
// not.
func TestARowMadeByOtherRulesIsNotTaken(t *testing.T) {
	s := newWorld(t).store(Options{})
	path := filepath.Join(t.TempDir(), "a.jsonl")
	l := newLongSession(3, "/w")
	for l.text.Len() <= jsonl.ListingPrefix {
		l.step()
	}
	noError(t, os.WriteFile(path, []byte(l.text.String()), 0o600))
	for other, want := range map[float64]bool{0: false, 1: false, -1: true} {
		m, err := BuildMeta(t.Context(), s.fsys, path)
		noError(t, err)
		m.row, err = s.rowOf(t.Context(), path, &m)
		noError(t, err)
		v := m.value()
		if other >= 0 {
			v.Get("row").Obj().Set("v", jsonl.NumberValue(metaRowVersion+1-2*other))
		}
		text := strings.TrimSuffix(v.JSON(), "}")
		noError(t, os.WriteFile(MetaPath(path), []byte(text+metaSumKey+sumOf([]byte(text))+"\"}\n"), 0o600))
		e, err := readHead(s.fsys, path)
		noError(t, err)
		if _, ok := e.keptRow(s.fsys, path); ok != want {
			t.Errorf("version changed by %v: taken %v, want %v", other, ok, want)
		}
	}
}

// spoil does something to a session's sidecar, or changes the session behind it.
func spoil(t *testing.T, r *rapid.T, path, other string) (edited bool) {
	t.Helper()
	name := MetaPath(path)
	text, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return false // another session's now
	}
	noError(t, err)
	switch rapid.SampledFrom([]string{"leave", "leave", "cut", "flip", "copy", "stale", "gone", "schema", "directory", "kinds", "edit", "edit", "edit", "rename"}).Draw(r, "spoil") {
	case "cut":
		text = text[:rapid.IntRange(0, len(text)-1).Draw(r, "at")]
	case "flip":
		text[rapid.IntRange(0, len(text)-1).Draw(r, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(r, "bit")
	case "copy":
		if text, err = os.ReadFile(MetaPath(other)); err != nil {
			return false // spoiled already
		}
	case "stale":
		st, err := os.Stat(path)
		noError(t, err)
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		noError(t, err)
		_, err = fmt.Fprintf(f, lateLine, 1, "00000001")
		noError(t, errors.Join(err, f.Close(), os.Chtimes(path, st.ModTime(), st.ModTime())))
	case "edit": // by a program that gives the time back: another letter, anywhere
		st, err := os.Stat(path)
		noError(t, err)
		data, err := os.ReadFile(path)
		noError(t, err)
		at := rapid.OneOf(
			rapid.IntRange(0, len(data)-1), rapid.IntRange(0, min(len(data)-1, jsonl.ListingPrefix)),
			rapid.IntRange(max(0, len(data)-jsonl.ListingTail), len(data)-1)).Draw(r, "edit at")
		if data[at] >= 'a' && data[at] <= 'z' {
			data[at] = 'a' + (data[at]-'a'+1)%26
		}
		noError(t, os.WriteFile(path, data, 0o600))
		noError(t, os.Chtimes(path, st.ModTime(), st.ModTime()))
		return true
	case "rename": // the sidecar of another session takes this one's place
		_ = os.Rename(MetaPath(other), name) // it may have none any more
		return false
	case "gone":
		noError(t, os.Remove(name))
		return false
	case "schema":
		text = []byte(strings.Replace(string(text), `"schema":2`, `"schema":3`, 1))
	case "directory":
		noError(t, errors.Join(os.Remove(name), os.Mkdir(name, 0o700)))
		return
	case "kinds":
		text = []byte(`{"schema":1,"session":[],"length":7,"mtimeNs":null,"tailSha256":{},"usage":"x","entries":"y"}`)
	}
	noError(t, os.WriteFile(name, text, 0o600))
	return false
}

// BenchmarkMetadata compares what a listing reads of a session, its beginning
// and its end, with reading a sidecar that fits, and with making it anew.
func BenchmarkMetadata(b *testing.B) {
	dir := b.TempDir()
	disk := storage.Disk(storage.Policy{})
	l := newLongSession(3, "/w")
	for l.text.Len() < 200<<10 {
		l.step()
	}
	path := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(path, []byte(l.text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	m, err := BuildMeta(b.Context(), disk, path)
	if err != nil {
		b.Fatal(err)
	}
	s := NewStore(disk, Options{})
	b.Run("beginning and end", func(b *testing.B) {
		for b.Loop() {
			if _, err := readInfo(b.Context(), s.fsys, path); err != nil {
				b.Fatal(err)
			}
		}
	})
	if err := s.writeMetaFile(b.Context(), path, m); err != nil {
		b.Fatal(err)
	}
	b.Run("its row in a sidecar", func(b *testing.B) {
		for b.Loop() {
			if _, err := readInfo(b.Context(), s.fsys, path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("sidecar", func(b *testing.B) {
		for b.Loop() {
			if _, ok, err := ReadMeta(disk, path); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("anew", func(b *testing.B) {
		for b.Loop() {
			if _, err := BuildMeta(b.Context(), disk, path); err != nil {
				b.Fatal(err)
			}
		}
	})
}
