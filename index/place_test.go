package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	"pgregory.net/rapid"
)

// checkPlaces wants ids to ascend with time and each prompt's words in FTS5 under
// its id.
func checkPlaces(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, db *sqlx.DB) {
	var rows []struct {
		ID   int64  `db:"id"`
		Time int64  `db:"time_ms"`
		Text string `db:"text"`
	}
	err := db.Select(&rows, `
		SELECT p.id, p.time_ms, coalesce(t.text, h.text) AS text
		FROM prompts p LEFT JOIN prompt_texts t ON p.session IS NOT NULL AND t.key = p.text_at
		LEFT JOIN typed h ON p.session IS NULL AND h.id = p.text_at ORDER BY p.id`)
	if err != nil {
		t.Fatal(err)
	}
	byTime := slices.Clone(rows)
	slices.SortStableFunc(byTime, func(a, b struct {
		ID   int64  `db:"id"`
		Time int64  `db:"time_ms"`
		Text string `db:"text"`
	}) int {
		return int(a.Time - b.Time)
	})
	if diff := cmp.Diff(byTime, rows); diff != "" {
		t.Fatalf("order of ids (-by time +by id):\n%s", diff)
	}
	for _, r := range rows {
		for _, word := range strings.Fields(r.Text) {
			var there bool
			err := db.Get(&there, `SELECT EXISTS (SELECT 1 FROM prompt_words WHERE prompt_words MATCH ? AND rowid = ?)`, `"`+word+`"`, r.ID)
			if err != nil || !there {
				t.Fatalf("FTS5 has %q under %d: %v, %v", word, r.ID, there, err)
			}
		}
	}
	if _, err := db.Exec(`INSERT INTO prompt_words (prompt_words) VALUES ('integrity-check')`); err != nil {
		t.Fatal(err)
	}
}

// TestLatePromptsFindTheirPlaces adds prompts of any time, alone and in rows,
// where ids are left and where none are.
func TestLatePromptsFindTheirPlaces(t *testing.T) {
	db := openPrompts(t)
	rapid.Check(t, func(rt *rapid.T) {
		if _, err := db.Exec(`DELETE FROM typed`); err != nil {
			rt.Fatal(err)
		}
		change(rt, db, true, func(tx *sqlx.Tx, w *promptWriter) {
			if err := w.Clear(tx); err != nil {
				rt.Fatal(err)
			}
		})
		row := 0
		for range rapid.IntRange(1, 6).Draw(rt, "steps") {
			from := rapid.IntRange(0, 200).Draw(rt, "from")
			span := rapid.IntRange(1, 60).Draw(rt, "span")
			var list []Prompt
			for range rapid.IntRange(1, 40).Draw(rt, "n") {
				row++
				p := Prompt{FileKey: 1, SessionID: "s", EntryID: fmt.Sprint(row), Line: row, Row: int64(row),
					Time: int64(from + rapid.IntRange(0, span).Draw(rt, "at")), Text: fmt.Sprintf("w%d all", row)}
				if rapid.Bool().Draw(rt, "typed") {
					p.Source, p.FileKey = SourceHistory, historyFile
				}
				list = append(list, p)
			}
			addAll(rt, db, rapid.Bool().Draw(rt, "bulk"), list...)
			checkPlaces(rt, db)
		}
	})
}

func TestManyLatePromptsAreNumberedAnew(t *testing.T) {
	db := openPrompts(t)
	list := func(from, step, n int) (list []Prompt) {
		for i := range n {
			list = append(list, Prompt{FileKey: 1, SessionID: "s", EntryID: fmt.Sprint(from, i), Time: int64(from + i*step), Text: fmt.Sprintf("x%d %d", from, i)})
		}
		return list
	}
	addAll(t, db, true, list(0, 10, 300)...)
	addAll(t, db, false, list(5, 10, 100)...)
	checkPlaces(t, db)
	var most int64
	if err := db.Get(&most, `SELECT max(id) FROM prompts`); err != nil || most != 399*bulkStride {
		t.Errorf("highest id = %d, %v; want %d", most, err, 399*bulkStride)
	}
}

// TestWordsOfLostRowsAreLetGo removes rows whose texts nobody has any more.
func TestWordsOfLostRowsAreLetGo(t *testing.T) {
	db := openPrompts(t)
	lost := func() int {
		var ids []int64
		if err := db.Select(&ids, `SELECT rowid FROM prompt_words WHERE prompt_words MATCH '"gone"'`); err != nil {
			t.Fatal(err)
		}
		return len(ids)
	}
	addAll(t, db, true, Prompt{FileKey: 1, EntryID: "a", Time: 1, Text: "stays"})
	for round := range 5 {
		var list []Prompt
		for i := range staleMost / 2 {
			list = append(list, Prompt{Source: SourceHistory, Row: int64(round*1000 + i + 1), Time: int64(i) * 2, Text: fmt.Sprintf("gone %d", i)})
		}
		addAll(t, db, false, list...)
		change(t, db, false, func(tx *sqlx.Tx, w *promptWriter) {
			if _, err := tx.Exec(`DELETE FROM typed`); err != nil {
				t.Fatal(err)
			}
			if err := w.RemoveFile(tx, historyFile); err != nil {
				t.Fatal(err)
			}
		})
		if n := lost(); n > staleMost {
			t.Errorf("round %d: FTS5 has %d prompts that are gone, want at most %d", round, n, staleMost)
		}
		if hits := find(t, db, "gone", SearchFilter{}, 0); len(hits) != 0 {
			t.Errorf("round %d: %d hits of prompts that are gone", round, len(hits))
		}
		if hits := find(t, db, "stays", SearchFilter{}, 0); len(hits) != 1 {
			t.Errorf("round %d: %d hits of the prompt that stays, want 1", round, len(hits))
		}
	}
}
