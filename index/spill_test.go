package index

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

// contents are the rows of everything that finds prompts.
func contents(t *testing.T, db *sqlx.DB) []string {
	t.Helper()
	var all []string
	for _, query := range []string{
		`SELECT printf('%d %d %s %s', p.id, p.session, p.entry, t.text) FROM prompts p JOIN prompt_texts t ON t.key = p.text_at ORDER BY p.id`,
		`SELECT hex(data) FROM prompt_recent ORDER BY seq`,
		`SELECT data FROM prompt_tokens ORDER BY seq`,
		`SELECT id FROM prompt_marks ORDER BY id`,
		`SELECT rowid FROM prompt_words WHERE prompt_words MATCH '"common"' ORDER BY rowid`,
		`SELECT rowid FROM prompt_words WHERE prompt_words MATCH '"word7"' ORDER BY rowid`,
	} {
		var rows []string
		if err := db.Select(&rows, query); err != nil {
			t.Fatal(err)
		}
		all = append(append(all, query), rows...)
	}
	return all
}

func TestPromptsTooManyToKeepAreWrittenAlike(t *testing.T) {
	for _, bulk := range []bool{false, true} {
		t.Run(fmt.Sprint("bulk ", bulk), func(t *testing.T) {
			var got [2][]string
			for i, most := range []int{spillBytes, 300} {
				db := openPrompts(t)
				tx, err := db.Beginx()
				if err != nil {
					t.Fatal(err)
				}
				w := newPromptWriter(bulk)
				w.most = most
				step := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				for n := range 1500 {
					at := int64(n * 7919 % 1500) // not in the order of time
					w.Add(Prompt{FileKey: at % 5, EntryID: fmt.Sprint(at), Time: at * 1000,
						Text: fmt.Sprintf("common word%d %d", at%11, at)})
					step(w.SpillTo(tx))
				}
				step(w.RemoveFile(tx, 3))
				step(w.Flush(tx))
				w.Add(Prompt{FileKey: 9, EntryID: "z", Time: 500_500, Text: "common word7 late"})
				step(w.RemoveFile(tx, 2))
				step(w.SpillTo(tx))
				step(w.Flush(tx))
				step(tx.Commit())
				var fault []string
				step(db.Select(&fault, `PRAGMA integrity_check`))
				if diff := cmp.Diff([]string{"ok"}, fault); diff != "" {
					t.Errorf("integrity_check (-want +got):\n%s", diff)
				}
				got[i] = contents(t, db)
			}
			if diff := cmp.Diff(got[0], got[1]); diff != "" {
				t.Errorf("rows differ from those written at once (-want +got):\n%s", diff)
			}
		})
	}
}
