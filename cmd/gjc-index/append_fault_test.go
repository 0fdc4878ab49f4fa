package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

func TestB004FileDeletedUnderItsWriter(t *testing.T) {
	home, _, _, path := begun(t)
	writes := 0
	fsys := &storagetest.Hook{FS: storage.Disk(storage.Policy{}), Before: func(op storagetest.Op, name string) error {
		if op == storagetest.OpWrite && name == path {
			if writes++; writes == 2 {
				return os.Remove(path)
			}
		}
		return nil
	}}
	out, errs, status := said(t, fsys, user("first")+spokenBy("assistant", "ok")+user("second"), "append", path, "--home", home, "--each")
	if status == exitDone || !strings.Contains(errs, "gjc-index: ") {
		t.Errorf("append: status %d, stderr %q", status, errs)
	}
	got := outcomes(t, out)
	if len(got) == 0 || got[len(got)-1] == "committed" {
		t.Errorf("outcomes %q", got)
	}
	if data, err := os.ReadFile(path); err == nil && !strings.HasPrefix(string(data), `{"type":"session"`) {
		t.Errorf("the file begins with %.60q", data)
	}
	// The next one finds no session, and begins none.
	if out, errs, status := said(t, nil, user("third"), "append", path, "--home", home); status != exitMissing || out != "" {
		t.Errorf("append afterwards: status %d, %q, stderr %q", status, out, errs)
	}
}

func TestB007TornTailIsClosedByAppend(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "torn.jsonl")
	copyFile(t, filepath.Join(faultsDir(), "B007", "session.jsonl"), path)
	before := readFile(t, path)
	printed(t, user("again"), "append", path, "--home", home)
	after := readFile(t, path)
	lines := strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	if !strings.HasPrefix(after, before) || len(lines) != 6 || !json.Valid([]byte(lines[5])) {
		t.Errorf("after the append:\n%s", after)
	}
}

func TestB054FullDisk(t *testing.T) {
	for _, tt := range []struct {
		name     string
		fault    storagetest.FaultPlan
		outcome  string
		status   int
		restored bool
	}{
		{"nothing fits", storagetest.FaultPlan{Op: storagetest.OpWrite, N: 1, Err: syscall.ENOSPC}, "rolled_back", exitRolledBack, true},
		{"half fits", storagetest.FaultPlan{Op: storagetest.OpWrite, N: 1, Err: syscall.ENOSPC, Short: 40}, "rolled_back", exitRolledBack, true},
		{"sync fails", storagetest.FaultPlan{Op: storagetest.OpSync, N: 1, Err: syscall.EIO}, "uncertain", exitUncertain, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, _, _, path := begun(t)
			before := readFile(t, path)
			tt.fault.NeverFor = func(_ storagetest.Op, name string) bool { return name != path }
			fault := storagetest.NewFault(storage.Disk(storage.Policy{}), tt.fault)
			out, errs, status := said(t, fault, user("one"), "append", path, "--home", home, "--json", "--sync")
			if diff := cmp.Diff([]string{tt.outcome}, outcomes(t, out)); diff != "" || status != tt.status {
				t.Errorf("append: status %d, want %d; stderr %q; outcomes (-want +got):\n%s", status, tt.status, errs, diff)
			}
			if !strings.Contains(errs, fmt.Sprintf(`"exit":%d`, tt.status)) {
				t.Errorf("stderr %q", errs)
			}
			if got := readFile(t, path); tt.restored && got != before {
				t.Errorf("the file is %q, want %q", got, before)
			}
			// Where space is again, the session goes on without a hole.
			printed(t, user("two"), "append", path, "--home", home)
			for _, o := range objects(t, readFile(t, path)) {
				if o["type"] == "message" && o["parentId"] == nil && o["message"].(map[string]any)["content"] == "two" && !tt.restored {
					t.Errorf("the next entry follows nothing: %v", o)
				}
			}
		})
	}
}

// What Close could not sync is not committed.
func TestAppendSaysAfterCloseWhatIsOnDisk(t *testing.T) {
	home, _, _, path := begun(t)
	fault := storagetest.NewFault(storage.Disk(storage.Policy{}), storagetest.FaultPlan{
		Op: storagetest.OpSync, N: 1, NeverFor: func(_ storagetest.Op, name string) bool { return name != path }})
	out, errs, status := said(t, fault, user("one")+user("two"), "append", path, "--home", home, "--each")
	if diff := cmp.Diff([]string{"uncertain", "uncertain"}, outcomes(t, out)); diff != "" || status != exitUncertain {
		t.Errorf("append: status %d, want %d; stderr %q; outcomes (-want +got):\n%s", status, exitUncertain, errs, diff)
	}
}
