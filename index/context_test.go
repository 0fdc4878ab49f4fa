package index

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

// sampleHome is a home that holds every transcript below testdata and some of a
// corpus, each in a file of its own.
func sampleHome(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	n := 0
	err := filepath.WalkDir(filepath.Join("..", "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".jsonl") || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		put(t, home, "samples/"+strconv.Itoa(n)+"-"+d.Name(), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	made, err := corpus.Generate(filepath.Join(t.TempDir(), "c"), corpus.Options{Files: 30, Bytes: 2 << 20, Damaged: 300})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(home, "sessions", "corpus"), os.DirFS(filepath.Join(made.Home, "sessions"))); err != nil {
		t.Fatal(err)
	}
	return home
}

func contextText(c *jsonl.Context) string {
	if c == nil {
		return "none"
	}
	return string(jsonl.AppendJSON(nil, c.Value()))
}

func TestContextByLinesIsTheContextOfTheWholeFile(t *testing.T) {
	x := openAt(t, sampleHome(t), Options{})
	refresh(t, x)
	rows, _, err := x.Sessions(t.Context(), Filter{Children: true})
	if err != nil {
		t.Fatal(err)
	}
	byLines := 0
	for row := range rows {
		tr, err := jsonl.Load(t.Context(), x.fsys, row.Path, jsonl.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		tr.Upgrade(nil)
		leaves := []string{""}
		for i, e := range tr.Records {
			if id, ok := e.ID(); ok && id != "" && e.Type() != "session" && (i%7 == 0 || i > len(tr.Records)-5) {
				leaves = append(leaves, id)
			}
		}
		for _, leaf := range leaves {
			for _, strict := range []bool{true, false} {
				want, err := x.contextWhole(t.Context(), row.Path, leaf, strict)
				if err != nil {
					t.Fatal(err)
				}
				got, err := x.ContextOf(t.Context(), row.Path, leaf, strict)
				if err != nil {
					t.Fatalf("ContextOf(%s, %q, %v): %v", row.Path, leaf, strict, err)
				}
				if diff := cmp.Diff(contextText(want), string(jsonl.AppendJSON(nil, got))); diff != "" {
					t.Errorf("ContextOf(%s, %q, %v) (-want +got):\n%s", row.Path, leaf, strict, diff)
				}
				if _, err := x.contextByLines(t.Context(), x.db, row.Path, leaf, strict); err == nil {
					byLines++
				}
			}
		}
	}
	if byLines < 100 {
		t.Errorf("only %d contexts were read by lines", byLines)
	}
}

// rowsOf are the facts of a file as the full reader sees them.
func rowsOf(t *testing.T, tr *jsonl.Transcript) []EntryRow {
	tr.Upgrade(nil)
	entries := tr.Entries()
	tree := jsonl.NewTree(entries)
	var out []EntryRow
	for i, e := range entries {
		id, _ := e.ID()
		parent, _ := e.Parent()
		r := EntryRow{Seq: i, ID: jsonl.Display(id), Parent: jsonl.Display(parent), ParentSeq: tree.ParentAt(i), Type: jsonl.Display(e.Type()),
			Role: jsonl.Display(e.Role()), Line: e.Line, Offset: e.Offset}
		if at, ok := e.Time(); ok {
			r.Time = at
		}
		out = append(out, r)
	}
	return out
}

func TestRowsAreWhatTheFullReaderSees(t *testing.T) {
	home := sampleHome(t)
	x := openAt(t, home, Options{})
	refresh(t, x)
	rows, _, err := x.Sessions(t.Context(), Filter{Children: true, Damaged: DamagedToo})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for row := range rows {
		n++
		tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), row.Path, jsonl.LoadOptions{})
		if tr == nil {
			t.Errorf("Load(%s): %v", row.Path, err)
			continue
		}
		sum := tr.Summary()
		if sum.State != jsonl.State(row.State) {
			t.Errorf("%s: state %s, want %s", row.Path, row.State, sum.State)
		}
		if err != nil {
			continue
		}
		title, _ := tr.Title()
		want := Row{ID: sum.ID, Cwd: sum.Cwd, Title: jsonl.Display(title), HasTitle: sum.HasTitle, Messages: sum.Messages, Entries: sum.Entries,
			Malformed: len(sum.Malformed), Version: tr.Stored}
		got := Row{ID: row.ID, Cwd: row.Cwd, Title: row.Title, HasTitle: row.HasTitle, Messages: row.Messages, Entries: row.Entries,
			Malformed: row.Malformed, Version: row.Version}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: row (-want +got):\n%s", row.Path, diff)
		}
		var entries []EntryRow
		for e, err := range x.Entries(t.Context(), row.Path) {
			if err != nil {
				t.Fatal(err)
			}
			e.Size = 0
			entries = append(entries, e)
		}
		want2 := rowsOf(t, tr)
		for i := range min(len(want2), len(entries)) {
			if want2[i].ParentSeq == noParent && want2[i].Parent != "" {
				want2[i].ParentSeq = entries[i].ParentSeq // an edge that closes a cycle is cut by the tree
			}
		}
		if diff := cmp.Diff(want2, entries); diff != "" {
			t.Errorf("%s: entries (-want +got):\n%s", row.Path, diff)
		}
	}
	if n < 50 {
		t.Errorf("only %d sessions seen", n)
	}
}
