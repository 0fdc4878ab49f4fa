package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

func TestErrorsAreOneSentence(t *testing.T) {
	at := func(op, path string, code error) error { return &fs.PathError{Op: op, Path: path, Err: code} }
	rolled := &jsonl.AppendError{Outcome: jsonl.RolledBack, Err: at("write", "/h/x.jsonl", syscall.ENOSPC)}
	unsure := &jsonl.AppendError{Outcome: jsonl.Uncertain, Err: at("fsync", "/h/x.jsonl", syscall.EIO)}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a path alone", at("open", "/h", syscall.EACCES), "can't open /h: permission denied"},
		{"a path told before", fmt.Errorf("list /h/s: %w", at("open", "/h/s", syscall.ENOTDIR)), "can't list /h/s: a part of that path is a file, no directory"},
		{"steps between", fmt.Errorf("open session x.jsonl: %w", fmt.Errorf("take writer lease: %w", at("open", "/h/.x.lease", syscall.EROFS))),
			"can't open session x.jsonl: the file system is read-only (/h/.x.lease)"},
		{"a rename", fmt.Errorf("fork session: %w", &os.LinkError{Op: "rename", Old: "/h/a", New: "/h/b", Err: syscall.ENOSPC}),
			"can't fork session: the disk is full: make room and try again (/h/b)"},
		{"the system's own verb", at("mkdir", "/h/s", syscall.EROFS), "can't make /h/s: the file system is read-only"},
		{"a lock", fmt.Errorf("lock index: %w", storage.ErrLocked), "can't lock index: another process has it locked; try again in a moment"},
		{"an unsafe file", fmt.Errorf("open session: %w", &storage.UnsafeError{Path: "/h/l.jsonl", Reason: "is a symbolic link"}), "can't open session: is a symbolic link"},
		{"a lease", fmt.Errorf("branch: %w", &session.BusyError{Path: "/h/x.jsonl", PID: 7, Host: "a", Since: "b"}), "branch: another process writes it; --wait waits for it"},
		{"half of it", at("write", "/h/x.jsonl", io.ErrShortWrite), "can't write /h/x.jsonl: the disk took only a part of it, so it is full: make room and try again"},
		{"quota", fmt.Errorf("append summaries: %w", at("write", "/h/x", syscall.EDQUOT)), "can't append summaries: the quota of the disk is used up: make room and try again (/h/x)"},
		{"nothing written", fmt.Errorf("session x: %w", rolled), "session x: nothing was written: the disk is full: make room and try again (/h/x.jsonl)"},
		{"perhaps written", fmt.Errorf("session x: %w", unsure), "session x: it is not known what was written: the disk answers with an error (/h/x.jsonl)"},
		{"history", fmt.Errorf("open history: %w", fmt.Errorf("%w: %w", history.ErrReadOnly, at("open", "/h/history.db", syscall.EROFS))),
			"history can't be written here: the file system is read-only (/h/history.db)"},
		{"both halves", errors.Join(at("open", "/h", syscall.EACCES), at("open", "/h", syscall.EACCES), errors.New("close it")), "can't open /h: permission denied; close it"},
		{"worded before", fmt.Errorf("read /h: %s%w", "is gone", silent{at("open", "/h", fs.ErrNotExist)}), "read /h: is gone"},
		{"of nothing known", errors.New("no session: at all"), "no session: at all"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := sentence(tt.err); got != tt.want {
				t.Errorf("sentence(%v)\n got %q\nwant %q", tt.err, got, tt.want)
			}
		})
	}
}

// readOnlyDisk is a disk of which nothing can be written.
type readOnlyDisk struct{ storage.FS }

func (r readOnlyDisk) TryLock(name string, _ storage.LockMode) (storage.Lock, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EROFS}
}

func TestWhatCannotBeWrittenIsSaidPlainly(t *testing.T) {
	home, _, id, path := begun(t)
	lease := filepath.Join(filepath.Dir(path), "."+strings.TrimSuffix(filepath.Base(path), ".jsonl")+".lease")
	for _, args := range [][]string{{"title", id, "x"}, {"label", "set", id, "00000001", "x"}, {"append", id}} {
		_, errs, status := said(t, readOnlyDisk{storage.Disk(storage.Policy{})}, user("x"), append(args, "--home", home)...)
		_, text, _ := strings.Cut(errs, "can't open session ")
		if want := filepath.Base(path) + ": the file system is read-only (" + lease + ")\n"; status != exitError || text != want {
			t.Errorf("%q: status %d, stderr %q, want …%q", args, status, errs, want)
		}
	}
}

func TestTheWorkingDirectoryIsGone(t *testing.T) {
	home, _, id, path := begun(t)
	gone := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(gone)
	if err := os.Remove(gone); err != nil {
		t.Skip(err)
	}
	if _, err := os.Getwd(); err == nil {
		t.Skip("a removed directory still has a name here")
	}
	for _, args := range [][]string{{"new"}, {"continue"}, {"scope"}, {"resolve", "./x.jsonl"}, {"list", "--cwd", "."}, {"history", "add", "x"}} {
		_, errs, status := said(t, nil, "", append(args, "--home", home)...)
		want := "gjc-index: the working directory is gone: go to another one, or give a whole path\n"
		if status != exitMissing || errs != want {
			t.Errorf("%q: status %d, want %d; stderr %q, want %q", args, status, exitMissing, errs, want)
		}
	}
	for _, args := range [][]string{{"resolve", id[:8]}, {"show", id[:8]}, {"show", path}, {"list"}} {
		if _, errs, status := said(t, nil, "", append(args, "--home", home)...); status != exitDone {
			t.Errorf("%q: status %d, stderr %q", args, status, errs)
		}
	}
}
