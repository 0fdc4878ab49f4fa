package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

func (a *app) filesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "files ID",
		Short: "List the files that a session changed",
		Long: `List the files that a session's tool results prove to have been changed, over all
its branches and what was archived. The list only ever grows: a later restore
takes nothing away. Shell calls prove nothing; how many there were, and whether
the evidence is complete, is said beside the list.`,
		Example: "  gjc-index files 0195c2\n  gjc-index files 0195c2 --json | jq -r '.files[].path'",
		Args:    oneArg("a session id"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.files(cmd.Context(), args[0]) },
	}
}

// filesJSON is what a session changed; fields are only ever added.
type filesJSON struct {
	ID         string     `json:"id"`
	Path       string     `json:"path"`
	Complete   bool       `json:"complete"`      // nothing is missing from the list
	Unproven   int64      `json:"unprovenCalls"` // that may have changed anything
	Overflow   int64      `json:"overflow"`      // changes beyond the bound
	Incomplete bool       `json:"incomplete"`    // some entries hold no evidence
	Files      []fileJSON `json:"files"`
}

// fileJSON is a file that was changed; fields are only ever added.
type fileJSON struct {
	Path  string           `json:"path"` // absolute where the workspace is known
	Said  string           `json:"said"` // as the session has it
	Ops   map[string]int64 `json:"ops"`
	First string           `json:"first"` // timestamps of the entries that show it
	Last  string           `json:"last"`
}

func opsOf(o jsonl.EffectOps) map[string]int64 {
	ops := map[string]int64{}
	for name, n := range map[string]int64{"create": o.Create, "write": o.Write, "edit": o.Edit, "delete": o.Delete, "rename": o.Rename} {
		if n > 0 {
			ops[name] = n
		}
	}
	return ops
}

func fileOf(cwd string, p jsonl.EffectPath) fileJSON {
	return fileJSON{Path: session.EffectFile(cwd, p.Path), Said: p.Path, Ops: opsOf(p.Ops), First: p.First, Last: p.Last}
}

func (a *app) files(ctx context.Context, ref string) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	st, err := a.readingStore()
	if err != nil {
		return err
	}
	x, err := st.Effects(ctx, t.Path)
	if err != nil {
		return openError(t.ID, err)
	}
	if a.json {
		out := filesJSON{ID: t.ID, Path: t.Path, Complete: !x.Incomplete && x.Overflow == 0 && x.UnprovenCalls == 0,
			Unproven: x.UnprovenCalls, Overflow: x.Overflow, Incomplete: x.Incomplete, Files: []fileJSON{}}
		for _, p := range x.Paths {
			out.Files = append(out.Files, fileOf(t.Cwd, p))
		}
		return a.printJSON(out)
	}
	for _, p := range x.Paths {
		a.printf("%s  %s\n", pad(opWords(p.Ops), 24), plain(session.EffectFile(t.Cwd, p.Path)))
	}
	a.sayEvidence(x)
	return nil
}

func (a *app) sayEvidence(x *checkpoint.Effects) {
	switch {
	case len(x.Paths) == 0 && x.UnprovenCalls == 0 && !x.Incomplete:
		a.note("no file was changed")
	case len(x.Paths) == 0:
		a.note("no file is proven to have been changed")
	}
	if x.UnprovenCalls > 0 {
		a.note("%s may have changed other files", count(x.UnprovenCalls, "shell call"))
	}
	if x.Overflow > 0 {
		a.note("%s are not listed: there were too many", count(x.Overflow, "change"))
	}
	if x.Incomplete {
		a.note("some entries hold no evidence either way: the list may lack files")
	}
}

func opWords(o jsonl.EffectOps) string {
	var words []string
	for _, op := range []struct {
		name string
		n    int64
	}{{"create", o.Create}, {"write", o.Write}, {"edit", o.Edit}, {"delete", o.Delete}, {"rename", o.Rename}} {
		switch {
		case op.n == 1:
			words = append(words, op.name)
		case op.n > 1:
			words = append(words, op.name+"×"+strconv.FormatInt(op.n, 10))
		}
	}
	return strings.Join(words, " ")
}

func (a *app) touchedCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "touched PATH",
		Short: "List the sessions that changed a file",
		Long: `List the sessions whose tool results prove that they changed a file, the last
active first. PATH may be a file that is gone, or a directory: then a change of
anything below it counts.`,
		Example: "  gjc-index touched internal/server.go\n  gjc-index touched . --json",
		Args:    oneArg("the path of a file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.touched(cmd.Context(), args[0]) },
	}
}

// touchedJSON is a session that changed a file; fields are only ever added.
type touchedJSON struct {
	ID     string     `json:"id"`
	Path   string     `json:"path"`
	Title  string     `json:"title"`
	Active *string    `json:"active"`
	Files  []fileJSON `json:"files"`
}

func (a *app) touched(ctx context.Context, ref string) error {
	if ref == "" {
		return usagef("touched wants the path of a file")
	}
	path, err := a.absolute(ref)
	if err != nil {
		return err
	}
	return a.withIndex(ctx, func(x *index.Index) error {
		found, err := x.Touched(ctx, path)
		if err != nil {
			return err
		}
		for _, t := range found.Sessions {
			if err := a.printTouched(t); err != nil {
				return err
			}
		}
		for _, f := range found.Failed {
			if !slices.Contains(a.failed, f) {
				a.failed = append(a.failed, f)
			}
		}
		if len(found.Sessions) == 0 {
			a.note("no session is known to have changed %s", path)
		}
		bad, err := a.badFiles(ctx, x)
		if err == nil {
			a.sayLeftOut(bad)
		}
		return err
	})
}

func (a *app) printTouched(t index.TouchedRow) error {
	if a.json {
		out := touchedJSON{ID: t.Row.ID, Path: t.Row.Path, Title: titleOf(t.Row), Active: jsonTime(t.Row.Active)}
		for _, p := range t.Files {
			out.Files = append(out.Files, fileOf(t.Row.Cwd, p))
		}
		return a.printJSON(out)
	}
	var ops jsonl.EffectOps
	for _, p := range t.Files {
		ops.Create, ops.Write, ops.Edit = ops.Create+p.Ops.Create, ops.Write+p.Ops.Write, ops.Edit+p.Ops.Edit
		ops.Delete, ops.Rename = ops.Delete+p.Ops.Delete, ops.Rename+p.Ops.Rename
	}
	a.printf("%s  %s  %s  %s\n", day(t.Row.Active), plain(t.Row.ID), pad(opWords(ops), 16), preview(titleOf(t.Row), 60))
	return nil
}
