package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// The bounds of the search in a workspace's own directory.
const (
	maxLocalDirs  = 4096
	maxLocalFiles = 1000
)

// projectLocal finds the transcripts that a workspace keeps under <cwd>/.gjc:
// those directly in it, in a directory agent-session, or anywhere below one
// called sessions. No link is followed. Source: behaviour part 15.
func (s *Store) projectLocal(ctx context.Context, cwd string) (paths []string, left []LeftOut, err error) {
	abs, err := filepath.Abs(cwd)
	if err != nil {
		return nil, nil, err
	}
	w := &localWalk{fsys: s.fsys, skip: s.ownDirectories()}
	root := scope.ProjectLocal(abs)
	info, err := s.fsys.Lstat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, []LeftOut{leftOut(root, err)}, nil
	case info.Kind != storage.Dir:
		if info.Kind == storage.Symlink {
			return nil, []LeftOut{{Path: root, Reason: "is a symbolic link"}}, nil
		}
		return nil, nil, nil
	}
	err = w.directory(ctx, root, true, false)
	if w.cut != "" {
		w.left = append(w.left, LeftOut{Path: root, Reason: w.cut})
	}
	return w.paths, w.left, err
}

// ownDirectories are the parts of the home that lie under .gjc of the user's
// home directory. What is in them belongs to other workspaces.
func (s *Store) ownDirectories() []string {
	h := s.opt.Home
	dirs := []string{h.Sessions(), h.Trash(), h.Blobs(), h.Breadcrumbs()}
	for _, dir := range dirs {
		if real, err := storage.RealPath(dir); err == nil {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

type localWalk struct {
	fsys  storage.FS
	skip  []string
	dirs  int
	paths []string
	left  []LeftOut
	cut   string // why the search stopped early
}

// directory searches dir. counts says that files here are transcripts, sessions
// that so are those of everything below.
func (w *localWalk) directory(ctx context.Context, dir string, counts, sessions bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.dirs++; w.dirs > maxLocalDirs {
		w.cut = fmt.Sprintf("only the first %d directories were searched", maxLocalDirs)
		return nil
	}
	entries, err := w.fsys.StatDir(dir)
	if err != nil {
		w.left = append(w.left, leftOut(dir, err))
		return nil
	}
	slices.SortFunc(entries, func(a, b storage.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range entries {
		if w.cut != "" {
			return nil
		}
		path := filepath.Join(dir, e.Name)
		switch {
		case e.Info.Kind == storage.Dir && !slices.Contains(w.skip, path):
			below := sessions || e.Name == "sessions"
			if err := w.directory(ctx, path, below || e.Name == "agent-session", below); err != nil {
				return err
			}
		case !counts || !scope.IsTranscriptName(e.Name) || e.Info.Kind == storage.Dir:
		default:
			w.file(path, e.Info)
		}
	}
	return nil
}

func (w *localWalk) file(path string, info storage.Info) {
	switch reason := notPlain(info); {
	case reason != "":
		w.left = append(w.left, LeftOut{Path: path, Reason: reason})
	case len(w.paths) == maxLocalFiles:
		w.cut = fmt.Sprintf("only the first %d transcripts were taken", maxLocalFiles)
	default:
		w.paths = append(w.paths, path)
	}
}
