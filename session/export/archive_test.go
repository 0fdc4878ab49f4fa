package export

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func put(t *testing.T, m storage.FS, name, text string) {
	t.Helper()
	if err := storage.MkdirAll(m, filepath.Dir(name)); err != nil {
		t.Fatal(err)
	}
	err := storage.Publish(context.Background(), m, name, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err != nil {
		t.Fatal(err)
	}
}

// world is a home in memory with two sessions, one of which has everything.
func world(t *testing.T) (*storage.Memory, []Source) {
	t.Helper()
	m := storage.NewMemory()
	ref, err := blob.New(m, "/blobs").Put(context.Background(), []byte("\x89PNG\xff"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, m, "/s/a.jsonl", strings.Replace(b110(t), "other branch text", ref.String(), 1)+"torn {")
	put(t, m, "/s/a.archive.ndjson", `{"raw":"{\"text\":\"`+secret+`\"}"}`+"\n")
	put(t, m, "/s/a.meta.json", "derived")
	put(t, m, "/s/a/draft.txt", "a draft with "+secret)
	put(t, m, "/s/a/child.jsonl", `{"type":"session","version":5,"id":"c","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo","title":"`+secret+`"}`+"\n")
	put(t, m, "/s/a/"+secret+".bin", "\xff\x00")
	put(t, m, "/s/a/sub/.child.lease", "lock")
	put(t, m, "/s/b.jsonl", `{"type":"session","version":5,"id":"two","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj/demo"}`+"\n")
	return m, []Source{{ID: "exp00001", Cwd: "/proj/demo", Path: "/s/a.jsonl"}, {ID: "two", Cwd: "/proj/demo", Path: "/s/b.jsonl"}}
}

func archived(t *testing.T, m storage.FS, sources []Source, redact func(string) (string, int)) ([]byte, ArchiveReport) {
	t.Helper()
	var b bytes.Buffer
	rep, err := WriteArchive(context.Background(), &b, m, sources, ArchiveOptions{Redact: redact, Blobs: "/blobs"})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), rep
}

func unpack(t *testing.T, data []byte) map[string]string {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	files := map[string]string{}
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
}

func TestArchiveHoldsTheFilesAsTheyAre(t *testing.T) {
	m, sources := world(t)
	data, rep := archived(t, m, sources, nil)
	files := unpack(t, data)
	for name, from := range map[string]string{
		"sessions/0001/a.jsonl": "/s/a.jsonl", "sessions/0001/a/draft.txt": "/s/a/draft.txt", "sessions/0001/a.archive.ndjson": "/s/a.archive.ndjson",
		"sessions/0001/a/" + secret + ".bin": "/s/a/" + secret + ".bin", "sessions/0002/b.jsonl": "/s/b.jsonl",
	} {
		want, err := storage.ReadFile(m, from, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), files[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if rep.Blobs != 1 || rep.Sessions != 2 || len(files) != 8 {
		t.Errorf("report %+v, %d files; want 2 sessions, 1 blob, 8 files", rep, len(files))
	}
}

func TestRedactedArchiveHasNoSecretAnywhere(t *testing.T) {
	m, sources := world(t)
	data, rep := archived(t, m, sources, redactTest)
	for name, text := range unpack(t, data) {
		if strings.Contains(name, secret) || strings.Contains(text, secret) {
			t.Errorf("%s has the secret", name)
		}
	}
	if rep.Secrets != 6 || rep.Damaged != 1 {
		t.Errorf("%d secrets and %d damaged lines, want 6 and 1", rep.Secrets, rep.Damaged)
	}
}

func restore(t *testing.T, fsys storage.FS, m *storage.Memory, data []byte, cwd string) (ImportReport, error) {
	t.Helper()
	if _, err := m.Lstat("/in.tar.zst"); err == nil {
		if err := m.Remove("/in.tar.zst"); err != nil {
			t.Fatal(err)
		}
	}
	put(t, m, "/in.tar.zst", string(data))
	return Import(context.Background(), fsys, "/in.tar.zst", ImportOptions{Blobs: blob.New(fsys, "/new/blobs"),
		Place: func(s Archived) (string, string, error) {
			if cwd == "" {
				return "/new/s", s.Cwd, nil
			}
			return "/new/s", cwd, nil
		}})
}

func TestImportRestoresWhatWasArchived(t *testing.T) {
	m, sources := world(t)
	data, _ := archived(t, m, sources, nil)
	rep, err := restore(t, m, m, data, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/new/s/a.jsonl", "/new/s/b.jsonl"}, rep.Restored); diff != "" {
		t.Errorf("restored (-want +got):\n%s", diff)
	}
	for _, name := range []string{"a.jsonl", "a.archive.ndjson", "a/draft.txt", "a/child.jsonl", "b.jsonl"} {
		want, err1 := storage.ReadFile(m, "/s/"+name, 1<<20)
		got, err2 := storage.ReadFile(m, "/new/s/"+name, 1<<20)
		if diff := cmp.Diff(string(want), string(got)); diff != "" || err1 != nil || err2 != nil {
			t.Errorf("%s (-want +got):\n%s\n%v, %v", name, diff, err1, err2)
		}
	}
	if rep, err = restore(t, m, m, data, ""); err != nil || len(rep.Present) != 2 || len(rep.Restored) != 0 {
		t.Errorf("the second import: %+v, %v; want both present", rep, err)
	}
	if err := m.Remove("/new/s/b.jsonl"); err != nil {
		t.Fatal(err)
	}
	put(t, m, "/new/s/b.jsonl", "mine")
	if rep, err = restore(t, m, m, data, ""); err != nil || len(rep.LeftOut) != 1 {
		t.Errorf("an import over another file: %+v, %v; want it left out", rep, err)
	}
	if got, _ := storage.ReadFile(m, "/new/s/b.jsonl", 100); string(got) != "mine" {
		t.Errorf("the file is %q now", got)
	}
}

func TestImportIntoAnotherWorkspaceSaysSoInTheHeader(t *testing.T) {
	m, sources := world(t)
	data, _ := archived(t, m, sources, nil)
	if _, err := restore(t, m, m, data, "/other"); err != nil {
		t.Fatal(err)
	}
	got, err := storage.ReadFile(m, "/new/s/a.jsonl", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	old, _ := storage.ReadFile(m, "/s/a.jsonl", 1<<20)
	want := strings.Replace(string(old), `"cwd":"/proj/demo"`, `"cwd":"/other"`, 1) + "\n" + `{"type":"header_patch","patch":{"cwd":"/other"}}` + "\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the transcript (-want +got):\n%s", diff)
	}
}

// packed makes an archive of any files, with a manifest that fits them.
func packed(t *testing.T, change func(files map[string]string, order []string) []string) []byte {
	t.Helper()
	m, sources := world(t)
	data, _ := archived(t, m, sources[1:], nil)
	files := unpack(t, data)
	order := change(files, []string{"sessions/0001/b.jsonl", manifestName})
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	tw := tar.NewWriter(z)
	for _, name := range order {
		h := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(files[name]))}
		if strings.HasPrefix(files[name], "link:") {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, "/etc/passwd", 0
		}
		if err := tw.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(tw, files[name]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(tw.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDamagedArchivesAreRefusedWhole(t *testing.T) {
	edit := func(old, made string) func(map[string]string, []string) []string {
		return func(files map[string]string, order []string) []string {
			files[manifestName] = strings.ReplaceAll(files[manifestName], old, made)
			return order
		}
	}
	renamed := func(name string) func(map[string]string, []string) []string {
		return func(files map[string]string, order []string) []string {
			files[name] = files["sessions/0001/b.jsonl"]
			files[manifestName] = strings.ReplaceAll(files[manifestName], "sessions/0001/b.jsonl", name)
			return []string{name, manifestName}
		}
	}
	beside := func(names ...string) func(map[string]string, []string) []string {
		return func(files map[string]string, order []string) []string {
			sum := sha256.Sum256([]byte("x"))
			for _, name := range names {
				name = "sessions/0001/" + name
				files[name] = "x"
				files[manifestName] = strings.Replace(files[manifestName], `"files": [`, fmt.Sprintf(`"files": [{"name": %q, "size": 1, "sha256": "%x"},`, name, sum), 1)
				order = append([]string{name}, order...)
			}
			return order
		}
	}
	tests := []struct {
		name   string
		change func(files map[string]string, order []string) []string
	}{
		{"another byte", func(f map[string]string, o []string) []string { f[o[0]] += "x"; return o }},
		{"no manifest", func(_ map[string]string, o []string) []string { return o[:1] }},
		{"a missing file", func(_ map[string]string, o []string) []string { return o[1:] }},
		{"a file too many", func(f map[string]string, o []string) []string {
			f["sessions/0001/x"] = "x"
			return []string{"sessions/0001/x", o[0], o[1]}
		}},
		{"the same twice", func(_ map[string]string, o []string) []string { return []string{o[0], o[0], o[1]} }},
		{"behind the manifest", func(_ map[string]string, o []string) []string { return []string{o[1], o[0]} }},
		{"a link", func(f map[string]string, o []string) []string { f[o[0]] = "link:"; return o }},
		{"a version of the future", edit(`"v": 1`, `"v": 2`)},
		{"an id that is a path", edit(`"id": "two"`, `"id": "../two"`)},
		{"a transcript elsewhere", edit(`"transcript": "b.jsonl"`, `"transcript": "../b.jsonl"`)},
		{"a directory elsewhere", edit(`"dir": "sessions/0001"`, `"dir": "../../home"`)},
		{"another session's id", edit(`"id": "two"`, `"id": "three"`)},
		{"up and away", renamed("sessions/0001/../../../x")},
		{"absolute", renamed("/etc/x")},
		{"with a backslash", renamed(`sessions/0001/..\x`)},
		{"a device", renamed("sessions/0001/NUL.jsonl")},
		{"nobody's", renamed("else/x")},
		{"another session's transcript", beside("other.jsonl")},
		{"another session's pin", beside("other.pin.json")},
		{"whose directory it is", beside(".gjc-managed-session-scope.v2.json")},
		{"a lock", beside(".b.lease")},
		{"what is made from it", beside("b.meta.json")},
		{"a file and a directory", beside("b/x", "b/x/y")},
		{"a blob of another sum", renamed("blobs/" + strings.Repeat("a", 64))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := storage.NewMemory()
			if _, err := restore(t, m, m, packed(t, tt.change), ""); !errors.Is(err, ErrArchive) {
				t.Errorf("Import = %v, want ErrArchive", err)
			}
			if _, err := m.Lstat("/new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
	for _, own := range []string{"b/x", "b.psm.ndjson"} {
		m := storage.NewMemory()
		if _, err := restore(t, m, m, packed(t, beside(own)), ""); err != nil {
			t.Errorf("Import with %s = %v", own, err)
		}
	}
	whole := packed(t, func(_ map[string]string, o []string) []string { return o })
	junk, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, behind := range map[string][]byte{"text": []byte("more"), "a frame": junk.EncodeAll([]byte("more"), nil), "an archive": whole} {
		m := storage.NewMemory()
		if _, err := restore(t, m, m, slices.Concat(whole, behind), ""); !errors.Is(err, ErrArchive) {
			t.Errorf("Import with %s behind its end = %v, want ErrArchive", name, err)
		}
	}
	m := storage.NewMemory()
	if _, err := restore(t, m, m, slices.Concat(whole, junk.EncodeAll(make([]byte, 9<<10), nil)), ""); err != nil {
		t.Errorf("Import of an archive that is filled up = %v", err)
	}
	for cut := 0; cut < len(whole); cut += 37 {
		m := storage.NewMemory()
		if _, err := restore(t, m, m, whole[:cut], ""); !errors.Is(err, ErrArchive) {
			t.Errorf("Import of the first %d bytes = %v, want ErrArchive", cut, err)
		}
	}
}

func TestAnImportThatFailedIsFinishedByAnother(t *testing.T) {
	src, sources := world(t)
	data, _ := archived(t, src, sources, nil)
	for n := 1; ; n++ {
		m := storage.NewMemory()
		f := storagetest.NewFault(m, storagetest.FaultPlan{N: n, NeverFor: func(op storagetest.Op, _ string) bool { return op == storagetest.OpRead }})
		_, err := restore(t, f, m, data, "")
		if f.Fired() == 0 {
			break
		}
		if err == nil {
			continue // what failed was of no weight, such as the close of a file that was read
		}
		if rep, err := restore(t, m, m, data, ""); err != nil || len(rep.LeftOut) > 0 || len(rep.Restored)+len(rep.Present) != 2 {
			t.Fatalf("after a failure of operation %d: %+v, %v", n, rep, err)
		}
		got, _ := storage.ReadFile(m, "/new/s/a.jsonl", 1<<20)
		if want, _ := storage.ReadFile(src, "/s/a.jsonl", 1<<20); !bytes.Equal(want, got) {
			t.Fatalf("after a failure of operation %d the transcript is %q", n, got)
		}
	}
}

func TestRefsAreFoundAcrossWrites(t *testing.T) {
	ref := blob.RefOf([]byte("x"))
	text := "a " + ref.String() + " b" + strings.Repeat("blob:sha256:", 9)
	for size := 1; size < len(text); size++ {
		f := refFinder{found: map[string]bool{}}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			_, _ = f.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if diff := cmp.Diff(map[string]bool{ref.Hex(): true}, f.found); diff != "" {
			t.Fatalf("pieces of %d bytes (-want +got):\n%s", size, diff)
		}
	}
}

func TestSafeNames(t *testing.T) {
	for name, want := range map[string]bool{
		"sessions/0001/a b.jsonl": true, "blobs/x": true, "": false, ".": false, "..": false, "a/../b": false, "/a": false, "a//b": false,
		`a\b`: false, "a:b": false, "com1.txt": false, "a./b": false, "a\nb": false, strings.Repeat("a/", 70) + "a": false,
		path.Join("a", strings.Repeat("x", 256)): false, "a\xffb": false,
	} {
		if got := safeName(name); got != want {
			t.Errorf("safeName(%.40q) = %v, want %v", name, got, want)
		}
	}
}
