package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) resolveCommand() *cobra.Command {
	var cwd string
	var first bool
	cmd := &cobra.Command{
		Use:   "resolve REF",
		Short: "Find the session that an id, a beginning of one, or a path means",
		Long: `Find the session that REF means: a path, or the beginning of an id or of a
file's name. The working directory's own sessions are looked at first (scope
"local"), then all others ("global"). If several fit, they are listed and the
exit status is 4; --first takes the newest. It only reads.`,
		Example: `  gjc-index resolve 0195c2
  gjc-index resolve 0195c2 --cwd ~/src/ledger --json | jq -r .path`,
		Args: oneArg("a session id or a path"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.resolve(cmd.Context(), args[0], cwd, first) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "as seen from the working directory `DIR` (default: the one you are in)")
	cmd.Flags().BoolVar(&first, "first", false, "if several fit, take the first, which is the newest")
	return cmd
}

// resolvedJSON is what a reference means; fields are only ever added.
type resolvedJSON struct {
	ID     string  `json:"id"`
	Path   string  `json:"path"`
	Cwd    string  `json:"cwd"`
	Title  *string `json:"title"`
	Scope  string  `json:"scope"`  // local or global
	Others int     `json:"others"` // further sessions that would fit
}

func (a *app) resolve(ctx context.Context, ref, cwd string, first bool) error {
	if isPath(ref) {
		if _, err := a.fileTarget(ctx, ref); err != nil {
			return err
		}
	} else if !canBeID(ref) {
		_, err := a.target(ctx, ref)
		return err
	}
	r, err := a.resolved(ctx, ref, cwd)
	if err != nil {
		return err
	}
	if r, err = r.chosen(ref, first); err != nil {
		return err
	}
	in := r.Session
	if !a.json {
		return a.printPlace(placeJSON{ID: in.ID, Path: in.Path})
	}
	out := resolvedJSON{ID: in.ID, Path: in.Path, Cwd: in.Cwd, Scope: r.Scope, Others: len(r.Others)}
	if in.HasTitle {
		out.Title = &in.Title
	}
	return a.printJSON(out)
}

// resolved asks the store. It knows no session whose workspace is gone: those
// are found by the index.
func (a *app) resolved(ctx context.Context, ref, cwd string) (meaning, error) {
	dir, err := a.explicitDir()
	if err != nil {
		return meaning{}, err
	}
	here := cwd == ""
	if cwd, err = a.directory(cwd); err != nil && here && !isPath(ref) { // then nothing is nearer than the rest
		in, err := a.target(ctx, ref)
		return meaning{session.Resolved{Session: in, Scope: session.ScopeGlobal}}, err
	}
	if err != nil {
		return meaning{}, err
	}
	st, err := a.readingStore()
	if err != nil {
		return meaning{}, err
	}
	if isPath(ref) {
		if ref, err = a.absolute(ref); err != nil {
			return meaning{}, err
		}
	}
	r, err := st.Resolve(ctx, ref, cwd, dir)
	if errors.Is(err, fs.ErrNotExist) {
		var in session.Info
		in, err = a.target(ctx, ref)
		return meaning{session.Resolved{Session: in, Scope: session.ScopeGlobal}}, err
	}
	return meaning{r}, err
}

// meaning is what a reference was resolved to.
type meaning struct{ session.Resolved }

// chosen is the one session that is meant. A whole id means its session,
// whatever else begins so; else several are an error unless first is asked for.
func (m meaning) chosen(ref string, first bool) (meaning, error) {
	if len(m.Others) == 0 || first {
		return m, nil
	}
	all := append([]session.Info{m.Session}, m.Others...)
	exact := -1
	for i, in := range all {
		if in.ID == ref {
			if exact >= 0 {
				exact = -1
				break
			}
			exact = i
		}
	}
	if exact >= 0 {
		m.Session, m.Others = all[exact], append(all[:exact:exact], all[exact+1:]...)
		return m, nil
	}
	several := &index.AmbiguousError{Ref: ref, Total: len(all)}
	for _, in := range all[:min(len(all), 20)] {
		several.Candidates = append(several.Candidates, index.Row{ID: in.ID, Path: in.Path, Title: in.Title, HasTitle: in.HasTitle,
			FirstPrompt: in.FirstMessage, Active: in.Modified, Modified: in.Modified})
	}
	return m, fmt.Errorf("%q could be any of %s: give more of the id, or the path%w", ref, count(several.Total, "session"), silent{several})
}
