package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// manyOld is a home with that many old sessions more than pruneHome's two.
func manyOld(t *testing.T, n int) (s *Store, in string) {
	t.Helper()
	disk := storage.Disk(storage.Policy{})
	dir := t.TempDir()
	pruneHome(t, disk, dir)
	s = pruneStore(disk, dir)
	in = filepath.Join(s.opt.Home.Sessions(), scope.DirName(scope.Posix, "/gone/w"))
	for i := range n {
		name := filepath.Join(in, fmt.Sprintf("m%04d.jsonl", i))
		f, err := disk.Create(name)
		noErr(t, err)
		_, err = f.Write([]byte(pruneText(fmt.Sprintf("m%04d", i), "/gone/w", "2025-01-01")))
		noErr(t, errors.Join(err, f.Close()))
		noErr(t, disk.Chtimes(name, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()))
	}
	return s, in
}

// leases counts the lease files of a scope.
func leases(t *testing.T, s *Store, in string) (n int) {
	t.Helper()
	entries, err := s.fsys.ReadDir(in)
	noErr(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name, ".lease") {
			n++
		}
	}
	return n
}

func TestPruneOfSeveralGroupsMovesAllAndRestoreBringsAllBack(t *testing.T) {
	s, in := manyOld(t, 2*groupSize)
	plan, err := s.PlanPrune(t.Context(), Retention{OlderThan: 30 * day})
	noErr(t, err)
	want := 2*groupSize + 2
	n := 0
	noErr(t, s.Prune(t.Context(), plan, false, func(p Pruned) error {
		if p.Path != plan.Rows[n].Path || p.Kept != "" || p.Trash == "" {
			t.Errorf("row %d = %+v", n, p)
		}
		n++
		return nil
	}))
	trash, err := s.Trash(t.Context())
	noErr(t, err)
	if n != want || len(trash) != want || leases(t, s, in) != 0 {
		t.Errorf("%d rows told, %d in the trash, %d lease files; want %d, %d and 0", n, len(trash), leases(t, s, in), want, want)
	}
	noErr(t, s.RestoreAll(t.Context(), time.Time{}, func(r Restored) error {
		if r.Kept != "" {
			t.Errorf("%s stays: %s", r.ID, r.Kept)
		}
		return nil
	}))
	if n := len(planAfter(t, s)); n != want {
		t.Errorf("%d sessions are back, want %d", n, want)
	}
}

func TestPruneThatStopsLeavesTheNextGroupAsItWas(t *testing.T) {
	stop := errors.New("stop")
	for _, tt := range []struct {
		name string
		want error
		told func(cancel func()) error
	}{
		{"done fails", stop, func(func()) error { return stop }},
		{"the context ends", context.Canceled, func(cancel func()) error { cancel(); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, in := manyOld(t, 2*groupSize)
			plan, err := s.PlanPrune(t.Context(), Retention{OlderThan: 30 * day})
			noErr(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err = s.Prune(ctx, plan, false, func(Pruned) error { return tt.told(cancel) })
			if !errors.Is(err, tt.want) {
				t.Errorf("Prune = %v, want %v", err, tt.want)
			}
			entries, err := s.fsys.ReadDir(s.opt.Home.Trash())
			noErr(t, err)
			trash, err := s.Trash(t.Context())
			noErr(t, err)
			left := len(planAfter(t, s))
			// A group that was ready may have gone too before the context ended.
			if len(trash) < groupSize || len(trash)+left != len(plan.Rows) || len(entries) != len(trash)+1 || leases(t, s, in) != 0 {
				t.Errorf("%d in the trash of %d names, %d left of %d, %d lease files", len(trash), len(entries), left, len(plan.Rows), leases(t, s, in))
			}
		})
	}
}
