package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
)

func (a *app) scopeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "scope [DIR]",
		Short: "Say where the sessions of a working directory are kept",
		Long: `Say who the working directory is (its canonical path and the digest of it),
where its sessions are kept, and whether that directory is bound to it:

  absent     there is none yet; the first session makes it
  ok         it is this workspace's
  invalid    it can't be trusted: what is wrong is told, and how to mend it
  conflict   it belongs to another workspace

It only reads.`,
		Example: `  gjc-index scope
  gjc-index scope ~/src/ledger --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("scope wants one directory at most, and got %d", len(args))
			}
			if len(args) == 1 && args[0] == "" {
				return usagef("the directory is empty: give it a value or leave it out")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.scope(cmd.Context(), dir)
		},
	}
}

// scopeJSON says where a workspace's sessions are; fields are only ever added.
type scopeJSON struct {
	Platform  *string `json:"platform"`
	Canonical *string `json:"canonical"`
	Digest    *string `json:"digest"`
	Dir       *string `json:"dir"`
	Binding   string  `json:"binding"` // absent, ok, invalid or conflict
	Project   *string `json:"project"`
	Error     *string `json:"error"`
	Code      *string `json:"code"` // of the error
	Mend      *string `json:"mend"` // what can be done about it
}

func (a *app) scope(_ context.Context, dir string) error {
	if err := a.homeOnly("a scope lies in a home"); err != nil {
		return err
	}
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	dir, err = a.absolute(dir)
	if err != nil {
		return err
	}
	said, err := a.scopeOf(home, dir)
	if a.json {
		return errors.Join(err, a.printJSON(said))
	}
	a.printScope(said)
	return err
}

// scopeOf looks at the scope of a workspace. What it says is whole as far as
// the error, if there is one, leaves it.
func (a *app) scopeOf(home scope.Home, dir string) (scopeJSON, error) {
	said := scopeJSON{Binding: "absent"}
	id, err := scope.Identify(dir)
	if err == nil {
		where := home.ScopeDir(id)
		project := a.projectOf(id.Canonical)
		said.Platform, said.Canonical, said.Digest = &id.Platform, &id.Canonical, &id.Digest
		said.Dir, said.Project = &where, &project
		var sc *scope.Scope
		if sc, err = scope.Lookup(a.fsys, home, dir); err == nil && sc.Bound {
			said.Binding = "ok"
		}
	}
	var refused *scope.Error
	if errors.As(err, &refused) {
		switch refused.Code {
		case scope.BindingConflict:
			said.Binding = "conflict"
		case scope.BindingInvalid, scope.RootUnavailable:
			said.Binding = "invalid"
		}
		code := string(refused.Code)
		said.Code, said.Mend = &code, orNull(refused.Mend())
	}
	if err != nil {
		said.Error = orNull(plain(err.Error()))
	}
	return said, err
}

func (a *app) printScope(s scopeJSON) {
	row := func(name string, value *string) {
		if value != nil {
			a.printf("%-11s%s\n", name, plain(*value))
		}
	}
	row("workspace", s.Canonical)
	row("digest", s.Digest)
	row("sessions", s.Dir)
	row("binding", &s.Binding)
	row("project", s.Project)
}
