package session_test

import (
	"context"
	"errors"
	"os"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

func (r *caseRunner) continueRecent(cwd, dir string) (*session.Session, error) {
	found, err := r.store.ContinueRecent(r.ctx(), cwd, session.ContinueOptions{Dir: dir})
	return found.Session, err
}

func (r *caseRunner) listStep(op string, step jsonl.Value) jsonl.Value {
	ctx, dir := context.Background(), step.Get("dir").Str()
	if dir != "" {
		dir = in(dir)
	}
	switch op {
	case "list":
		l, err := r.list(in(step.Get("cwd").Str()), dir)
		return orError(list(l.Sessions, r.infoRow), err)
	case "listAll":
		l, err := r.store.ListAll(ctx)
		return orError(list(l.Sessions, r.infoRow), err)
	case "resolve":
		return r.resolve(step.Get("arg").Str(), in(step.Get("cwd").Str()), dir)
	case "recent":
		limit := 20
		if n := step.Get("limit"); n.Is(jsonl.Number) {
			limit = int(n.Num())
		}
		rows, err := r.store.Recent(ctx, dir, limit)
		return orError(list(rows.Sessions, recentRow), err)
	case "mostRecent":
		path, err := r.store.MostRecent(ctx, dir)
		if path == "" {
			return orError(jsonl.NullValue(), err)
		}
		return orError(text(path), err)
	}
	return object("err", text("unknown step "+op))
}

func (r *caseRunner) list(cwd, dir string) (session.Listing, error) {
	if dir == "" {
		return r.store.List(r.ctx(), cwd)
	}
	return r.store.ListDir(r.ctx(), dir)
}

func (r *caseRunner) resolve(arg, cwd, dir string) jsonl.Value {
	found, err := r.store.Resolve(r.ctx(), arg, cwd, dir)
	if isMissing(err) {
		return ok(jsonl.Value{})
	}
	return orError(object("session", r.infoRow(found.Session), "scope", text(found.Scope)), err)
}

func (r *caseRunner) scopeStep(op string, step jsonl.Value) jsonl.Value {
	cwd := in(step.Get("cwd").Str())
	switch op {
	case "digest":
		return ok(text(scope.Digest(step.Get("platform").Str(), step.Get("path").Str())))
	case "scope":
		return ok(r.scope(cwd))
	case "deleteManaged":
		return r.deleteManaged(step)
	case "legacyNames":
		return ok(list(r.legacyNames(step), text))
	}
	sc, err := scope.Lookup(r.disk(), r.home, cwd)
	if err != nil {
		return failure(err)
	}
	found, err := sc.Candidates(context.Background(), r.disk())
	if err != nil {
		return failure(err)
	}
	return ok(r.candidates(found))
}

func (r *caseRunner) scope(cwd string) jsonl.Value {
	sc, err := scope.Lookup(r.disk(), r.home, cwd)
	var e *scope.Error
	if errors.As(err, &e) {
		var cause jsonl.Value
		if e.Class != "" {
			cause = object("classification", text(e.Class))
		}
		return object("kind", text("error"), "code", text(string(e.Code)), "message", text(e.Message), "cause", cause)
	}
	must(r.t, err)
	return object("kind", text("resolved"), "scope", object(
		"apiVersion", number(1), "layoutVersion", number(2), "identityVersion", number(1),
		"agentDir", text(r.home.Dir()), "sessionsRoot", text(sc.Root), "canonicalCwd", text(sc.Canonical),
		"legacyLexicalCwd", text(sc.Workspace), "directoryName", text(sc.DirName()), "directoryPath", text(sc.Dir),
		"platform", text(sc.Platform)))
}

func (r *caseRunner) candidates(found *scope.Listing) jsonl.Value {
	owned := list(found.Owned, func(c scope.Candidate) jsonl.Value {
		return object("path", text(c.Path), "sessionId", text(c.SessionID), "cwd", text(c.Cwd),
			"provenance", text(string(c.Provenance)), "migrationState", text(string(c.State)), "sha256", sumOf(r.t, c.Path))
	})
	invalid := list(found.Invalid, func(i scope.Invalid) jsonl.Value { return object("code", text(i.Code)) })
	return object("kind", text("complete"), "owned", owned, "foreignCount", number(float64(found.Foreign)), "invalid", invalid)
}

// legacyNames are those of a workspace, or of a path that need not exist.
func (r *caseRunner) legacyNames(step jsonl.Value) []string {
	cwd := in(step.Get("cwd").Str() + step.Get("path").Str())
	if sc, err := scope.Lookup(r.disk(), r.home, cwd); err == nil {
		return sc.LegacyNames()
	}
	return scope.LegacyNames(cwd, cwd, caseRoot+"/home", os.TempDir())
}

func (r *caseRunner) deleteManaged(step jsonl.Value) jsonl.Value {
	ctx, cwd := context.Background(), "w"
	if dir := step.Get("cwd"); dir.Is(jsonl.String) {
		cwd = dir.Str()
	}
	sc, err := scope.Ensure(ctx, r.disk(), r.home, in(cwd))
	if err != nil {
		return failure(err)
	}
	c, err := sc.Candidate(ctx, r.disk(), in(step.Get("file").Str()))
	if err != nil {
		return failure(err)
	}
	_, err = sc.Delete(ctx, r.disk(), r.process, c)
	return done(err)
}
