package scope

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// projectName is the file in a scope that remembers the project of a worktree.
const projectName = ".gjc-index.project.json"

// maxGitFile bounds the one-line files of git that are read.
const maxGitFile = 16 << 10

// ProjectOf is the directory that stands for all workspaces of one repository:
// its main checkout, also for a linked worktree and for a directory inside of
// either, or the repository itself if it is bare. A workspace in no repository
// is its own project, and so is a submodule. It is found by reading .git,
// gitdir and commondir files; git is not run, and a worktree is believed only
// if its repository names it back. workspace is a canonical path.
func ProjectOf(fsys storage.FS, workspace string) string {
	for dir := workspace; ; {
		git := filepath.Join(dir, ".git")
		info, err := fsys.Lstat(git)
		switch {
		case err == nil && info.Kind == storage.Dir:
			return dir
		case err == nil && info.Kind == storage.Regular:
			if root, ok := mainCheckout(fsys, git); ok {
				return root
			}
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return workspace
		}
		dir = parent
	}
}

// mainCheckout follows the .git file of a linked worktree to its repository.
func mainCheckout(fsys storage.FS, git string) (string, bool) {
	line, ok := gitLine(fsys, git)
	target, isFile := strings.CutPrefix(line, "gitdir:")
	if !ok || !isFile {
		return "", false
	}
	gitdir := against(filepath.Dir(git), strings.TrimSpace(target))
	back, ok := gitLine(fsys, filepath.Join(gitdir, "gitdir"))
	if !ok || !samePath(against(gitdir, back), git) {
		return "", false
	}
	common, ok := gitLine(fsys, filepath.Join(gitdir, "commondir"))
	if !ok {
		return "", false
	}
	repository, err := storage.RealPath(against(gitdir, common))
	if err != nil {
		return "", false
	}
	if info, err := fsys.Lstat(repository); err != nil || info.Kind != storage.Dir {
		return "", false
	}
	if filepath.Base(repository) == ".git" {
		return filepath.Dir(repository), true
	}
	return repository, true
}

// gitLine is the first line of a small regular file.
func gitLine(fsys storage.FS, path string) (string, bool) {
	raw, err := storage.ReadFile(fsys, path, maxGitFile)
	if err != nil {
		return "", false
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	line = strings.TrimRight(line, "\r")
	return line, line != "" && !strings.ContainsRune(line, 0)
}

func against(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func samePath(a, b string) bool {
	if a == b {
		return true
	}
	ra, errA := storage.RealPath(a)
	rb, errB := storage.RealPath(b)
	return errA == nil && errB == nil && ra == rb
}

// Project is the project of the scope's workspace. While the workspace is
// there it is asked; a workspace that was removed is remembered by the file
// that Ensure wrote, and is its own project without one. It reads only.
func (s *Scope) Project(fsys storage.FS) string {
	if info, err := fsys.Lstat(s.Canonical); err == nil && info.Kind == storage.Dir {
		return ProjectOf(fsys, s.Canonical)
	}
	if root, ok := s.rememberedProject(fsys); ok {
		return root
	}
	return s.Canonical
}

func (s *Scope) rememberedProject(fsys storage.FS) (string, bool) {
	v, ok := readRecord(fsys, filepath.Join(s.Dir, projectName))
	root := v.Get("project").Str()
	return root, ok && v.Get("v").Num() == 1 && filepath.IsAbs(root)
}

// rememberProject writes down the project of a worktree, or of another part of
// a repository, since a removed one can't be asked. A workspace that is its
// own project needs no file.
func (s *Scope) rememberProject(ctx context.Context, fsys storage.FS) error {
	root := ProjectOf(fsys, s.Canonical)
	if known, ok := s.rememberedProject(fsys); known == root || !ok && root == s.Canonical {
		return nil
	}
	return storage.Replace(ctx, fsys, filepath.Join(s.Dir, projectName), 0o600,
		writeJSON(object("v", number(1), "project", text(root))))
}
