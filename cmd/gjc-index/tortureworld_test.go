package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// tortureOp is a row of the matrix.
type tortureOp struct {
	name    string
	args    []string // {dir} is the world, {work} where the workspaces are
	stdin   string
	may     []int                  // exit statuses besides 0 of a run that finds all done
	gone    []string               // marks that it may remove for good
	changes []string               // sessions whose context it may change
	done    func(dir string) error // whether what it promises is there
}

const tortureBatch = `{"type":"message","message":{"role":"user","content":"added-1"}}` + "\n" +
	`{"type":"message","message":{"role":"assistant","content":"added-2"}}` + "\n"

var tortureOps = []tortureOp{
	{name: "new", args: []string{"new", "--cwd", "{work}/a", "--title", "T"}},
	{name: "append", args: []string{"append", "plain001", "--sync"}, stdin: tortureBatch, changes: []string{"plain001"}, done: holds("added-2")},
	{name: "append --each", args: []string{"append", "plain001", "--each"}, stdin: tortureBatch, changes: []string{"plain001"}, done: holds("added-2")},
	{name: "title", args: []string{"title", "plain001", "Renamed"}, done: holds(`"Renamed"`)},
	{name: "label set", args: []string{"label", "set", "plain001", "p1", "here"}, changes: []string{"plain001"}, done: holds(`"here"`)},
	{name: "branch", args: []string{"branch", "plain001", "p1", "--summary", "was tried"}, changes: []string{"plain001"}, done: holds("was tried")},
	{name: "branch --new", args: []string{"branch", "plain001", "p1", "--new"}},
	{name: "fork", args: []string{"fork", "plain001"}},
	{name: "rewind", args: []string{"rewind", "plain001", "2"}},
	{name: "archive", args: []string{"archive", "long0001"}, done: archiveHas("long0001", "mark-long-1")},
	{name: "archive --zstd", args: []string{"archive", "long0001", "--zstd"}, done: packedHas("long0001", "mark-long-1")},
	{name: "archive, again", args: []string{"archive", "more0001"}, done: archiveHas("more0001", "mark-more-3")},
	{name: "unarchive", args: []string{"unarchive", "arch0001"}, done: fileHas("arch0001", "mark-arch-1")},
	{name: "delete", args: []string{"delete", "plain001", "--yes"}, may: []int{exitMissing}, changes: []string{"plain001"}},
	{name: "delete --permanent", args: []string{"delete", "plain001", "--permanent", "--yes"}, may: []int{exitMissing},
		gone: []string{"mark-plain-1", "mark-plain-2", "mark-plain-3"}, changes: []string{"plain001"}},
	{name: "prune", args: []string{"prune", "--older-than", "30d", "--yes"}, changes: tortureOld, done: noFile("old00001", "old00002")},
	{name: "prune --permanent", args: []string{"prune", "--older-than", "30d", "--yes", "--permanent"}, changes: tortureOld,
		gone: []string{"mark-old1-1", "mark-old2-1", "mark-legacy-1", "mark-moved-1"}, done: noFile("old00001", "old00002")},
	{name: "restore", args: []string{"restore", "trash001"}, may: []int{exitMissing}, done: fileHas("trash001", "mark-trash-1")},
	{name: "pin", args: []string{"pin", "plain001"}},
	{name: "gc", args: []string{"gc", "--grace", "1h", "--yes"}},
	{name: "history add", args: []string{"history", "add", "typed here", "--cwd", "{work}/a"}, done: typed("typed here")},
	{name: "history import", args: []string{"history", "import", "-"}, stdin: `{"text":"typed there","cwd":"/x"}` + "\n", done: typed("typed there")},
	{name: "history delete", args: []string{"history", "delete", "--text", "mark-typed-2"}, may: []int{exitMissing}, gone: []string{"mark-typed-2"}},
	{name: "migrate", args: []string{"migrate", "--cwd", "{work}/b"}, changes: []string{"legacy01"}},
	{name: "rebind", args: []string{"rebind", "moved001", "--to", "{work}/b"}, may: []int{exitError, exitPart, exitMissing}, changes: []string{"moved001"}},
	{name: "export archive", args: []string{"export", "long0001", "--format", "archive", "--out", "{dir}/out.tar.zst", "--force"}, done: wholeExport("out.tar.zst")},
	{name: "export html", args: []string{"export", "long0001", "--out", "{dir}/out.html", "--force"}, done: wholeExport("out.html")},
	{name: "import", args: []string{"import", "{work}/trip.tar.zst", "--cwd", "{work}/a"}, done: fileHas("trip0001", "mark-trip-1")},
	{name: "restore --all", args: []string{"restore", "--all"}, may: []int{exitMissing}, done: fileHas("trash001", "mark-trash-1")},
	{name: "repair --replace", args: []string{"repair", "{dir}/home/broken.jsonl", "--replace"}, may: []int{exitPart}, done: lineless("broken.jsonl")},
	{name: "repair", args: []string{"repair", "{dir}/home/broken.jsonl", "--output", "{dir}/home/mended.jsonl"}, may: []int{exitError, exitPart}, done: lineless("mended.jsonl")},
	{name: "doctor --fix", args: []string{"doctor", "--fix", "--quick"}, may: []int{exitPart}},
	{name: "stats --html", args: []string{"stats", "--html", "{dir}/out.html", "--force"}, done: wholeExport("out.html")},
	{name: "reindex", args: []string{"reindex"}},
	{name: "reindex --full", args: []string{"reindex", "--full"}},
	{name: "psm run", args: []string{"psm", "run", "plain001"}},
}

// tortureOld are the sessions that prune takes.
var tortureOld = []string{"old00001", "old00002", "legacy01", "moved001"}

// tortureWorld is the home that each run gets a copy of. The workspaces are
// outside of it, since a scope names its workspace.
type tortureWorld struct {
	once     sync.Once
	base     string // a directory with home
	work     string
	scope    string // of the workspace a, below the directory
	marks    map[string]bool
	contexts map[string]string // by id
}

var markRE = regexp.MustCompile(`mark-[a-z0-9]+-[0-9]`)

// session is a transcript whose prompts and answers are marks.
func tortureSession(id, cwd, mark string, n int, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":5,"id":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`+"\n", id, cwd)
	parent := "null"
	for i := range n {
		role, usage := "user", ""
		if i%2 == 1 {
			role, usage = "assistant", `,"provider":"p","model":"m","usage":{"input":5,"output":1}`
		}
		fmt.Fprintf(&b, `{"type":"message","id":"p%d","parentId":%s,"timestamp":"2026-01-01T00:00:%02d.000Z","message":{"role":%q,"content":"mark-%s-%d"%s}}`+"\n",
			i+1, parent, i+1, role, mark, i+1, usage)
		parent = fmt.Sprintf("%q", fmt.Sprintf("p%d", i+1))
	}
	return b.String() + more
}

// summed is a compaction after the n-th entry that keeps those from kept on.
func summed(n, kept int) string {
	return fmt.Sprintf(`{"type":"compaction","id":"c%d","parentId":"p%d","timestamp":"2026-01-01T00:01:00.000Z","summary":"sum","firstKeptEntryId":"p%d","tokensBefore":9}`+"\n", n, n, kept)
}

// build makes the world.
func (w *tortureWorld) build(t *testing.T) {
	t.Helper()
	var err error
	if w.base, err = os.MkdirTemp(shmDir(), "gjc-torture-"); err != nil {
		t.Fatal(err)
	}
	w.work = filepath.Join(w.base, "work")
	for _, name := range []string{"a", "b", "c"} {
		if err := os.MkdirAll(filepath.Join(w.work, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(w.base, "work.path"), w.work)
	home := filepath.Join(w.base, "home")
	a, c := filepath.Join(w.work, "a"), filepath.Join(w.work, "c")
	sc := filepath.Dir(printed(t, "", "new", "--home", home, "--cwd", a)["path"].(string))
	if w.scope, err = filepath.Rel(w.base, sc); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Dir(printed(t, "", "new", "--home", home, "--cwd", c)["path"].(string))
	blobs := `{"type":"message","id":"i1","parentId":"p3","timestamp":"2026-01-01T00:02:00.000Z","message":{"role":"user","content":[{"type":"image","mimeType":"image/png","data":"blob:sha256:` + strings.Repeat("a", 64) + `"}]}}` + "\n"
	for path, text := range map[string]string{
		filepath.Join(sc, "plain001.jsonl"):                       tortureSession("plain001", a, "plain", 3, ""),
		filepath.Join(sc, "long0001.jsonl"):                       tortureSession("long0001", a, "long", 6, summed(6, 5)),
		filepath.Join(sc, "more0001.jsonl"):                       tortureSession("more0001", a, "more", 2, summed(2, 2)),
		filepath.Join(sc, "arch0001.jsonl"):                       tortureSession("arch0001", a, "arch", 4, summed(4, 3)),
		filepath.Join(sc, "old00001.jsonl"):                       tortureSession("old00001", a, "old1", 1, ""),
		filepath.Join(sc, "old00002.jsonl"):                       tortureSession("old00002", a, "old2", 1, ""),
		filepath.Join(sc, "trash001.jsonl"):                       tortureSession("trash001", a, "trash", 2, ""),
		filepath.Join(sc, "trip0001.jsonl"):                       tortureSession("trip0001", a, "trip", 2, ""),
		filepath.Join(sc, "blob0001.jsonl"):                       tortureSession("blob0001", a, "blob", 3, blobs),
		filepath.Join(moved, "moved001.jsonl"):                    tortureSession("moved001", c, "moved", 1, ""),
		filepath.Join(home, "sessions", "-old", "legacy01.jsonl"): tortureSession("legacy01", filepath.Join(w.work, "b"), "legacy", 1, ""),
		filepath.Join(home, "broken.jsonl"):                       tortureSession("broken01", a, "broken", 3, "") + `{"type":"message","id":"torn`,
		filepath.Join(home, "blobs", strings.Repeat("a", 64)):     "mark-blob-8",
		filepath.Join(home, "blobs", strings.Repeat("b", 64)):     "mark-blob-9",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.prepare(t, home, sc, moved)
	w.remember(t)
}

// prepare runs the commands that made the world what it is.
func (w *tortureWorld) prepare(t *testing.T, home, sc, moved string) {
	t.Helper()
	for _, args := range [][]string{
		{"export", "trip0001", "--format", "archive", "--out", filepath.Join(w.work, "trip.tar.zst")},
		{"delete", "trip0001", "--permanent", "--yes"}, {"delete", "trash001", "--yes"},
		{"archive", "arch0001"}, {"archive", "more0001"},
		{"history", "add", "mark-typed-1"}, {"history", "add", "mark-typed-2"},
	} {
		if _, errs, status := w.run(nil, w.base, args, "", nil); status != exitDone {
			t.Fatalf("%v: status %d, %s", args, status, errs)
		}
	}
	// As gjc goes on with an archived session, which can then be archived again.
	more := filepath.Join(sc, "more0001.jsonl")
	writeFile(t, more, readFile(t, more)+
		`{"type":"message","id":"p3","parentId":"c2","timestamp":"2026-01-01T00:03:00.000Z","message":{"role":"user","content":"mark-more-3"}}`+"\n"+
		`{"type":"message","id":"p4","parentId":"p3","timestamp":"2026-01-01T00:03:01.000Z","message":{"role":"user","content":"mark-more-4"}}`+"\n"+
		strings.Replace(summed(4, 4), "00:01:00", "00:03:02", 1))
	if _, errs, status := w.run(nil, w.base, []string{"reindex"}, "", nil); status != exitDone {
		t.Fatalf("reindex: status %d, %s", status, errs)
	}
	old := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{filepath.Join(sc, "old00001.jsonl"), filepath.Join(sc, "old00002.jsonl"),
		filepath.Join(moved, "moved001.jsonl"), filepath.Join(home, "sessions", "-old", "legacy01.jsonl"),
		filepath.Join(home, "blobs", strings.Repeat("b", 64)), filepath.Join(home, "blobs", strings.Repeat("a", 64))} {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(w.work, "c"), filepath.Join(w.work, "c2")); err != nil {
		t.Fatal(err)
	}
}

// remember notes what must never be missing.
func (w *tortureWorld) remember(t *testing.T) {
	t.Helper()
	w.marks = marksIn(t, w.base)
	if len(w.marks) < 25 {
		t.Fatalf("the world has the marks %v", w.marks)
	}
	w.contexts = map[string]string{}
	for _, id := range []string{"plain001", "long0001", "more0001", "arch0001", "old00001", "old00002", "blob0001", "moved001", "legacy01"} {
		out, errs, status := w.run(nil, w.base, []string{"context", id, "--json"}, "", nil)
		if status != exitDone {
			t.Fatalf("context %s: status %d, %s", id, status, errs)
		}
		w.contexts[id] = out
	}
}

// fill makes dir a copy of the world.
func (w *tortureWorld) fill(t *testing.T, dir string) {
	t.Helper()
	w.once.Do(func() { w.build(t) })
	if w.marks == nil {
		t.Fatal("the world could not be made")
	}
	if err := os.WriteFile(filepath.Join(dir, "work.path"), []byte(w.work), 0o600); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(w.base, "home")
	err := filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, "home", strings.TrimPrefix(path, base))
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(to, info.Mode().Perm())
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			return err
		}
		return os.Chtimes(to, info.ModTime(), info.ModTime())
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *tortureWorld) copy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(storagetest.InRAM(t), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.fill(t, dir)
	return dir
}

// wantMarks fails if a mark of the world is in no file any more.
func (w *tortureWorld) wantMarks(t *testing.T, tab *matrix, op tortureOp, column, what, dir string) {
	t.Helper()
	got := marksIn(t, dir)
	for mark := range w.marks {
		if !got[mark] && !slices.Contains(op.gone, mark) {
			tab.lost(op.name, column)
			t.Errorf("%s: %s is lost", what, mark)
		}
	}
}

// wantOnce fails if a transcript holds a mark twice.
func (w *tortureWorld) wantOnce(t *testing.T, what, dir string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "home", "sessions", "*", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text := readFile(t, path)
		for mark := range w.marks {
			if n := strings.Count(text, mark); n > 1 {
				t.Errorf("%s: %s has %s %d times", what, path, mark, n)
			}
		}
	}
}

// marksIn are the marks in the files below dir that hold what people wrote.
func marksIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	got := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, "home"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "index.db") || strings.HasPrefix(d.Name(), "history.db") || strings.HasSuffix(d.Name(), ".tmp") {
			return err
		}
		data, err := readAny(path)
		for _, m := range markRE.FindAll(data, -1) {
			got[string(m)] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range rowsOf(t, filepath.Join(dir, "home", "history.db")) {
		for _, m := range markRE.FindAllString(text, -1) {
			got[m] = true
		}
	}
	return got
}

// rowsOf are the prompts in a history.db.
func rowsOf(t *testing.T, path string) []string {
	t.Helper()
	texts, err := historyTexts(path)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func historyTexts(path string) (texts []string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nobody typed anything
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT prompt FROM history`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

func shmDir() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

// holds: some transcript has the text.
func holds(text string) func(dir string) error {
	return func(dir string) error {
		paths, err := filepath.Glob(filepath.Join(dir, "home", "sessions", "*", "*.jsonl"))
		for _, path := range paths {
			if data, rerr := os.ReadFile(path); rerr == nil && strings.Contains(string(data), text) {
				return nil
			}
		}
		return fmt.Errorf("no transcript holds %s (%v)", text, err)
	}
}

// sessionFile is the transcript whose header has the id.
func sessionFile(dir, id string) string {
	paths, _ := filepath.Glob(filepath.Join(dir, "home", "sessions", "*", "*.jsonl")) // the pattern is well formed
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && strings.Contains(strings.SplitN(string(data), "\n", 2)[0], `"id":"`+id+`"`) {
			return path
		}
	}
	return ""
}

func fileHas(id, text string) func(dir string) error {
	return func(dir string) error {
		if data, err := os.ReadFile(sessionFile(dir, id)); err != nil || !strings.Contains(string(data), text) {
			return fmt.Errorf("%s has no %s (%v)", id, text, err)
		}
		return nil
	}
}

func archiveHas(id, text string) func(dir string) error {
	return func(dir string) error {
		data, err := os.ReadFile(strings.TrimSuffix(sessionFile(dir, id), ".jsonl") + ".archive.ndjson")
		if err != nil || !strings.Contains(string(data), text) {
			return fmt.Errorf("the archive of %s has no %s (%v)", id, text, err)
		}
		return nil
	}
}

func packedHas(id, text string) func(dir string) error {
	return func(dir string) error {
		data, err := readAny(strings.TrimSuffix(sessionFile(dir, id), ".jsonl") + ".archive.ndjson.zst")
		if err != nil || !bytes.Contains(data, []byte(text)) {
			return fmt.Errorf("the archive of %s has no %s (%v)", id, text, err)
		}
		return nil
	}
}

// readAny reads a file, and what is in it if it is a compressed archive.
func readAny(path string) ([]byte, error) {
	if !strings.HasSuffix(path, ".zst") {
		return os.ReadFile(path)
	}
	r, err := session.OpenArchive(storage.Disk(storage.Policy{}), strings.TrimSuffix(path, ".archive.ndjson.zst")+".jsonl")
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

// lineless: a file of the home has the marks of the broken session, and only
// whole lines.
func lineless(name string) func(dir string) error {
	return func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, "home", name))
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(data, []byte("}\n")) || !bytes.Contains(data, []byte("mark-broken-3")) {
			return fmt.Errorf("%s is %q", name, data)
		}
		return nil
	}
}

func noFile(ids ...string) func(dir string) error {
	return func(dir string) error {
		for _, id := range ids {
			if path := sessionFile(dir, id); path != "" {
				return fmt.Errorf("%s is still there", path)
			}
		}
		return nil
	}
}

func typed(text string) func(dir string) error {
	return func(dir string) error {
		texts, err := historyTexts(filepath.Join(dir, "home", "history.db"))
		if err != nil || !slices.Contains(texts, text) {
			return fmt.Errorf("no row %q in history.db (%v)", text, err)
		}
		return nil
	}
}

// wholeExport: the file is there and ends as one of its kind does.
func wholeExport(name string) func(dir string) error {
	return func(dir string) error {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".html") {
			if !bytes.HasSuffix(bytes.TrimSpace(data), []byte("</html>")) {
				return fmt.Errorf("%s is cut", name)
			}
			return nil
		}
		r, err := zstd.NewReader(bytes.NewReader(data))
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(io.Discard, r)
		return err
	}
}
