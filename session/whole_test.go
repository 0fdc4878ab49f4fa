package session

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// A session that was archived, continued and archived again is whole as the one
// that undoing all of it gives.
func TestWholeIsTheSessionAsIfNothingWereArchived(t *testing.T) {
	text := func(entries []*jsonl.Entry) []string {
		var lines []string
		for _, e := range entries {
			lines = append(lines, jsonl.ObjectValue(e.Value()).JSON())
		}
		return lines
	}
	several := 0
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newPruneWorld(t)
			l := newLongSession(seed, w.cwd)
			for range 30 {
				l.step()
			}
			l.compact(l.path(t))
			path := w.write("long", l.text.String(), "2026-01-01")
			s := w.world.store(Options{settle: 1})
			runs := 0
			for range 1 + seed%3 {
				a, err := s.Archive(t.Context(), path, ArchiveOptions{KeepBranches: seed%2 == 0})
				if errors.Is(err, checkpoint.ErrNotArchivable) {
					break
				}
				noError(t, err)
				if a.Moved > 0 {
					runs++
				}
				start := l.text.Len()
				l.leaf = lastID(t, path)
				l.ids = []string{l.leaf}
				for range 8 {
					l.step()
				}
				l.compact(l.path(t)[len(l.path(t))/2:])
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				noError(t, err)
				_, err = f.WriteString(l.text.String()[start:])
				noError(t, errors.Join(err, f.Close()))
			}
			if runs > 1 {
				several++
			}
			got, archived, err := Whole(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
			noError(t, err)
			if archived != (runs > 0) {
				t.Errorf("archived = %v after %d runs", archived, runs)
			}
			if runs > 0 {
				_, err = s.Unarchive(t.Context(), path)
				noError(t, err)
			}
			want, _, err := Whole(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
			noError(t, err)
			if diff := cmp.Diff(text(want), text(got)); diff != "" {
				t.Errorf("whole (-undone +whole):\n%s", diff)
			}
		})
	}
	if several < 3 {
		t.Errorf("only %d sessions were archived more than once", several)
	}
}
