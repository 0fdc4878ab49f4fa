package main

// What the commands that write sessions have in common: how a session is
// found, opened, and given up.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

// sessionCommands are the commands that write sessions, or choose one.
func (a *app) sessionCommands() []*cobra.Command {
	return []*cobra.Command{
		a.newCommand(), a.appendCommand(), a.forkCommand(), a.branchCommand(), a.labelCommand(), a.titleCommand(),
		a.scopeCommand(), a.continueCommand(), a.resolveCommand(), a.migrateCommand(), a.rebindCommand(),
		a.deleteCommand(), a.inventoryCommand(),
	}
}

// writeFlags say how a session is opened for writing.
type writeFlags struct {
	migration string
	wait      time.Duration
	sync      bool
	terminal  string // whose last session is remembered; "" for none
}

func (f *writeFlags) addMigration(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.migration, "directory-migration", "",
		"what becomes of a session of an older layout that is written: `HOW` is copy-retain (default) or disabled")
	complete(cmd, "directory-migration", string(scope.CopyRetain), string(scope.Disabled))
}

func (f *writeFlags) add(cmd *cobra.Command) {
	f.addMigration(cmd)
	cmd.Flags().DurationVar(&f.wait, "wait", 0, "wait up to `D`, such as 5s, while another process writes the session")
}

// policy is --directory-migration, checked; without it the setting.
func (a *app) policy(f writeFlags) (scope.Policy, error) {
	p := scope.Policy(f.migration)
	if f.migration != "" && p != scope.CopyRetain && p != scope.Disabled {
		return "", usagef("--directory-migration is copy-retain or disabled, not %q", f.migration)
	}
	if f.wait < 0 {
		return "", usagef("--wait %v: it is a time from 0 on, such as 5s", f.wait)
	}
	if f.migration != "" {
		return p, nil
	}
	s, err := a.settings()
	return s.Migration, err
}

// store is the store of the home, for writing.
func (a *app) store(f writeFlags) (*session.Store, error) {
	p, err := a.policy(f)
	if err != nil {
		return nil, err
	}
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return session.NewStore(a.fsys, session.Options{
		Home: home, Now: a.now, Migration: p, KeepUnanswered: true, Sync: f.sync,
		Terminal: f.terminal, Log: a.logger(),
	}), nil
}

// readingStore is a store that can change nothing.
func (a *app) readingStore() (*session.Store, error) {
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return session.NewStore(readOnly{a.fsys}, session.Options{Home: home, Now: a.now, Terminal: a.terminalID(), Log: a.logger()}), nil
}

// explicitDir is --session-dir as a path, "" without it.
func (a *app) explicitDir() (string, error) {
	if a.sessionDir == "" {
		return "", nil
	}
	return a.absolute(a.sessionDir)
}

// homeOnly refuses --session-dir where only a home will do.
func (a *app) homeOnly(what string) error {
	if a.sessionDir != "" {
		return usagef("%s: give --home, not --session-dir", what)
	}
	return nil
}

// directory is --cwd as a path, the working directory without it.
func (a *app) directory(cwd string) (string, error) {
	if cwd == "" {
		cwd = "."
	}
	return a.absolute(cwd)
}

// target finds the session that ref names, by its id or its file. Text that
// can be neither is refused before anything is looked at.
func (a *app) target(ctx context.Context, ref string) (session.Info, error) {
	if isPath(ref) {
		return a.fileTarget(ctx, ref)
	}
	if !canBeID(ref) {
		return session.Info{}, fmt.Errorf("%q is no session id; gjc-index list shows all%w", ref, silent{session.ErrBadID})
	}
	var row index.Row
	err := a.withIndex(ctx, func(x *index.Index) (err error) {
		row, err = a.row(ctx, x, ref)
		return err
	})
	if err != nil {
		return session.Info{}, err
	}
	return a.fileTarget(ctx, row.Path)
}

// isPath reports whether ref is meant as a path.
func isPath(ref string) bool {
	return strings.ContainsRune(ref, filepath.Separator) || strings.HasSuffix(ref, ".jsonl")
}

// copyOfOlder is the one candidate in a scope, if all are the same session: the
// others are what it was copied from.
func copyOfOlder(e *index.AmbiguousError) (row index.Row, ok bool) {
	if e.Total != len(e.Candidates) {
		return row, false
	}
	for _, c := range e.Candidates {
		if c.ID != e.Candidates[0].ID {
			return row, false
		}
		if _, inScope := scope.DigestOf(c.Scope); inScope && !c.Child {
			if ok {
				return row, false
			}
			row, ok = c, true
		}
	}
	return row, ok
}

// fileTarget is the session in a file, which must be one already: what opens
// it would begin a new one.
func (a *app) fileTarget(ctx context.Context, ref string) (session.Info, error) {
	row, err := a.fileRow(ref)
	if err != nil {
		return session.Info{}, err
	}
	st, err := a.readingStore()
	if err != nil {
		return session.Info{}, err
	}
	r, err := st.Resolve(ctx, row.Path, filepath.Dir(row.Path), "")
	if err == nil && r.Session.Path != row.Path { // it was removed meanwhile, and another one has such a name
		return session.Info{}, fmt.Errorf("no session %q; gjc-index list shows all%w", ref, silent{fs.ErrNotExist})
	}
	if err != nil {
		return session.Info{}, loadError(row.Path, err)
	}
	return r.Session, nil
}

// withSession opens a session for the time of fn. It is closed, and with that
// on disk, before withSession returns.
func (a *app) withSession(ctx context.Context, ref string, f writeFlags, opt session.OpenOptions, fn func(s *session.Session) error) error {
	st, err := a.store(f)
	if err != nil {
		return err
	}
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	opt.Wait, opt.Existing = f.wait, true
	s, err := st.Open(ctx, t.Path, opt)
	if err != nil {
		return openError(ref, err)
	}
	if s.Path() != t.Path {
		a.note("%s was of an older layout and was copied to %s, which is written from now on", t.Path, s.Path())
	}
	err = errors.Join(fn(s), s.Close())
	if n := s.Cut(); n > 0 {
		a.note("%s cut: a session file holds no text of more than %s characters, and the rest is not stored", wasCount(n, "text"), comma(jsonl.MaxText))
	}
	return err
}

// wasCount is a number of things in the past.
func wasCount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return count(n, noun) + " were"
}

// openError says in words for people why a session can't be written.
func openError(ref string, err error) error {
	var busy *session.BusyError
	switch {
	case errors.As(err, &busy) && busy.PID != 0:
		return fmt.Errorf("%s is being written by process %d on %s since %s; --wait waits for it%w", ref, busy.PID, busy.Host, busy.Since, silent{err})
	case errors.As(err, &busy):
		return fmt.Errorf("%s is being written by another process; --wait waits for it%w", ref, silent{err})
	}
	return err
}

// placeJSON is a session that a command made or chose; fields are only ever
// added.
type placeJSON struct {
	ID   string  `json:"id"`
	Path string  `json:"path"`
	From string  `json:"from,omitempty"` // the path of the session that it came from
	Leaf *string `json:"leaf,omitempty"` // the entry that the next one follows
	New  bool    `json:"new,omitempty"`
}

func (a *app) printPlace(p placeJSON) error {
	if a.json {
		return a.printJSON(p)
	}
	a.printf("%s  %s\n", plain(p.ID), plain(p.Path))
	return nil
}
