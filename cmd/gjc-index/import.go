package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session/export"
)

func (a *app) importCommand() *cobra.Command {
	var cwd string
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Restore the sessions of an archive",
		Long: `Restore the sessions of an archive that export has made. The whole archive is
checked against its sums before anything is written, and no file is replaced: a
session that is there already stays as it is. Each goes to the workspace it
comes from, or to --cwd; with --session-dir, into that directory.`,
		Example: "  gjc-index import work.tar.zst\n  gjc-index import work.tar.zst --cwd .",
		Args:    oneArg("an archive"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.importArchive(cmd.Context(), args[0], cwd) },
	}
	cmd.Flags().StringVar(&cwd, "cwd", "", "into the workspace `DIR`, which their headers then name")
	return cmd
}

func (a *app) importArchive(ctx context.Context, file, cwd string) error {
	path, err := a.absolute(file)
	if err != nil {
		return err
	}
	if cwd != "" {
		if cwd, err = a.absolute(cwd); err != nil {
			return err
		}
	}
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	return a.withIndex(ctx, func(x *index.Index) error {
		opt := export.ImportOptions{Blobs: blob.New(a.fsys, home.Blobs()), Place: func(s export.Archived) (string, string, error) {
			return a.placeOf(ctx, x, home, s, cwd)
		}}
		rep, err := export.Import(ctx, a.fsys, path, opt)
		if err != nil {
			return importError(file, err)
		}
		return a.imported(rep)
	})
}

// placeOf is the directory and the workspace in which a session is restored.
func (a *app) placeOf(ctx context.Context, x *index.Index, home scope.Home, s export.Archived, cwd string) (string, string, error) {
	workspace := s.Cwd
	if cwd != "" {
		workspace = cwd
	}
	dir := ""
	if a.sessionDir != "" {
		abs, err := a.absolute(a.sessionDir)
		if err != nil {
			return "", "", err
		}
		dir = abs
	}
	if dir == "" {
		if workspace == "" {
			return "", "", errors.New("it names no workspace: give --cwd DIR")
		}
		sc, err := scope.Ensure(ctx, a.fsys, home, workspace)
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", fmt.Errorf("its workspace %s is not there: give --cwd DIR", workspace)
		}
		if err != nil {
			return "", "", err
		}
		dir = sc.Dir
	}
	if row, err := x.Find(ctx, s.ID); err == nil && row.ID == s.ID && baseName(row.Path) != s.Name {
		return "", "", fmt.Errorf("the same session is there already: %s", row.Path)
	}
	return dir, workspace, nil
}

func importError(file string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, export.ErrArchive):
		return fmt.Errorf("%s can't be imported: %w", file, err)
	}
	return fmt.Errorf("import %s: %s%w", file, cause(err), silent{err})
}

// importedJSON is one restored session; fields are only ever added.
type importedJSON struct {
	Path  string `json:"path"`
	State string `json:"state"` // restored or present
}

func (a *app) imported(rep export.ImportReport) error {
	say := func(paths []string, state string) error {
		for _, path := range paths {
			if a.json {
				if err := a.printJSON(importedJSON{path, state}); err != nil {
					return err
				}
			} else if state == "restored" {
				a.printf("%s\n", path)
			}
		}
		return nil
	}
	if err := errors.Join(say(rep.Restored, "restored"), say(rep.Present, "present")); err != nil {
		return err
	}
	a.note("%s restored, %d there already, %s", count(len(rep.Restored), "session"), len(rep.Present), count(rep.Blobs, "blob"))
	if rep.Redacted {
		a.note("the archive was redacted: secrets and lines that could not be read are not in it")
	}
	for _, l := range rep.LeftOut {
		a.leftOut++
		a.note("%s was left out: %s", l.Path, l.Reason)
	}
	return nil
}
