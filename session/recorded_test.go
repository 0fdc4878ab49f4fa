package session

import (
	"context"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// The recorded cases were made under this directory; digests depend on it.
const recordedRoot = "/tmp/oc-root"

// recordedCase runs the steps of a recorded case that only list.
type recordedCase struct {
	t     *testing.T
	store *Store
}

// TestListingAgreesWithTheRecordedCases runs the cases that list and need no
// open session.
func TestListingAgreesWithTheRecordedCases(t *testing.T) {
	dir := filepath.Join("..", "testdata", "conformance")
	if other := os.Getenv("GJC_CONFORMANCE_DIR"); other != "" {
		dir = other
	}
	var cases []string
	for _, group := range []string{"list", "scope"} {
		found, err := filepath.Glob(filepath.Join(dir, group, "*", "case.json"))
		noError(t, err)
		cases = append(cases, found...)
	}
	lock, err := storage.Disk(storage.Policy{}).Lock(t.Context(), recordedRoot+".lock", storage.Exclusive)
	noError(t, err)
	defer func() { _ = lock.Unlock() }()
	t.Setenv("HOME", recordedRoot+"/home")
	t.Setenv("TMPDIR", "")
	for _, path := range cases {
		dir := filepath.Dir(path)
		name := filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
		c := readRecorded(t, path)
		t.Run(name, func(t *testing.T) { runRecorded(t, dir, name, c) })
	}
	noError(t, os.RemoveAll(recordedRoot))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readRecorded(t *testing.T, path string) jsonl.Value {
	t.Helper()
	raw, err := os.ReadFile(path)
	noError(t, err)
	v, err := jsonl.ParseString(string(raw))
	noError(t, err)
	return v
}

func inRoot(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(recordedRoot, path)
}

func setUpRecorded(t *testing.T, dir string, c jsonl.Value) {
	t.Helper()
	noError(t, os.RemoveAll(recordedRoot))
	noError(t, os.MkdirAll(recordedRoot+"/home", 0o755))
	noError(t, os.Chmod(recordedRoot+"/home", 0o700))
	if _, err := os.Stat(filepath.Join(dir, "in")); err == nil {
		noError(t, os.CopyFS(recordedRoot, os.DirFS(filepath.Join(dir, "in"))))
	}
	for _, d := range c.Get("mkdirs").Items() {
		noError(t, os.MkdirAll(inRoot(d.Str()), 0o700))
	}
	for _, m := range c.Get("symlinks").Obj().Members() {
		noError(t, os.Symlink(m.Value.Str(), inRoot(m.Key)))
	}
	for _, m := range c.Get("modes").Obj().Members() {
		bits, err := strconv.ParseUint(m.Value.Str(), 8, 32)
		noError(t, err)
		noError(t, os.Chmod(inRoot(m.Key), os.FileMode(bits)))
	}
	for _, m := range c.Get("mtimes").Obj().Members() {
		at, err := time.Parse(time.RFC3339, m.Value.Str())
		noError(t, err)
		noError(t, os.Chtimes(inRoot(m.Key), at, at))
	}
}

// decided are the recorded rows that a decision overrules: what is left out
// where, and what comes in.
var decided = map[string]string{
	"list/dir-entry/1":         "9: a symbolic link is no session",
	"list/dir-entry/2":         "9: a symbolic link is no session",
	"list/dir-entry/4":         "9: a symbolic link is no session",
	"list/explicit-mixed/0":    "3: a null line drops no file",
	"list/explicit-mixed/1":    "9: a rename counts in small files too",
	"list/random-01/1":         "9: a rename counts in small files too",
	"list/random-05/1":         "9: a rename counts in small files too",
	"list/random-05/2":         "9: a rename counts in small files too",
	"scope/legacy-discovery/1": "9: a dotfile is no session",
	"scope/legacy-discovery/2": "9: a dotfile is no session",
}

// renamed are the names of small files with a rename record, which count here.
var renamed = map[string]string{
	"list/explicit-mixed/1 patched.jsonl":                      "after",
	"list/random-01/1 2026-01-04T00-00-00-000Z_ls-01-03.jsonl": "온실",
	"list/random-05/1 2026-01-10T00-00-00-000Z_ls-05-09.jsonl": `valve back\slash 🚲 été`,
	"list/random-05/2 2026-01-10T00-00-00-000Z_ls-05-09.jsonl": `valve back\slash 🚲 été`,
}

func runRecorded(t *testing.T, dir, name string, c jsonl.Value) {
	setUpRecorded(t, dir, c)
	r := &recordedCase{t: t, store: NewStore(storage.Disk(storage.Policy{}), Options{Home: scope.HomeAt(recordedRoot + "/home/.gjc/agent")})}
	results := readRecorded(t, filepath.Join(dir, "want.json")).Get("results").Items()
	for i, step := range c.Get("steps").Items() {
		got, known := r.step(step)
		if !known {
			return
		}
		want := plainValue(results[i].Get("ok"))
		at := name + "/" + strconv.Itoa(i)
		want = applyDecision(at, want)
		if diff := cmp.Diff(ordered(want), ordered(got), sinceNow); diff != "" {
			t.Errorf("step %d %s, %s (-want +got):\n%s", i, step.Get("op").Str(), decided[at], diff)
		}
	}
}

func applyDecision(at string, want any) any {
	rows, _ := want.([]any)
	var kept []any
	for _, row := range rows {
		m, ok := row.(map[string]any)
		if !ok {
			return want
		}
		base := filepath.Base(m["path"].(string))
		if base == "y.jsonl" || strings.HasPrefix(base, ".") {
			continue
		}
		if name, ok := renamed[at+" "+base]; ok {
			m["name"] = name
		}
		kept = append(kept, m)
	}
	switch at {
	case "list/dir-entry/4":
		return recordedRoot + "/s/real.jsonl"
	case "list/explicit-mixed/0":
		kept = append(kept, map[string]any{"path": recordedRoot + "/s/nullline.jsonl", "id": "id-null", "cwd": recordedRoot + "/w",
			"created":      map[string]any{"$date": "2026-02-10T08:00:00.000Z"},
			"modified":     map[string]any{"$date": "2026-02-10T09:41:00.000Z"},
			"messageCount": 2.0, "messageCountIsEstimate": false, "size": 681.0,
			"firstMessage": "Sort the tide tables by port", "allMessagesText": "Sort the tide tables by port Sorted twelve ports."})
	}
	if rows == nil {
		return want
	}
	return append([]any{}, kept...)
}

func (r *recordedCase) step(step jsonl.Value) (got any, known bool) {
	ctx := context.Background()
	cwd, dir := inRoot(step.Get("cwd").Str()), ""
	if d := step.Get("dir"); d.Is(jsonl.String) {
		dir = inRoot(d.Str())
	}
	switch step.Get("op").Str() {
	case "list":
		return r.rows(r.list(ctx, cwd, dir)), true
	case "listAll":
		l, err := r.store.ListAll(ctx)
		noError(r.t, err)
		return r.rows(l), true
	case "recent":
		limit := 20
		if v := step.Get("limit"); v.Is(jsonl.Number) {
			limit = int(v.Num())
		}
		return r.recent(ctx, dir, limit), true
	case "mostRecent":
		path, err := r.store.MostRecent(ctx, dir)
		noError(r.t, err)
		if path == "" {
			return nil, true
		}
		return path, true
	case "ls":
		var names []any
		entries, err := os.ReadDir(dir)
		noError(r.t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names, true
	}
	return nil, false
}

func (r *recordedCase) list(ctx context.Context, cwd, dir string) Listing {
	l, err := r.store.List(ctx, cwd)
	if dir != "" {
		l, err = r.store.ListDir(ctx, dir)
	}
	noError(r.t, err)
	return l
}

func (r *recordedCase) recent(ctx context.Context, dir string, limit int) any {
	l, err := r.store.Recent(ctx, dir, limit)
	noError(r.t, err)
	rows := []any{}
	for _, s := range l.Sessions {
		row := map[string]any{"path": s.Path, "mtime": isoTime(s.Modified), "name": any(s.Name)}
		if s.Name == "" {
			row["name"] = map[string]any{"$timeLabel": s.Label(time.UTC)}
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *recordedCase) rows(l Listing) any {
	rows := []any{}
	for _, in := range l.Sessions {
		rows = append(rows, infoRow(in))
	}
	return rows
}

func infoRow(in Info) map[string]any {
	created := "Invalid Date"
	if in.HasCreated {
		created = isoTime(in.Created)
	}
	row := map[string]any{"path": in.Path, "id": in.ID, "cwd": in.Cwd,
		"created": map[string]any{"$date": created}, "modified": map[string]any{"$date": isoTime(in.Modified)},
		"messageCount": float64(in.MessageCount), "messageCountIsEstimate": in.Estimated, "size": float64(in.Size),
		"firstMessage": in.FirstMessage, "allMessagesText": in.AllText}
	if in.HasTitle {
		row["title"] = in.Title
	}
	if in.ParentSession != "" {
		row["parentSessionPath"] = in.ParentSession
	}
	return row
}

func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// sinceNow takes a time of today for the recording's own.
var sinceNow = cmp.FilterValues(func(a, b any) bool { return a == "$now" || b == "$now" }, cmp.Comparer(func(a, b any) bool {
	text, ok := b.(string)
	if a != "$now" {
		text, ok = a.(string)
	}
	at, err := time.Parse(time.RFC3339, text)
	return ok && err == nil && time.Since(at) < time.Hour
}))

// ordered sorts rows of equal time by path, since their order is the
// directory's.
func ordered(v any) any {
	rows, ok := v.([]any)
	if !ok || len(rows) == 0 {
		return v
	}
	key := func(i int) string {
		m, ok := rows[i].(map[string]any)
		if !ok {
			return ""
		}
		at, _ := m["modified"].(map[string]any)
		text, _ := at["$date"].(string)
		return text
	}
	sort.SliceStable(rows, func(i, j int) bool {
		if key(i) != key(j) {
			return key(i) > key(j)
		}
		a, ok := rows[i].(map[string]any)
		return ok && a["modified"] != nil && a["path"].(string) < rows[j].(map[string]any)["path"].(string)
	})
	return rows
}

func plainValue(v jsonl.Value) any {
	switch v.Kind() {
	case jsonl.Object:
		m := map[string]any{}
		for _, member := range v.Obj().Members() {
			m[member.Key] = plainValue(member.Value)
		}
		return m
	case jsonl.Array:
		items := []any{}
		for _, item := range v.Items() {
			items = append(items, plainValue(item))
		}
		return items
	case jsonl.String:
		return v.Str()
	case jsonl.Number:
		return v.Num()
	case jsonl.Bool:
		return v.Bool()
	}
	return nil
}
