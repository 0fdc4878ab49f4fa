package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
)

type migrateFlags struct {
	writeFlags
	cwd         string
	all, dryRun bool
}

func (a *app) migrateCommand() *cobra.Command {
	var f migrateFlags
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Copy sessions of older layouts into their scopes",
		Long: `Copy the sessions that older layouts keep for the working directory, for --cwd,
or with --all for every one, into its scope, and say of each file what happened
and why. The files that were copied stay where they are; both programs list the
copy from then on. A file that was refused stops no other (exit status 3).

A session is also copied when it is first written, so this need not be run.`,
		Example: `  gjc-index migrate --dry-run
  gjc-index migrate --all --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.migrate(cmd.Context(), f) },
	}
	f.addMigration(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.cwd, "cwd", "", "those of the working directory `DIR` (default: the one you are in)")
	fl.BoolVar(&f.all, "all", false, "those of every working directory that exists")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be done and change nothing")
	return cmd
}

// migratedJSON is what became of one file; fields are only ever added.
type migratedJSON struct {
	Source      string  `json:"source"`
	ID          string  `json:"id"`
	Destination *string `json:"destination"`
	Action      string  `json:"action"` // copied, would_copy, kept or refused
	Reason      *string `json:"reason"`
}

func (a *app) migrate(ctx context.Context, f migrateFlags) error {
	if err := a.homeOnly("older layouts lie in a home"); err != nil {
		return err
	}
	if f.all && f.cwd != "" {
		return usagef("--all and --cwd say different things: give one of them")
	}
	policy, err := a.policy(f.writeFlags)
	if err != nil {
		return err
	}
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	workspaces := []string{f.cwd}
	if f.all {
		workspaces, err = a.legacyWorkspaces(ctx, home)
	} else {
		workspaces[0], err = a.directory(f.cwd)
	}
	if err != nil {
		return err
	}
	seen := 0
	for _, dir := range workspaces {
		n, err := a.migrateOne(ctx, home, dir, scope.MigrateOptions{Policy: policy, DryRun: f.dryRun, By: scope.ThisProcess()})
		seen += n
		if err != nil && (!f.all || ctx.Err() != nil) {
			return err
		}
		if err != nil {
			a.leftOut++
			a.note("left out: %s: %s", dir, sentence(err))
		}
	}
	if seen == 0 && !a.json {
		a.note("no session of an older layout")
	}
	return nil
}

// legacyWorkspaces are the workspaces that older layouts hold sessions of. A
// file whose workspace is gone can't be copied, which is told.
func (a *app) legacyWorkspaces(ctx context.Context, home scope.Home) ([]string, error) {
	all, err := scope.AllCandidates(ctx, a.fsys, home)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, c := range all.Owned {
		if c.Provenance == scope.Legacy && !slices.Contains(dirs, c.Cwd) {
			dirs = append(dirs, c.Cwd)
		}
	}
	for _, bad := range all.Invalid {
		if !inOlderLayout(bad.Path) {
			continue // it was never to be copied
		}
		reason := "can't be read as a session: " + bad.Code
		if bad.Code == "cwd_not_found" {
			reason = "its working directory is gone; gjc-index rebind gives it another"
		}
		if err := a.printMigrated(scope.Migration{Source: bad.Path, Action: scope.Refused, Err: errors.New(reason)}); err != nil {
			return nil, err
		}
	}
	if all.Skipped > 0 {
		a.leftOut += all.Skipped
		a.note("%s directories of older layouts, past the limit, were not looked into", comma(all.Skipped))
	}
	return dirs, nil
}

// inOlderLayout reports whether a session file, or a directory of them, is one
// of an older layout.
func inOlderLayout(path string) bool {
	if scope.IsTranscriptName(filepath.Base(path)) {
		path = filepath.Dir(path)
	}
	return strings.HasPrefix(filepath.Base(path), "-")
}

// migrateOne copies what one workspace has, and returns how many files it has.
func (a *app) migrateOne(ctx context.Context, home scope.Home, dir string, opt scope.MigrateOptions) (int, error) {
	sc, err := scope.Lookup(a.fsys, home, dir)
	if err == nil && !opt.DryRun && opt.Policy != scope.Disabled {
		sc, err = scope.Ensure(ctx, a.fsys, home, dir)
	}
	if err != nil {
		return 0, err
	}
	report, err := sc.Migrate(ctx, a.fsys, opt)
	for _, m := range report {
		if opt.Policy == scope.Disabled && m.Action == scope.Kept && m.Destination == "" {
			m.Err = scope.ErrMigrationDisabled
		}
		if perr := a.printMigrated(m); perr != nil {
			return len(report), perr
		}
	}
	return len(report), err
}

func (a *app) printMigrated(m scope.Migration) error {
	reason := ""
	switch {
	case m.Err != nil:
		reason = plain(sentence(m.Err))
	case m.Action == scope.Kept:
		reason = "it was copied before"
	}
	if m.Action == scope.Refused {
		a.leftOut++
	}
	if a.json {
		return a.printJSON(migratedJSON{m.Source, m.SessionID, orNull(m.Destination), string(m.Action), orNull(reason)})
	}
	words := map[scope.Action]string{scope.Copied: "copied", scope.WouldCopy: "would copy", scope.Kept: "kept", scope.Refused: "refused"}
	a.printf("%-11s%s\n", words[m.Action], plain(m.Source))
	if m.Destination != "" {
		a.printf("%-11sto %s\n", "", plain(m.Destination))
	}
	if reason != "" {
		a.printf("%-11s%s\n", "", reason)
	}
	return nil
}
