package index

import (
	"slices"
	"testing"

	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/google/go-cmp/cmp"
)

func TestIDsAndScannedFilesAreThoseOfTheRows(t *testing.T) {
	made, err := corpus.Generate(t.TempDir(), corpus.Options{Files: 60, Bytes: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		pending bool
	}{{"all are indexed", false}, {"none is", true}} {
		t.Run(tt.name, func(t *testing.T) {
			x := openAt(t, made.Home, Options{})
			rep := refresh(t, x)
			if tt.pending {
				w, err := x.walk(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				x.setPending(&pending{walk: w, all: true})
			}
			if rep.Files == 0 {
				t.Fatal("nothing was indexed")
			}
			rows := func(f Filter) (ids, paths []string) {
				list, _, err := x.Sessions(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				for row, err := range list {
					if err != nil {
						t.Fatal(err)
					}
					if row.ID != "" {
						ids = append(ids, row.ID)
					}
					paths = append(paths, row.Path+" "+row.ID+" "+row.Cwd)
				}
				return ids, paths
			}
			want, _ := rows(Filter{Damaged: DamagedToo, Children: true})
			got, err := x.IDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("IDs (-want +got):\n%s", diff)
			}
			for _, f := range []Filter{{Children: true}, {Cwd: "/nowhere"}, {Children: true, Since: x.opt.Now().AddDate(-1, 0, 0)}} {
				_, want := rows(f)
				files, err := x.scanned(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, file := range files {
					got = append(got, file.Path+" "+file.SessionID+" "+file.Cwd)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("scanned(%+v) (-want +got):\n%s", f, diff)
				}
			}
		})
	}
}
