package session_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/internal/historycase"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// caseRoot is where the recorded cases ran; digests depend on it.
const caseRoot = "/tmp/oc-root"

// TestConformance runs every recorded case in a fresh root, one after another.
// GJC_CONFORMANCE_DIR names another directory of cases.
func TestConformance(t *testing.T) {
	dir := filepath.Join("..", "testdata", "conformance")
	if other := os.Getenv("GJC_CONFORMANCE_DIR"); other != "" {
		if dir = other; !exists(dir) {
			dir = filepath.Join("..", other) // as seen from the root of the project
		}
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*", "case.json"))
	must(t, err)
	if len(paths) == 0 {
		t.Fatalf("no cases in %s", dir)
	}
	differ := readDivergences(t, filepath.Join("testdata", "divergences.json"), filepath.Join(dir, "divergences.json"))
	lock, err := storage.Disk(storage.Policy{}).Lock(context.Background(), caseRoot+".lock", storage.Exclusive)
	must(t, err)
	defer func() { _ = lock.Unlock() }()
	for _, name := range []string{"TMPDIR", "TMUX", "TMUX_PANE", "KITTY_WINDOW_ID", "TERM_SESSION_ID", "WT_SESSION", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", caseRoot+"/home")
	t.Setenv("TZ", "UTC")
	for _, path := range paths {
		caseDir := filepath.Dir(path)
		name := filepath.Base(filepath.Dir(caseDir)) + "/" + filepath.Base(caseDir)
		t.Run(name, func(t *testing.T) { runCase(t, caseDir, name, differ) })
	}
	must(t, os.RemoveAll(caseRoot))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readCase reads recorded JSON with the store's own decoder, which keeps lone
// surrogates.
func readCase(t *testing.T, path string) jsonl.Value {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	v, n, err := jsonl.Parse(text)
	if err != nil {
		t.Fatalf("%s at %d: %v", path, n, err)
	}
	return v
}

// filesStep is the step of a divergence in the files that are left.
const filesStep = -1

// divergence is a recorded result that a decision of ours overrules.
type divergence struct {
	rule int
	why  string
	want jsonl.Value
}

// readDivergences reads tables of divergences; one that is missing is empty.
func readDivergences(t *testing.T, paths ...string) map[string]divergence {
	t.Helper()
	all := map[string]divergence{}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		for _, d := range tableRows(readCase(t, path)) {
			step := int(d.Get("step").Num())
			if d.Get("step").Str() == "files" {
				step = filesStep
			}
			all[fmt.Sprintf("%s/%d", d.Get("case").Str(), step)] = divergence{rule: int(d.Get("rule").Num()), why: d.Get("why").Str(), want: wantOf(d)}
		}
	}
	return all
}

// tableRows are the rows of a table of divergences, which may stand under a
// key of an object.
func tableRows(v jsonl.Value) []jsonl.Value {
	for _, m := range v.Obj().Members() {
		if m.Value.Is(jsonl.Array) {
			return m.Value.Items()
		}
	}
	return v.Items()
}

// wantOf is what a row says we return instead.
func wantOf(row jsonl.Value) jsonl.Value {
	for _, key := range []string{"want", "instead", "returns", "result", "ours"} {
		if v := row.Get(key); !v.Is(jsonl.Absent) {
			return v
		}
	}
	return jsonl.Value{}
}

// caseRunner is what one case runs in.
type caseRunner struct {
	t        *testing.T
	name     string
	env      map[string]string
	now      time.Time
	entries  int
	sessions int
	store    *session.Store
	home     scope.Home
	process  *scope.Process
	open     map[string]*session.Session
}

func runCase(t *testing.T, dir, name string, differ map[string]divergence) {
	c := readCase(t, filepath.Join(dir, "case.json"))
	if ofHistory(c) {
		must(t, os.RemoveAll(caseRoot))
		must(t, os.MkdirAll(caseRoot, 0o755))
		historycase.Run(t, dir, caseRoot)
		return
	}
	want := readCase(t, filepath.Join(dir, "want.json"))
	setUpCase(t, dir, c)
	r := newCaseRunner(t, name, c)
	defer r.close()
	steps, results := c.Get("steps").Items(), want.Get("results").Items()
	if len(steps) == 0 || len(steps) != len(results) {
		t.Fatalf("%d steps and %d results", len(steps), len(results))
	}
	for i, step := range steps {
		got := r.run(step)
		r.compare(i, step, results[i], got, differ)
	}
	r.close()
	if files := want.Get("files"); files.Is(jsonl.Object) && (!c.Get("snapshot").Is(jsonl.Bool) || c.Get("snapshot").Bool()) {
		r.compareFiles(files, differ)
	}
}

// ofHistory tells the cases about prompt history, which have a runner of their
// own.
func ofHistory(c jsonl.Value) bool {
	return slices.ContainsFunc(c.Get("steps").Items(), func(step jsonl.Value) bool {
		return step.Get("op").Str() == "hOpen"
	})
}

func newCaseRunner(t *testing.T, name string, c jsonl.Value) *caseRunner {
	r := &caseRunner{t: t, name: name, open: map[string]*session.Session{}, env: map[string]string{}}
	r.now = time.UnixMilli(1772366400000).UTC()
	if at := c.Get("now"); at.Is(jsonl.String) {
		r.setNow(at.Str())
	}
	for _, m := range c.Get("env").Obj().Members() {
		r.env[m.Key] = m.Value.Str()
		t.Setenv(m.Key, m.Value.Str())
	}
	home, err := scope.FindHome("", r.getenv, caseRoot+"/home", exists)
	must(t, err)
	r.home = home.WithUser(caseRoot+"/home", os.TempDir())
	r.process = scope.ThisProcess()
	r.process.Now = func() time.Time { return r.now }
	terminal := session.TerminalID(r.getenv, "")
	r.store = session.NewStore(storage.Disk(storage.Policy{}), session.Options{
		Home: r.home, ProjectDir: "/tmp", Process: r.process, Terminal: terminal,
		Now:          func() time.Time { return r.now },
		NewEntryID:   r.entryID,
		UpgradeIDs:   r.entryID,
		NewSessionID: r.sessionID,
	})
	return r
}

// getenv looks up a variable that the case sets.
func (r *caseRunner) getenv(name string) string { return r.env[name] }

func (r *caseRunner) entryID() string {
	r.entries++
	return fmt.Sprintf("%08x", r.entries)
}

func (r *caseRunner) sessionID() string {
	r.sessions++
	return fmt.Sprintf("01950000-0000-7000-8000-%012x", r.sessions)
}

func (r *caseRunner) setNow(at string) {
	ms, ok := jsonl.ParseDate(at)
	if !ok {
		r.t.Fatalf("clock %q", at)
	}
	r.now = time.UnixMilli(int64(ms)).UTC()
}

func (r *caseRunner) close() {
	for name, s := range r.open {
		if err := s.Close(); err != nil {
			r.t.Logf("close %s: %v", name, err)
		}
		delete(r.open, name)
	}
}

func (r *caseRunner) compare(i int, step, want, got jsonl.Value, differ map[string]divergence) {
	r.t.Helper()
	what := step.Get("op").Str() + " " + step.Get("method").Str()
	want = comparableResult(want)
	if d, ok := differ[fmt.Sprintf("%s/%d", r.name, i)]; ok {
		if !d.want.Is(jsonl.Absent) && encode(want, d.want) == encode(d.want, d.want) {
			r.t.Errorf("step %d (%s): decision %d changes nothing: drop it from the table", i, what, d.rule)
		}
		if d.want.Is(jsonl.Absent) {
			r.t.Logf("step %d (%s): decision %d, whatever it gives: %s", i, what, d.rule, encode(got, want))
			return
		}
		want = comparableResult(d.want)
	}
	if unordered(step) {
		want, got = sortRows(want), sortRows(got)
	}
	if diff := cmp.Diff(encode(want, want), encode(got, want)); diff != "" {
		r.t.Errorf("step %d (%s) (-want +got):\n%s\nfull got: %s", i, what, diff, encode(got, want))
	}
}

// in is a path of the case.
func in(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(caseRoot, path)
}

func setUpCase(t *testing.T, dir string, c jsonl.Value) {
	t.Helper()
	must(t, os.RemoveAll(caseRoot))
	must(t, os.MkdirAll(caseRoot+"/home", 0o755))
	must(t, os.Chmod(caseRoot, 0o755))
	must(t, os.Chmod(caseRoot+"/home", 0o700))
	if from := filepath.Join(dir, "in"); exists(from) {
		must(t, os.CopyFS(caseRoot, os.DirFS(from)))
		must(t, filepath.WalkDir(caseRoot, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == caseRoot || path == caseRoot+"/home" {
				return err
			}
			if d.IsDir() {
				return os.Chmod(path, 0o755)
			}
			return os.Chmod(path, 0o644)
		}))
	}
	for _, d := range c.Get("mkdirs").Items() {
		must(t, os.MkdirAll(in(d.Str()), 0o700))
	}
	for _, m := range c.Get("symlinks").Obj().Members() {
		must(t, os.Symlink(m.Value.Str(), in(m.Key)))
	}
	for _, m := range c.Get("modes").Obj().Members() {
		bits, err := strconv.ParseUint(m.Value.Str(), 8, 32)
		must(t, err)
		must(t, os.Chmod(in(m.Key), fs.FileMode(bits)))
	}
	for _, m := range c.Get("mtimes").Obj().Members() {
		at, err := time.Parse(time.RFC3339, m.Value.Str())
		must(t, err)
		must(t, os.Chtimes(in(m.Key), at, at))
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
