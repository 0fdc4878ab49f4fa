package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/export"
)

type importFlags struct {
	cwd   string
	force bool
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Restore the sessions of an archive",
		Long: `Restore the sessions of an archive that export has made. The whole archive is
checked against its sums before anything is written, and no file is replaced: a
session that is there already stays as it is. Each goes to the workspace it
comes from, or to --cwd; with --session-dir, into that directory. One that is
there in another place, or was deleted here, is left out without --force.`,
		Example: "  gjc-index import work.tar.zst\n  gjc-index import work.tar.zst --cwd .",
		Args:    oneArg("an archive"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.importArchive(cmd.Context(), args[0], f) },
	}
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "into the workspace `DIR`, which their headers then name")
	cmd.Flags().BoolVar(&f.force, "force", false, "also sessions that are there in another place, or were deleted")
	return cmd
}

func (a *app) importArchive(ctx context.Context, file string, f importFlags) error {
	path, err := a.absolute(file)
	if err != nil {
		return err
	}
	if f.cwd != "" {
		if f.cwd, err = a.absolute(f.cwd); err != nil {
			return err
		}
	}
	home, err := a.homeDir()
	if err != nil {
		return err
	}
	return a.withIndex(ctx, func(x *index.Index) error {
		store := session.NewStore(a.fsys, session.Options{Home: home, Now: a.now, Log: a.logger()})
		trash, err := store.Trash(ctx)
		if err != nil {
			return importError(file, err)
		}
		im := restoring{app: a, x: x, home: home, f: f, trash: trash, placed: map[string]bool{}}
		opt := export.ImportOptions{
			Blobs:         blob.New(a.fsys, home.Blobs()),
			Place:         func(s export.Archived) (string, string, error) { return im.place(ctx, s) },
			RaiseEventIDs: store.RaiseEventIDs,
		}
		rep, err := export.Import(ctx, a.fsys, path, opt)
		if err != nil {
			return importError(file, err)
		}
		return a.imported(rep)
	})
}

// restoring is one run of the command.
type restoring struct {
	*app
	x      *index.Index
	home   scope.Home
	f      importFlags
	trash  []session.Trashed
	placed map[string]bool // sessions of the archive, by their ids
}

// place is the directory and the workspace in which a session is restored.
func (im *restoring) place(ctx context.Context, s export.Archived) (dir, workspace string, err error) {
	if workspace = s.Cwd; im.f.cwd != "" {
		workspace = im.f.cwd
	}
	var sc *scope.Scope
	if im.sessionDir != "" {
		if dir, err = im.absolute(im.sessionDir); err != nil {
			return "", "", err
		}
	} else {
		if workspace == "" {
			return "", "", errors.New("it names no workspace: give --cwd DIR")
		}
		if !filepath.IsAbs(workspace) { // what it means here would be chance
			return "", "", fmt.Errorf("its workspace %s is no path of this machine: give --cwd DIR", workspace)
		}
		sc, err = scope.Ensure(ctx, im.fsys, im.home, workspace)
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", fmt.Errorf("its workspace %s is not there: give --cwd DIR", workspace)
		}
		if err != nil {
			return "", "", errors.New(sentence(err))
		}
		dir = sc.Dir
	}
	if im.f.force {
		return dir, workspace, nil
	}
	return dir, workspace, im.refuse(ctx, s, sc, filepath.Join(dir, s.Name))
}

// refuse is why a session does not go to a path, if it doesn't: two of one id
// could be told apart by their paths alone, and what was deleted stays so.
func (im *restoring) refuse(ctx context.Context, s export.Archived, sc *scope.Scope, path string) error {
	if im.placed[s.ID] {
		return fmt.Errorf("the archive holds the session %s twice: --force restores it as well", s.ID)
	}
	im.placed[s.ID] = true
	if row, err := im.x.Find(ctx, s.ID); err == nil && row.ID == s.ID && realPath(row.Path) != realPath(path) {
		return fmt.Errorf("the same session is there already, as %s: --force restores it as well", row.Path)
	}
	if sc == nil {
		return nil
	}
	for _, t := range im.trash {
		if t.ID == s.ID {
			return fmt.Errorf("it lies in the trash: gjc-index restore %s brings it back, --force restores this one", s.ID)
		}
	}
	deleted, err := sc.Deleted(ctx, im.fsys, s.ID, s.Name)
	if err == nil && deleted {
		if _, lerr := im.fsys.Lstat(path); errors.Is(lerr, fs.ErrNotExist) {
			err = errors.New("it was deleted here: --force brings it back")
		}
	}
	return err
}

func importError(file string, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s to import; give the path of an archive that export --format archive made%w", file, silent{err})
	case errors.Is(err, export.ErrArchive):
		_, why, _ := strings.Cut(err.Error(), export.ErrArchive.Error()+": ")
		return fmt.Errorf("%s is %s: %s%w", file, export.ErrArchive, why, silent{err})
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
