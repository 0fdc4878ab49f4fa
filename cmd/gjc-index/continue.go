package main

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

func (a *app) continueCommand() *cobra.Command {
	var f writeFlags
	var cwd string
	var begin bool
	cmd := &cobra.Command{
		Use:   "continue",
		Short: "Print the session to go on with in a working directory",
		Long: `Print the id and the path of the session to go on with: the one that this
terminal had last in the working directory, else its newest that can be
opened. What was passed over is told, and why (exit status 3).

Nothing is opened for writing, and nothing is made. With --new the session is
opened as an agent would, which copies one of an older layout, and if there is
none a new one is begun.`,
		Example: `  gjc-index continue
  gjc-index continue --cwd ~/src/ledger --new --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.goOn(cmd.Context(), cwd, begin, f) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&cwd, "cwd", "", "in the working directory `DIR` (default: the one you are in)")
	cmd.Flags().BoolVar(&begin, "new", false, "begin a session if there is none")
	return cmd
}

func (a *app) goOn(ctx context.Context, cwd string, begin bool, f writeFlags) error {
	dir, err := a.explicitDir()
	if err != nil {
		return err
	}
	if cwd, err = a.directory(cwd); err != nil {
		return err
	}
	if begin {
		return a.goOnOrBegin(ctx, cwd, dir, f)
	}
	st, err := a.readingStore()
	if err != nil {
		return err
	}
	path, left, err := st.Recall(ctx, cwd, dir)
	if err != nil {
		return err
	}
	a.sayPassed(left)
	if path == "" {
		return fmt.Errorf("no session to continue in %s; gjc-index new begins one%w", cwd, silent{fs.ErrNotExist})
	}
	t, err := a.fileTarget(ctx, path)
	if err != nil {
		return err
	}
	return a.printPlace(placeJSON{ID: t.ID, Path: t.Path})
}

// goOnOrBegin opens the session, and begins one if there is none.
func (a *app) goOnOrBegin(ctx context.Context, cwd, dir string, f writeFlags) error {
	f.terminal = a.terminalID()
	st, err := a.store(f)
	if err != nil {
		return err
	}
	found, err := st.ContinueRecent(ctx, cwd, session.ContinueOptions{Dir: dir, Open: session.OpenOptions{Wait: f.wait}})
	if err != nil {
		return openError("the session to continue", err)
	}
	a.sayPassed(found.LeftOut)
	s := found.Session
	if found.New {
		err = s.EnsureOnDisk(ctx)
	}
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return a.printPlace(placeJSON{ID: s.ID(), Path: s.Path(), New: found.New})
}

// passedNote is what --json says on stderr of what was left out.
type passedNote struct {
	Note  string       `json:"note"`
	Files []passedFile `json:"files"`
}

type passedFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// sayPassed names the files that an answer left out, and why, and makes the
// exit status tell of them.
func (a *app) sayPassed(left []session.LeftOut) {
	if len(left) == 0 {
		return
	}
	a.leftOut += len(left)
	text := count(len(left), "file") + " left out"
	if a.json {
		note := passedNote{Note: text}
		for _, l := range left {
			note.Files = append(note.Files, passedFile{l.Path, plain(l.Reason)})
		}
		if !a.quiet {
			line, _ := encodeJSON(note) // such a note can always be encoded
			fmt.Fprint(a.stderr, line)
		}
		return
	}
	for _, l := range left {
		a.note("left out: %s %s", l.Path, l.Reason)
	}
}
