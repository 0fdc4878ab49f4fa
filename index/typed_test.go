package index

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
)

// typedLine is a message of the user at a second of the test's day.
func typedLine(id, text string, second int) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"parentId":null,"timestamp":"2026-03-01T10:00:%02d.000Z","message":{"role":"user","content":%q}}`+"\n", id, second, text)
}

func typedHeader(id string) string {
	return fmt.Sprintf(`{"type":"session","version":5,"id":%q,"timestamp":"2026-03-01T09:00:00.000Z","cwd":"/src"}`+"\n", id)
}

var typedDay = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// rowsAt puts rows into the home's history.db; now is the time of what fn does.
func rowsAt(t *testing.T, home string, now time.Time, rows []history.Prompt, fn func(s *history.Store) error) {
	t.Helper()
	s, err := history.Open(t.Context(), storage.Disk(storage.Policy{}), scope.HomeAt(home).HistoryDB(),
		history.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Import(t.Context(), func(yield func(history.Prompt, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err == nil && fn != nil {
		err = fn(s)
	}
	if cerr := s.Close(); err != nil || cerr != nil {
		t.Fatal(err, cerr)
	}
}

// shown are hits as "source second text×count".
func shown(hits []Hit) []string {
	all := []string{}
	for _, h := range hits {
		all = append(all, fmt.Sprintf("%v %v %s×%d", h.Source, h.Time.Sub(typedDay), h.Text, h.Count))
	}
	return all
}

// TestDeletedPromptsAreNotShown wants what was deleted from history gone from
// searches of prompts, with a database and without one.
func TestDeletedPromptsAreNotShown(t *testing.T) {
	tests := []struct {
		name string
		now  time.Time // when it is asked
		want []string
	}{
		{"typed again after the deletion", typedDay.Add(time.Minute), []string{
			"session 40s again×2", "history 20s one row of two×1", "session 1s kept×1"}},
		{"a time that is still to come tells nothing", typedDay.Add(30 * time.Second), []string{
			"history 20s one row of two×1", "session 1s kept×1"}},
	}
	for _, tt := range tests {
		for _, database := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, database %v", tt.name, database), func(t *testing.T) {
				dir := t.TempDir()
				put(t, dir, "--a--/s.jsonl", typedHeader("s")+typedLine("a", "kept", 1)+typedLine("b", " deleted\n", 2)+
					typedLine("c", "again", 3)+typedLine("d", "one row of two", 21)+typedLine("e", "again", 40))
				rows := []history.Prompt{{Text: "one row of two", Time: typedDay.Add(20 * time.Second)},
					{Text: "one row of two", Time: typedDay.Add(-time.Hour)}, {Text: "deleted", Time: typedDay.Add(2 * time.Second)}}
				rowsAt(t, dir, typedDay.Add(25*time.Second), rows, func(s *history.Store) error {
					for _, text := range []string{"deleted", "again"} {
						if _, err := s.DeleteText(t.Context(), text); err != nil {
							return err
						}
					}
					_, err := s.Delete(t.Context(), 1) // the earlier one
					return err
				})
				x := openAt(t, dir, Options{Now: func() time.Time { return tt.now }})
				refresh(t, x)
				if !database {
					x.mu.Lock()
					db := x.db
					x.db, x.settled = nil, true
					x.mu.Unlock()
					if err := db.Close(); err != nil {
						t.Fatal(err)
					}
				}
				found, err := x.Search(t.Context(), SearchRequest{})
				if err != nil {
					t.Fatal(err)
				}
				want := slices.Clone(tt.want)
				if !database && len(want) == 3 {
					want[0] = "session 40s again×1" // a reading counts what it shows
				}
				if diff := cmp.Diff(want, shown(found.Hits)); diff != "" {
					t.Errorf("Search (-want +got):\n%s", diff)
				}
				found, err = x.Search(t.Context(), SearchRequest{Role: RoleAny, Query: ParseQuery("deleted")})
				if err != nil || len(found.Hits) != 1 {
					t.Errorf("Search of all roles = %v, %v; want the deleted text", shown(found.Hits), err)
				}
			})
		}
	}
}

func TestRepeatsAreGivenOnceAMinute(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "--a--/s.jsonl", typedHeader("s")+typedLine("a", "go on", 1)+typedLine("b", "other", 2)+typedLine("c", "go on", 50))
	at := func(s int) time.Time { return typedDay.Add(time.Duration(s) * time.Second) }
	rowsAt(t, dir, at(500), []history.Prompt{{Text: "go on", Time: at(51)}, {Text: "go on", Time: at(120)}, {Text: "other", Time: at(63)}}, nil)
	x := openAt(t, dir, Options{})
	refresh(t, x)
	tests := []struct {
		name string
		r    SearchRequest
		want []string
	}{
		{"each time", SearchRequest{Repeats: true}, []string{
			"history 2m0s go on×1", "history 1m3s other×1", "history 51s go on×1", "session 2s other×1"}},
		{"the newest two", SearchRequest{Repeats: true, Limit: 2}, []string{"history 2m0s go on×1", "history 1m3s other×1"}},
		{"of transcripts", SearchRequest{Repeats: true, Sources: []Source{SourceSession}, Query: ParseQuery("go")}, []string{"session 50s go on×1"}},
		{"once", SearchRequest{}, []string{"history 2m0s go on×2", "history 1m3s other×1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := x.Search(t.Context(), tt.r)
			if diff := cmp.Diff(tt.want, shown(found.Hits)); diff != "" || err != nil {
				t.Errorf("Search, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestTypedLeavesSubagentsOut(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "--a--/s.jsonl", typedHeader("s")+typedLine("a", "first", 1)+typedLine("b", "first", 9))
	put(t, dir, "--a--/s/child.jsonl", typedHeader("c")+typedLine("a", "for the subagent", 2))
	put(t, dir, "--b--/t.jsonl", typedHeader("t")+typedLine("a", "second", 3))
	x := openAt(t, dir, Options{})
	refresh(t, x)
	var hits []Hit
	for h, err := range x.Typed(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		hits = append(hits, h)
	}
	if diff := cmp.Diff([]string{"session 1s first×1", "session 3s second×1", "session 9s first×1"}, shown(hits)); diff != "" {
		t.Errorf("Typed (-want +got):\n%s", diff)
	}
}

func TestHistoryIsSearchedWithoutADatabase(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "--a--/s.jsonl", typedHeader("s")+typedLine("a", "mint", 1))
	rowsAt(t, dir, typedDay, []history.Prompt{{Text: "mint", Time: typedDay.Add(time.Hour)}, {Text: "basil", Time: typedDay}}, nil)
	put(t, dir, "../index.db/x", "") // a directory in its place
	x := openAt(t, dir, Options{})
	if _, err := x.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		r    SearchRequest
		want []string
	}{
		{"both", SearchRequest{}, []string{"history 1h0m0s mint×1", "history 0s basil×1"}},
		{"transcripts", SearchRequest{Sources: []Source{SourceSession}}, []string{"session 1s mint×1"}},
		{"history", SearchRequest{Sources: []Source{SourceHistory}, Query: ParseQuery("ASI")}, []string{"history 0s basil×1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, err := x.Search(t.Context(), tt.r)
			if diff := cmp.Diff(tt.want, shown(found.Hits)); diff != "" || err != nil {
				t.Errorf("Search, %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
