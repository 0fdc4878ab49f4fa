// Package historycase runs recorded cases of the prompt history (the operations
// hOpen, hReopen, hAdd, hAddMany, hSearch, hRecent and sql) against package
// history, for whichever test wants to.
package historycase

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// recordedRoot stands for the root in the files.
const recordedRoot = "/tmp/oc-root"

// setup is a case.json.
type setup struct {
	Mkdirs   []string          `json:"mkdirs"`
	Symlinks map[string]string `json:"symlinks"`
	Modes    map[string]string `json:"modes"`
	Mtimes   map[string]string `json:"mtimes"`
	Now      string            `json:"now"`
	Snapshot *bool             `json:"snapshot"`
	Steps    []step            `json:"steps"`
}

type step struct {
	Op      string  `json:"op"`
	Prompt  any     `json:"prompt"`
	Prompts [][]any `json:"prompts"`
	Cwd     any     `json:"cwd"`
	Q       any     `json:"q"`
	Exec    any     `json:"exec"`
	Args    []any   `json:"args"`
	Limit   limit   `json:"limit"`
	At      string  `json:"at"`
	File    string  `json:"file"`
	Dir     string  `json:"dir"`
	Text    any     `json:"text"`
	Mode    string  `json:"mode"`
}

// want is a want.json.
type want struct {
	Results []map[string]any          `json:"results"`
	Files   map[string]map[string]any `json:"files"`
}

// Run runs the case in caseDir. root is an empty directory to run it in.
func Run(t *testing.T, caseDir, root string) {
	t.Helper()
	var c setup
	var w want
	readJSON(t, filepath.Join(caseDir, "case.json"), root, &c)
	readJSON(t, filepath.Join(caseDir, "want.json"), root, &w)
	r := &runner{t: t, ctx: t.Context(), root: root, now: parseTime(t, c.Now)}
	r.prepare(filepath.Join(caseDir, "in"), c)
	t.Cleanup(r.close)
	if len(c.Steps) == 0 || len(c.Steps) != len(w.Results) {
		t.Fatalf("%d steps and %d results", len(c.Steps), len(w.Results))
	}
	for i, s := range c.Steps {
		ok, err := r.do(s)
		r.compare(fmt.Sprintf("step %d %s %v", i, s.Op, s.Q), w.Results[i], ok, err)
	}
	if c.Snapshot == nil || *c.Snapshot {
		r.compareFiles(w.Files)
	}
}

type runner struct {
	t     *testing.T
	ctx   context.Context
	root  string
	now   time.Time
	store *history.Store
	raw   *migrations.DB
}

func readJSON(t *testing.T, name, root string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		data = bytes.ReplaceAll(data, []byte(recordedRoot), []byte(root))
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
}

func parseTime(t *testing.T, s string) time.Time {
	t.Helper()
	if s == "" {
		s = "2026-03-01T12:00:00.000Z"
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func (r *runner) prepare(in string, c setup) {
	if _, err := os.Stat(in); err == nil {
		r.must(os.CopyFS(r.root, os.DirFS(in)))
	}
	for _, dir := range c.Mkdirs {
		r.must(os.MkdirAll(r.abs(dir), 0o700))
	}
	for name, target := range c.Symlinks {
		r.must(os.Symlink(target, r.abs(name)))
	}
	for name, mode := range c.Modes {
		r.must(os.Chmod(r.abs(name), r.mode(mode)))
	}
	for name, at := range c.Mtimes {
		r.must(os.Chtimes(r.abs(name), parseTime(r.t, at), parseTime(r.t, at)))
	}
}

// mode is the permission bits that octal digits say.
func (r *runner) mode(octal string) os.FileMode {
	m, err := strconv.ParseUint(octal, 8, 32)
	r.must(err)
	return os.FileMode(m)
}

func (r *runner) abs(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.root, name)
}

func (r *runner) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) path() string { return filepath.Join(r.root, "home", ".gjc", "agent", "history.db") }

func (r *runner) close() {
	if r.store != nil {
		r.must(r.store.Close())
		r.store = nil
	}
	if r.raw != nil {
		r.must(r.raw.Close())
		r.raw = nil
	}
}

// do runs one step; ok is nil for "nothing returned".
func (r *runner) do(s step) (ok any, err error) {
	switch s.Op {
	case "hOpen", "hReopen":
		if r.store != nil {
			r.must(r.store.Close())
		}
		r.store, err = history.Open(r.ctx, storage.Disk(storage.Policy{}), r.path(),
			history.Options{Now: func() time.Time { return r.now }})
		return nil, err
	case "hAdd":
		r.must(r.store.Add(text(s.Prompt), cwd(s.Cwd)))
		return nil, r.store.Flush(r.ctx)
	case "hAddMany":
		for _, p := range s.Prompts {
			var dir any
			if len(p) > 1 {
				dir = p[1]
			}
			r.must(r.store.Add(text(p[0]), cwd(dir)))
		}
		return nil, r.store.Flush(r.ctx)
	case "hSearch":
		found, err := r.store.Search(r.ctx, history.Query{Text: text(s.Q), Cwd: cwd(s.Cwd), Limit: history.Limit(s.Limit.number())})
		return values(found), err
	case "hRecent":
		found, err := r.store.Recent(r.ctx, history.Query{Cwd: cwd(s.Cwd), Limit: history.Limit(s.Limit.number())})
		return values(found), err
	case "sql":
		return r.sql(s)
	case "setNow":
		r.now = parseTime(r.t, s.At)
		return nil, nil
	}
	return r.doFile(s)
}

// sql runs a statement on a connection of its own, as another program would.
func (r *runner) sql(s step) (any, error) {
	if r.raw == nil {
		db, err := migrations.Open(r.ctx, storage.Disk(storage.Policy{}), r.path(), migrations.History, migrations.Options{})
		r.must(err)
		r.raw = db
	}
	if exec := text(s.Exec); exec != "" {
		_, err := r.raw.ExecContext(r.ctx, exec)
		return nil, err
	}
	var args []any
	for _, a := range s.Args {
		args = append(args, value(a))
	}
	rows, err := r.raw.QueryxContext(r.ctx, text(s.Q), args...)
	if err != nil {
		return nil, err
	}
	return collect(rows)
}

func collect(rows *sqlx.Rows) (any, error) {
	all := []any{}
	for rows.Next() {
		row := map[string]any{}
		if err := rows.MapScan(row); err != nil {
			return nil, err
		}
		for name, v := range row {
			switch v := v.(type) {
			case int64:
				row[name] = float64(v)
			case []byte:
				row[name] = string(v)
			}
		}
		all = append(all, row)
	}
	return all, rows.Close()
}

// values gives prompts the shape of the recorded ones.
func values(prompts []history.Prompt) any {
	all := []any{}
	for _, p := range prompts {
		row := map[string]any{"id": float64(p.ID), "prompt": p.Text, "created_at": float64(p.Time.Unix())}
		if p.Cwd != nil {
			row["cwd"] = *p.Cwd
		}
		all = append(all, row)
	}
	return all
}

func (r *runner) compare(what string, recorded map[string]any, got any, err error) {
	r.t.Helper()
	if _, fails := recorded["err"]; fails != (err != nil) {
		r.t.Errorf("%s: error %v, recorded %v", what, err, recorded["err"])
		return
	}
	want, has := recorded["ok"]
	if !has {
		want = nil
	}
	if diff := cmp.Diff(r.concrete(want, got), got); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// concrete puts into want what its macros stand for.
func (r *runner) concrete(want, got any) any {
	switch w := want.(type) {
	case []any:
		g, _ := got.([]any)
		out := make([]any, len(w))
		for i := range w {
			var other any
			if i < len(g) {
				other = g[i]
			}
			out[i] = r.concrete(w[i], other)
		}
		return out
	case map[string]any:
		if w["$now"] == true {
			return float64(r.now.Unix())
		}
		if big, ok := w["$big"].(map[string]any); ok {
			if s, ok := got.(string); ok && isBig(s, big) {
				return s
			}
			return w
		}
		g, _ := got.(map[string]any)
		out := map[string]any{}
		for k, v := range w {
			out[k] = r.concrete(v, g[k])
		}
		return out
	}
	return want
}

// compareFiles looks for the same names, with no more permissions than
// recorded.
func (r *runner) compareFiles(want map[string]map[string]any) {
	r.t.Helper()
	got := map[string]map[string]any{}
	r.must(filepath.WalkDir(r.root, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == r.root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.root, path)
		name := filepath.ToSlash(rel)
		if d.IsDir() {
			name += "/"
		}
		entry := map[string]any{"mode": fmt.Sprintf("%o", info.Mode().Perm())}
		if w, ok := want[name]; ok {
			m, err := strconv.ParseUint(fmt.Sprint(w["mode"]), 8, 32)
			r.must(err)
			if uint64(info.Mode().Perm())&^m == 0 {
				entry = w
			}
		}
		if !strings.HasSuffix(name, ".lock") {
			got[name] = entry
		}
		return err
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("files (-want +got):\n%s", diff)
	}
}
