package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

func TestProjectCountsAllWorktrees(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, linked, other := filepath.Join(root, "app"), filepath.Join(root, "app-fix"), filepath.Join(root, "lib")
	gitdir := filepath.Join(main, ".git", "worktrees", "fix")
	for _, dir := range []string{gitdir, linked, other, filepath.Join(main, "cmd")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(linked, ".git"), "gitdir: "+gitdir+"\n")
	writeFile(t, filepath.Join(gitdir, "gitdir"), filepath.Join(linked, ".git")+"\n")
	writeFile(t, filepath.Join(gitdir, "commondir"), "../..\n")
	link := filepath.Join(root, "alias")
	if err := os.Symlink(main, link); err != nil {
		t.Skip(err)
	}
	home := makeHome(t, map[string]string{
		"a/a.jsonl": small("main", main, "retry", 1), "b/b.jsonl": small("linked", linked, "retry it", 2),
		"c/c.jsonl": small("other", other, "retry that", 3), "d/d.jsonl": small("inside", filepath.Join(main, "cmd"), "retry all", 4),
	})
	for _, dir := range []string{main, linked, link, filepath.Join(main, "cmd")} {
		wantIDs(t, "--project "+dir, listed(t, "--home", home, "--project", dir), "inside", "linked", "main")
	}
	wantIDs(t, "--cwd", listed(t, "--home", home, "--cwd", main), "main")
	wantIDs(t, "--cwd by a link", listed(t, "--home", home, "--cwd", link), "main")
	out, _, status := answer(t, "search", "--home", home, "--json", "--project", linked, "retry")
	if got := len(objects(t, out)); status != exitDone || got != 3 {
		t.Errorf("search --project: status %d, %d hits, want 3", status, got)
	}
	out, _, _ = answer(t, "list", "--home", home, "--json", "--cwd", linked)
	if got := objects(t, out)[0]["project"]; got != main {
		t.Errorf("project of a worktree: %v, want %s", got, main)
	}
}

// unreadable refuses to open one file.
type unreadable struct {
	storage.FS
	name string
}

func (u unreadable) Open(name string) (storage.File, error) {
	if name == u.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return u.FS.Open(name)
}

func TestUnreadableFileHidesNoOther(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("a", "/p", "one", 1), "p/b.jsonl": small("b", "/p", "two", 2)})
	name := filepath.Join(home, "sessions", "p", "a.jsonl")
	ask := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		a := newApp(strings.NewReader(""), &out, &errs)
		a.fsys = unreadable{a.fsys, name}
		status := a.run(context.Background(), append(args, "--home", home))
		return out.String(), errs.String(), status
	}
	out, errs, status := ask("list")
	if status != exitPart || !strings.Contains(out, "two") || errs != "gjc-index: 1 file left out (1 unreadable); gjc-index list --damaged names them\n" {
		t.Errorf("list: status %d, %q, stderr %q", status, out, errs)
	}
	out, errs, status = ask("search", "--role", "any", "o")
	if status != exitPart || !strings.Contains(out, "two") || strings.Count(errs, "left out") != 1 {
		t.Errorf("search: status %d, %q, stderr %q", status, out, errs)
	}
	out, errs, status = ask("list", "--damaged")
	if status != exitDone || !strings.HasPrefix(out, name+"\n") {
		t.Errorf("list --damaged: status %d, %q, stderr %q", status, out, errs)
	}
	_, errs, status = ask("show", name)
	if want := "gjc-index: read " + name + ": permission denied\n"; status != exitError || errs != want {
		t.Errorf("show: status %d, stderr %q, want %q", status, errs, want)
	}
	_, errs, status = ask("reindex", "--full", "--json")
	if status != exitPart || errs != "" {
		t.Errorf("reindex: status %d, stderr %q", status, errs)
	}
	// Once it can be read it is there again: a change of its mode shows.
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "afterwards", listed(t, "--home", home), "b", "a")
}

func TestCompletionOffersIDs(t *testing.T) {
	home := makeHome(t, map[string]string{"p/a.jsonl": small("abc-1", "/p", "one\ttwo", 1), "p/b.jsonl": small("xyz-2", "/p", "three", 2)})
	listed(t, "--home", home)
	out, _, _ := answer(t, "__complete", "--home", home, "show", "ab")
	if !strings.HasPrefix(out, "abc-1\tone two\n") || strings.Contains(out, "xyz") {
		t.Errorf("completion of show ab: %q", out)
	}
	if out, _, _ := answer(t, "__complete", "list", "--sort", ""); !strings.HasPrefix(out, "active\n") {
		t.Errorf("completion of --sort: %q", out)
	}
	none := filepath.Join(home, "none")
	if _, _, _ = answer(t, "__complete", "--home", none, "show", ""); dirExists(none) {
		t.Error("completion made a home")
	}
}

func dirExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
