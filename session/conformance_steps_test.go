package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

func (r *caseRunner) disk() storage.FS { return storage.Disk(storage.Policy{}) }

// run does one step and returns its result as recorded ones are.
func (r *caseRunner) run(step jsonl.Value) jsonl.Value {
	get := func(key string) string { return step.Get(key).Str() }
	if r.open[r.manager(step)] == nil && slices.Contains([]string{"info", "state", "get", "call", "callPath"}, get("op")) {
		return object("err", text("TypeError")) // there is no such manager
	}
	switch op := get("op"); op {
	case "create", "open", "openManaged", "continueRecent", "inMemory", "forkFrom":
		return r.openStep(op, step)
	case "call", "callPath":
		return r.callStep(op, step)
	case "info":
		return ok(r.info(r.open[r.manager(step)]))
	case "state":
		return ok(r.state(r.open[r.manager(step)]))
	case "get":
		name := get("prop") + get("property") + get("name") + get("key")
		v, known := property(r.open[r.manager(step)], name)
		if !known {
			return object("err", text("unknown property "+name))
		}
		return ok(v)
	case "load", "migrate":
		return r.load(in(get("file")), op == "migrate")
	case "parse":
		return ok(list(jsonl.ParseText(expand(step.Get("text")).Str()), entryValue))
	case "context", "latestCompaction":
		return r.contextStep(step, op)
	case "inspect":
		return r.inspect(in(get("file")))
	case "list", "listAll", "recent", "mostRecent", "resolve":
		return r.listStep(op, step)
	case "scope", "candidates", "legacyNames", "digest", "deleteManaged":
		return r.scopeStep(op, step)
	default:
		return r.fileStep(op, step)
	}
}

func (r *caseRunner) manager(step jsonl.Value) string {
	for _, key := range []string{"m", "as"} {
		if m := step.Get(key).Str(); m != "" {
			return m
		}
	}
	return "m"
}

func (r *caseRunner) openStep(op string, step jsonl.Value) jsonl.Value {
	ctx, cwd, dir := context.Background(), in(step.Get("cwd").Str()), ""
	if d := step.Get("dir").Str(); d != "" {
		dir = in(d)
	}
	var s *session.Session
	var err error
	switch op {
	case "create":
		s, err = r.store.Create(ctx, cwd, session.CreateOptions{Dir: dir, ID: session.LifecycleID(r.getenv)})
	case "open":
		s, err = r.store.Open(ctx, in(step.Get("file").Str()), session.OpenOptions{})
	case "openManaged":
		s, err = r.store.OpenManaged(ctx, in(step.Get("file").Str()), cwd, session.OpenOptions{Migration: scope.Policy(step.Get("policy").Str())})
	case "inMemory":
		s, err = r.store.InMemory(cwd)
	case "forkFrom":
		s, err = r.store.ForkFrom(ctx, in(step.Get("file").Str()), cwd, dir)
	case "continueRecent":
		s, err = r.continueRecent(cwd, dir)
	}
	if err != nil {
		r.t.Logf("%s: %v", op, err)
		return failure(err)
	}
	as := step.Get("as").Str()
	if as == "" {
		as = "m"
	}
	if old := r.open[as]; old != nil {
		if err := old.Close(); err != nil {
			r.t.Logf("close %s: %v", as, err)
		}
	}
	r.open[as] = s
	return ok(r.info(s))
}

func (r *caseRunner) callStep(op string, step jsonl.Value) jsonl.Value {
	args := expand(step.Get("args")).Items()
	if op == "callPath" {
		args = append([]jsonl.Value(nil), args...)
		for i, a := range args {
			if a.Is(jsonl.String) {
				args[i] = text(in(a.Str()))
			}
		}
	}
	return r.call(r.open[r.manager(step)], step.Get("method").Str(), args)
}

func (r *caseRunner) info(s *session.Session) jsonl.Value {
	var file, name, leaf jsonl.Value
	if p := s.Path(); p != "" {
		file = text(p)
	}
	if title, ok := s.Title(); ok {
		name = text(title)
	}
	if err := s.View(context.Background(), func(tree *jsonl.Tree, l jsonl.Leaf) error {
		leaf = leafID(tree, l)
		return nil
	}); err != nil {
		r.t.Log(err)
	}
	return object("file", file, "id", text(s.ID()), "dir", text(s.Dir()), "cwd", text(s.Cwd()), "leafId", leaf, "name", name)
}

func (r *caseRunner) state(s *session.Session) jsonl.Value {
	var name, source, leaf, entries jsonl.Value
	if title, ok := s.Title(); ok {
		name = text(title)
	}
	if by := s.TitleSource(); by != "" {
		source = text(string(by))
	}
	if err := s.View(context.Background(), func(tree *jsonl.Tree, l jsonl.Leaf) error {
		leaf = leafID(tree, l)
		entries = r.entriesOf(s, tree.Entries())
		return nil
	}); err != nil {
		r.t.Log(err)
	}
	return object("leafId", leaf, "entries", entries, "header", jsonl.ObjectValue(s.Header()), "name", name, "titleSource", source, "usage", r.usage(s))
}

func (r *caseRunner) load(path string, upgrade bool) jsonl.Value {
	t, err := jsonl.Load(context.Background(), r.disk(), path, jsonl.LoadOptions{})
	var version *jsonl.VersionError
	switch {
	case errors.As(err, &version):
		return failure(err)
	case errors.Is(err, jsonl.ErrNotTranscript), isMissing(err):
		return ok(jsonl.ArrayValue())
	case err != nil:
		return failure(err)
	}
	if upgrade {
		t.Upgrade(r.entryID)
	}
	values := append([]jsonl.Value{jsonl.ObjectValue(t.Header.Value())}, list(t.Records, entryValue).Items()...)
	return ok(jsonl.ArrayValue(values...))
}

func entryValue(e *jsonl.Entry) jsonl.Value { return jsonl.ObjectValue(e.Value()) }

func (r *caseRunner) contextStep(step jsonl.Value, op string) jsonl.Value {
	var entries []*jsonl.Entry
	if step.Get("entries").Is(jsonl.Absent) {
		t, err := jsonl.Load(context.Background(), r.disk(), in(step.Get("file").Str()), jsonl.LoadOptions{})
		if err != nil {
			return failure(err)
		}
		if step.Get("migrate").Bool() {
			t.Upgrade(r.entryID)
		}
		entries = t.Entries()
	}
	if op == "latestCompaction" {
		if e := jsonl.LatestCompaction(entries); e != nil {
			return ok(entryValue(e))
		}
		return ok(jsonl.NullValue())
	}
	tree, leaf := jsonl.NewTree(entries), jsonl.LeafLast()
	switch id := step.Get("leafId"); id.Kind() {
	case jsonl.Null:
		leaf = jsonl.LeafRoot()
	case jsonl.String:
		leaf = tree.ContextLeaf(id.Str())
	}
	return ok(jsonl.BuildContext(tree.Path(leaf)).Value())
}

func (r *caseRunner) inspect(path string) jsonl.Value {
	inspected := jsonl.Inspect(context.Background(), r.disk(), path, jsonl.LoadOptions{})
	if !inspected.Verdict.Openable() {
		return ok(object("kind", text("error"), "reason", text(string(inspected.Verdict))))
	}
	return ok(object("kind", text(string(inspected.Verdict)), "sessionId", text(inspected.SessionID), "sha256", sumOf(r.t, path)))
}

// fileStep runs the steps that stand for what people and other programs do.
func (r *caseRunner) fileStep(op string, step jsonl.Value) jsonl.Value {
	path := in(step.Get("file").Str())
	switch op {
	case "readFile":
		raw, err := os.ReadFile(path)
		return orError(text(string(raw)), err)
	case "ls":
		return r.ls(in(step.Get("dir").Str()))
	case "write":
		return done(os.WriteFile(path, []byte(expand(step.Get("text")).Str()), 0o644))
	case "append":
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return failure(err)
		}
		_, err = f.WriteString(expand(step.Get("text")).Str())
		return done(errors.Join(err, f.Close()))
	case "rm":
		return done(os.RemoveAll(path))
	case "chmod":
		bits, err := strconv.ParseUint(step.Get("mode").Str(), 8, 32)
		must(r.t, err)
		return done(os.Chmod(path, os.FileMode(bits)))
	case "utimes":
		at, err := time.Parse(time.RFC3339, step.Get("at").Str()+step.Get("mtime").Str())
		must(r.t, err)
		return done(os.Chtimes(path, at, at))
	case "blobPut":
		ref, err := blob.New(r.disk(), in(step.Get("dir").Str())).Put(context.Background(), []byte(expand(step.Get("text")).Str()))
		return orError(object("hash", text(ref.Hex()), "ref", text(ref.String())), err)
	case "setNow":
		r.setNow(step.Get("at").Str())
		return ok(jsonl.Value{})
	case "settle":
		return ok(jsonl.Value{})
	}
	return object("err", text("unknown step "+op))
}

func (r *caseRunner) ls(dir string) jsonl.Value {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return failure(err)
	}
	names := []jsonl.Value{}
	for _, e := range entries {
		if !ours(filepath.Join(dir, e.Name())) {
			names = append(names, text(e.Name()))
		}
	}
	return ok(jsonl.ArrayValue(names...))
}
