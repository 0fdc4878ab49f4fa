package history

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// inStep fails the test unless FTS5's own check passes and finds what LIKE finds.
func inStep(t *testing.T, s *Store) {
	t.Helper()
	if ok, err := s.Check(t.Context()); !ok || err != nil {
		t.Errorf("Check() = %v, %v; want in step", ok, err)
	}
}

func TestDeleteTextRemovesThatTextOnly(t *testing.T) {
	long := strings.Repeat("word ", 2000) + "end"
	tests := []struct {
		name, text string
		n          int
		left       []string
	}{
		{"text that others contain", "j", 2, []string{"jj", "a j b", "J", long, "🚀", "nul\x00j"}},
		{"emoji alone", "🚀", 1, []string{"j", "jj", "a j b", "j", "J", long, "nul\x00j"}},
		{"a long one", long, 1, []string{"j", "jj", "a j b", "j", "J", "🚀", "nul\x00j"}},
		{"one with NUL", "nul\x00j", 1, []string{"j", "jj", "a j b", "j", "J", long, "🚀"}},
		{"space around it", "  jj\n", 1, []string{"j", "a j b", "j", "J", long, "🚀", "nul\x00j"}},
		{"one that is not there", "zz", 0, []string{"j", "jj", "a j b", "j", "J", long, "🚀", "nul\x00j"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, t.TempDir(), Options{})
			for _, text := range []string{"j", "jj", "a j b", "j", "J", long, "🚀", "nul\x00j"} {
				must(t, s.Add(text, nil))
			}
			must(t, s.Flush(t.Context()))
			if n, err := s.DeleteText(t.Context(), tt.text); n != tt.n || err != nil {
				t.Errorf("DeleteText() = %d, %v; want %d", n, err, tt.n)
			}
			if diff := cmp.Diff(tt.left, texts(t, s)); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			inStep(t, s)
			buried, err := s.Tombstones(t.Context())
			if !buried.Has(tt.text) || buried.Has("a j b") || err != nil {
				t.Errorf("Tombstones() = %v, %v", buried, err)
			}
		})
	}
}

func TestDeleteByID(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	for _, text := range []string{"old basil", "new mint", "old basil"} {
		must(t, s.Add(text, nil))
	}
	must(t, s.Flush(t.Context()))
	for id, want := range map[int64]bool{1: true, 99: false} {
		if ok, err := s.Delete(t.Context(), id); ok != want || err != nil {
			t.Errorf("Delete(%d) = %v, %v; want %v", id, ok, err, want)
		}
	}
	if diff := cmp.Diff([]string{"new mint", "old basil"}, texts(t, s)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
	inStep(t, s)
	for _, id := range []int64{2, 3} {
		if _, err := s.Delete(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	inStep(t, s)
	var hits int
	must(t, s.db.Get(&hits, `SELECT count(*) FROM history_fts WHERE history_fts MATCH 'mint OR basil'`))
	if hits != 0 {
		t.Errorf("%d stale hits", hits)
	}
}

func TestDeleteOfRowsThatWereNeverOrWronglyIndexed(t *testing.T) {
	for name, sql := range map[string]string{
		"never":            `DROP TRIGGER history_ai; INSERT INTO history (prompt, created_at) VALUES ('late basil', 9)`,
		"as another text":  `INSERT INTO history (prompt, created_at) VALUES ('early mint', 9); UPDATE history SET prompt = 'late basil' WHERE id = 2`,
		"as a longer text": `INSERT INTO history (prompt, created_at) VALUES ('the late basil', 9); UPDATE history SET prompt = 'late basil' WHERE id = 2`,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, t.TempDir(), Options{})
			must(t, s.Add("oak", nil))
			must(t, s.Flush(t.Context()))
			_, err := s.db.Exec(sql)
			must(t, err)
			if n, err := s.DeleteText(t.Context(), "late basil"); n != 1 || err != nil {
				t.Errorf("DeleteText() = %d, %v; want 1", n, err)
			}
			inStep(t, s)
			if diff := cmp.Diff([]string{"oak"}, found(t, s, "oak")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheFileIsTheOriginalsUntilADeletion(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	before := len(objects(t, s.db))
	_, err := s.Import(t.Context(), given(Prompt{Text: "a", Time: noon}))
	must(t, err)
	if got := len(objects(t, s.db)); got != before {
		t.Errorf("%d objects after an import, want %d", got, before)
	}
	_, err = s.DeleteText(t.Context(), "a")
	must(t, err)
	var names []string
	for _, o := range objects(t, s.db)[:2] {
		names = append(names, o.Name)
	}
	if diff := cmp.Diff([]string{"gjc_index_tombstones", "goose_db_version"}, names); diff != "" {
		t.Errorf("additions (-want +got):\n%s", diff)
	}
}

func given(prompts ...Prompt) iter.Seq2[Prompt, error] {
	return func(yield func(Prompt, error) bool) {
		for _, p := range prompts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func TestImport(t *testing.T) {
	at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
	batch := []Prompt{
		{Text: "late", Time: at(500), Cwd: new("/b")},
		{Text: "  early, as it is \n", Time: at(-500), Cwd: new("/a")},
		{Text: "early, as it is", Time: at(-500)}, // a fork's copy
		{Text: " \n", Time: at(0)},
		{Text: "typed here", Time: at(59)},
		{Text: "typed here", Time: at(61)}, // another time
		{Text: "buried", Time: at(1)},
		{Text: "nul \x00 설정", Time: at(2)},
	}
	s := open(t, t.TempDir(), Options{})
	must(t, s.Add("typed here", nil))
	must(t, s.Add("buried", nil))
	must(t, s.Flush(t.Context()))
	_, err := s.DeleteText(t.Context(), "buried")
	must(t, err)
	wants := []Imported{
		{Added: 4, Known: 2, Deleted: 1},
		{Added: 0, Known: 6, Deleted: 1},
	}
	for i, want := range wants {
		got, err := s.Import(t.Context(), given(batch...))
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("import %d (-want +got):\n%s", i, diff)
		}
		all := []string{"typed here", "  early, as it is \n", "nul \x00 설정", "typed here", "late"}
		if diff := cmp.Diff(all, texts(t, s)); diff != "" {
			t.Errorf("texts after import %d (-want +got):\n%s", i, diff)
		}
		inStep(t, s)
	}
	recent, err := s.Recent(t.Context(), Query{Limit: 1})
	must(t, err)
	if diff := cmp.Diff([]Prompt{{ID: recent[0].ID, Text: "late", Time: at(500), Cwd: new("/b")}}, recent); diff != "" {
		t.Errorf("newest (-want +got):\n%s", diff)
	}
}

func TestImportIsAllOrNothing(t *testing.T) {
	s := open(t, t.TempDir(), Options{})
	bad := errors.New("bad line")
	_, err := s.Import(t.Context(), func(yield func(Prompt, error) bool) {
		_ = yield(Prompt{Text: "a", Time: noon}, nil) && yield(Prompt{}, bad)
	})
	if !errors.Is(err, bad) || len(texts(t, s)) != 0 {
		t.Errorf("Import() = %v, left %q", err, texts(t, s))
	}
	for range 20 { // no connection keeps anything of it
		_, err := s.Import(t.Context(), given(Prompt{Text: "b", Time: noon}))
		must(t, err)
	}
	if got := texts(t, s); !slices.Equal(got, []string{"b"}) {
		t.Errorf("left %q, want b", got)
	}
}
