package storagetest_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
	"github.com/google/go-cmp/cmp"
)

// names are those of dir, temporary files counted and not named, since a killed
// child leaves at most the one it was writing.
func names(t *testing.T, fsys storage.FS, dir string) (list []string, temps int) {
	t.Helper()
	all, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if _, ok := storage.TempOf(e.Name); ok {
			temps++
			continue
		}
		list = append(list, e.Name)
	}
	return list, temps
}

func putText(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func TestReplaceKilledBeforeEachOperation(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			if err := storage.Replace(t.Context(), disk, filepath.Join(dir, "f"), 0o600, putText("0")); err != nil {
				t.Fatal(err)
			}
		},
		func(fsys storage.FS, dir string, ack func()) error {
			for i := 1; i <= 3; i++ {
				if err := storage.Replace(context.Background(), fsys, filepath.Join(dir, "f"), 0o600, putText(fmt.Sprint(i))); err != nil {
					return err
				}
				ack()
			}
			return nil
		},
		func(t *testing.T, dir string, acked int) {
			got, err := storage.ReadFile(disk, filepath.Join(dir, "f"), 10)
			if err != nil {
				t.Fatal(err)
			}
			if s := string(got); s != fmt.Sprint(acked) && s != fmt.Sprint(acked+1) {
				t.Errorf("content is %q after %d acknowledged replacements", s, acked)
			}
			list, temps := names(t, disk, dir)
			if diff := cmp.Diff([]string{"f"}, list); diff != "" || temps > 1 {
				t.Errorf("%d temporary files, names (-want +got):\n%s", temps, diff)
			}
		})
}

func TestPublishKilledBeforeEachOperation(t *testing.T) {
	disk := storage.Disk(storage.Policy{OwnerOnly: true})
	storagetest.EachStep(t, nil,
		func(fsys storage.FS, dir string, ack func()) error {
			for i := range 2 {
				if err := storage.Publish(context.Background(), linking{fsys}, filepath.Join(dir, fmt.Sprint(i)), 0o600, putText("whole")); err != nil {
					return err
				}
				ack()
			}
			return nil
		},
		func(t *testing.T, dir string, acked int) {
			list, temps := names(t, disk, dir)
			if len(list) < acked || len(list) > acked+1 || temps > 1 {
				t.Errorf("%d acknowledged, names are %v and %d temporary", acked, list, temps)
			}
			for _, name := range list {
				got, err := storage.ReadFile(disk, filepath.Join(dir, name), 10)
				if err != nil || string(got) != "whole" {
					t.Errorf("ReadFile(%s) = %q, %v, want whole", name, got, err)
				}
			}
		})
}

// linking publishes as a system without RENAME_NOREPLACE does.
type linking struct{ storage.FS }

func (l linking) RenameNoReplace(oldname, newname string) error {
	if err := l.Link(oldname, newname); err != nil {
		return err
	}
	return l.Remove(oldname)
}
