package storagetest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
	"github.com/google/go-cmp/cmp"
)

// memoryDir is a Memory with one empty, durable directory.
func memoryDir(t *testing.T) (*storage.Memory, string) {
	t.Helper()
	m := storage.NewMemory()
	if err := storage.MkdirAll(m, storagetest.CrashDir()); err != nil {
		t.Fatal(err)
	}
	return m, storagetest.CrashDir()
}

func text(t *testing.T, fsys storage.FS, name string) string {
	t.Helper()
	got, err := storage.ReadFile(fsys, name, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

func TestReplaceAndPublishWithFaults(t *testing.T) {
	for _, tt := range []struct {
		name, old string
		put       func(ctx context.Context, fsys storage.FS, name string) error
	}{
		{"replace", "old", func(ctx context.Context, fsys storage.FS, name string) error {
			return storage.Replace(ctx, fsys, name, 0o640, putText("new"))
		}},
		{"publish", "", func(ctx context.Context, fsys storage.FS, name string) error {
			return storage.Publish(ctx, fsys, name, 0o640, putText("new"))
		}},
		{"publish by link", "", func(ctx context.Context, fsys storage.FS, name string) error {
			return storage.Publish(ctx, linking{fsys}, name, 0o640, putText("new"))
		}},
	} {
		for _, plan := range []storagetest.FaultPlan{{}, {Err: syscall.ENOSPC, Short: 1}} {
			t.Run(fmt.Sprintf("%s/short %d", tt.name, plan.Short), func(t *testing.T) {
				storagetest.EachFault(t, plan, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
					return oneFault(t, plan, tt.old, tt.put)
				})
			})
		}
	}
}

// oneFault puts "new" over old with one fault and judges what is left.
func oneFault(t *testing.T, plan storagetest.FaultPlan, old string,
	put func(ctx context.Context, fsys storage.FS, name string) error,
) *storagetest.Fault {
	m, dir := memoryDir(t)
	name := filepath.Join(dir, "f")
	if old != "" {
		if err := storage.Publish(t.Context(), m, name, 0o600, putText(old)); err != nil {
			t.Fatal(err)
		}
	}
	f := storagetest.NewFault(m, plan)
	err := put(t.Context(), f, name)
	if (f.Fired() > 0) != (err != nil) {
		t.Errorf("%d operations failed, error is %v", f.Fired(), err)
	}
	got := text(t, m, name)
	switch {
	case err == nil, errors.Is(err, storage.ErrUnsynced):
		if got != "new" {
			t.Errorf("content after %v is %q, want \"new\"", err, got)
		}
	case got != old && got != "new":
		t.Errorf("content after %v is %q, want %q whole", err, got, old)
	}
	if !plan.Sticky {
		list, temps := names(t, m, dir)
		if temps != 0 || len(list) > 1 {
			t.Errorf("after %v: names %v and %d temporary", err, list, temps)
		}
	}
	return f
}

func TestReplaceAndPublishCrashedBeforeEachOperation(t *testing.T) {
	storagetest.EachCrash(t, nil,
		func(fsys storage.FS, dir string, ack func()) error {
			name := filepath.Join(dir, "f")
			if err := storage.Publish(context.Background(), linking{fsys}, name, 0o600, putText("1")); err != nil {
				return err
			}
			ack()
			for _, s := range []string{"2", "3"} {
				if err := storage.Replace(context.Background(), fsys, name, 0o600, putText(s)); err != nil {
					return err
				}
				ack()
			}
			return nil
		},
		func(t *testing.T, fsys storage.FS, dir string, acked int) {
			got := text(t, fsys, filepath.Join(dir, "f"))
			want := []string{"", "1", "2", "3", "3"}
			if got != want[acked] && got != want[acked+1] {
				t.Errorf("content is %q after %d acknowledged writes", got, acked)
			}
		})
}

func TestCrashKeepsOnlyWhatWasSynced(t *testing.T) {
	m, dir := memoryDir(t)
	put := func(name string, sync bool, chunks ...string) {
		f, err := m.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range chunks {
			if i > 0 && sync {
				if err := f.Sync(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := f.Write([]byte(c)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	put("synced", true, "ab", "cd", "ef")
	put("never", false, "x")
	put("moved", true, "m", "")
	put("gone", true, "g", "")
	if err := m.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	put("unnamed", true, "x", "")
	if err := m.Rename(filepath.Join(dir, "moved"), filepath.Join(dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	if err := m.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	c := m.Crash()
	list, err := c.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		got[e.Name] = text(t, c, filepath.Join(dir, e.Name))
	}
	want := map[string]string{"synced": "abcd", "never": "", "moved": "m", "gone": "g"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the crash (-want +got):\n%s", diff)
	}
}

func TestReplaceTriesARenameAgainThatIsInUse(t *testing.T) {
	for _, tt := range []struct {
		name   string
		plan   storagetest.FaultPlan
		cancel bool
		want   string
		err    error
	}{
		{"three times", storagetest.FaultPlan{N: 1, Times: 3}, false, "new", nil},
		{"for ever", storagetest.FaultPlan{N: 1, Sticky: true}, false, "old", storage.ErrInUse},
		{"for ever and the caller gives up", storagetest.FaultPlan{N: 1, Sticky: true}, true, "old", context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, dir := memoryDir(t)
				name := filepath.Join(dir, "f")
				if err := storage.Replace(t.Context(), m, name, 0o600, putText("old")); err != nil {
					t.Fatal(err)
				}
				tt.plan.Op, tt.plan.Err = storagetest.OpRename, storage.ErrInUse
				ctx := t.Context()
				if tt.cancel {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 1)
					defer cancel()
				}
				err := storage.Replace(ctx, storagetest.NewFault(m, tt.plan), name, 0o600, putText("new"))
				if !errors.Is(err, tt.err) {
					t.Errorf("Replace = %v, want %v", err, tt.err)
				}
				if got := text(t, m, name); got != tt.want {
					t.Errorf("content is %q, want %q", got, tt.want)
				}
				if list, temps := names(t, m, dir); temps != 0 {
					t.Errorf("names %v and %d temporary, want none temporary", list, temps)
				}
			})
		})
	}
}
