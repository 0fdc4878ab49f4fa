package session

import (
	"context"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// Whatever read fails, a listing fails, lists everything or says what is
// missing.
func TestNoFailedReadHidesASessionSilently(t *testing.T) {
	w := newWorld(t)
	cwd := w.workspace("w")
	sc := w.scope(cwd)
	w.transcript(sc.Dir+"/a.jsonl", "a", cwd, 1)
	w.transcript(sc.Dir+"/b.jsonl", "b", cwd, 2)
	w.transcript(sc.Root+"/-old/c.jsonl", "c", cwd, 3)
	w.transcript(cwd+"/.gjc/sessions/d.jsonl", "d", cwd, 4)
	big := sessionText("e", cwd)
	for len(big) < 8<<10 {
		big += sessionText("more", cwd)
	}
	w.file(sc.Dir+"/e.jsonl", big, 5)
	type counts struct{ listed, said int }
	calls := []struct {
		name string
		all  int
		call func(ctx context.Context, s *Store) (counts, error)
	}{
		{"List", 5, func(ctx context.Context, s *Store) (counts, error) {
			l, err := s.List(ctx, cwd)
			return counts{len(l.Sessions), len(l.LeftOut)}, err
		}},
		{"ListAll", 4, func(ctx context.Context, s *Store) (counts, error) {
			l, err := s.ListAll(ctx)
			return counts{len(l.Sessions), len(l.LeftOut)}, err
		}},
		{"ListDir", 3, func(ctx context.Context, s *Store) (counts, error) {
			l, err := s.ListDir(ctx, sc.Dir)
			return counts{len(l.Sessions), len(l.LeftOut)}, err
		}},
		{"Recent", 3, func(ctx context.Context, s *Store) (counts, error) {
			l, err := s.Recent(ctx, sc.Dir, 20)
			return counts{len(l.Sessions), len(l.LeftOut)}, err
		}},
		{"Inventory", 4, func(ctx context.Context, s *Store) (counts, error) {
			l, err := s.Inventory(ctx)
			return counts{len(l.Sessions), len(l.LeftOut)}, err
		}},
	}
	for _, c := range calls {
		for _, sticky := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				for n := 1; ; n++ {
					fault := storagetest.NewFault(storage.Disk(storage.Policy{}), storagetest.FaultPlan{N: n, Sticky: sticky})
					got, err := c.call(t.Context(), NewStore(fault, Options{Home: w.home}))
					if fault.Fired() == 0 {
						if err != nil || got.listed != c.all {
							t.Errorf("without a fault: %+v, %v, want %d", got, err, c.all)
						}
						break
					}
					if err == nil && got.listed < c.all && got.said == 0 {
						t.Errorf("failure of operation %d, sticky %v: %d of %d listed and nothing said", n, sticky, got.listed, c.all)
					}
				}
			})
		}
	}
}
