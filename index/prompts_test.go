package index

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
)

func testContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), time.Minute)
}

func TestEqualTextsAreShownOnceWhereTheyWereTypedLast(t *testing.T) {
	db := openPrompts(t)
	addAll(t, db, false,
		Prompt{Source: SourceSession, FileKey: 1, EntryID: "a", Time: 1000, Cwd: "/x", Text: "go on"},
		Prompt{Source: SourceSession, FileKey: 1, EntryID: "b", Time: 2000, Cwd: "/y", Text: "go on"},
		Prompt{Source: SourceSession, FileKey: 2, EntryID: "c", Time: 3000, Cwd: "/x", Text: "go on"},
		Prompt{Source: SourceHistory, Row: 7, Time: 3000, Cwd: "/x", Text: "go on"},
		Prompt{Source: SourceSession, FileKey: 2, EntryID: "d", Time: 2500, Cwd: "/x", Text: "Go on"},
	)
	type got struct {
		Entry string
		Count int
	}
	tests := []struct {
		name, query string
		f           SearchFilter
		want        []got
	}{
		{"all", "go", SearchFilter{Sources: []Source{SourceSession}}, []got{{"c", 3}, {"d", 1}}},
		{"newest", "", SearchFilter{Sources: []Source{SourceSession}}, []got{{"c", 3}, {"d", 1}}},
		{"by directory", "go", SearchFilter{Cwds: []string{"/y"}}, []got{{"b", 1}}},
		{"no directory", "go", SearchFilter{Cwds: []string{}}, nil},
		{"history", "go", SearchFilter{Sources: []Source{SourceHistory}}, []got{{"7", 1}}},
		{"before", "go", SearchFilter{Until: time.UnixMilli(2500)}, []got{{"b", 2}}},
		{"since", "go", SearchFilter{Since: time.UnixMilli(2500), Until: time.UnixMilli(2501)}, []got{{"d", 1}}},
		{"between milliseconds", "go", SearchFilter{Since: time.UnixMilli(2500).Add(1), Until: time.UnixMilli(3000)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var list []got
			for _, h := range find(t, db, tt.query, tt.f, 10) {
				list = append(list, got{h.EntryID, h.Count})
			}
			if diff := cmp.Diff(tt.want, list); diff != "" {
				t.Errorf("search %q (-want +got):\n%s", tt.query, diff)
			}
		})
	}
}

func TestTimesFarAwayAreInOrder(t *testing.T) {
	db := openPrompts(t)
	addAll(t, db, false,
		Prompt{FileKey: 1, EntryID: "late", Time: 8_640_000_000_000_000, Text: "never ends"},
		Prompt{FileKey: 1, EntryID: "early", Time: -8_640_000_000_000_000, Text: "ends never"},
		Prompt{FileKey: 1, EntryID: "none", Time: 0, Text: "never"},
	)
	var got []string
	for _, h := range find(t, db, "never", SearchFilter{}, 0) {
		got = append(got, h.EntryID)
	}
	if diff := cmp.Diff([]string{"late", "none", "early"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestManyPromptsStayFindable writes enough that the newest are let go of, in
// builds and in small steps, and removes and adds a file again and again.
func TestManyPromptsStayFindable(t *testing.T) {
	for _, bulk := range []bool{true, false} {
		t.Run(fmt.Sprint("bulk ", bulk), func(t *testing.T) {
			db := openPrompts(t)
			make := func(from, to int) (list []Prompt) {
				for i := from; i < to; i++ {
					list = append(list, Prompt{
						FileKey: int64(i % 7), SessionID: "s", EntryID: fmt.Sprint(i), Time: int64(i) * 1000,
						Text: fmt.Sprintf("prompt number x%dx of many", i),
					})
				}
				return list
			}
			addAll(t, db, bulk, make(0, 9000)...)
			for i := 9000; i < 9400; i += 10 {
				addAll(t, db, false, make(i, i+10)...)
			}
			change(t, db, false, func(tx *sqlx.Tx, w *promptWriter) {
				if err := w.RemoveFile(tx, 3); err != nil {
					t.Fatal(err)
				}
				for _, p := range make(0, 9400) {
					if p.FileKey == 3 {
						w.Add(p)
					}
				}
			})
			for _, i := range []int{0, 3, 1000, 6999, 7000, 8999, 9001, 9399} {
				hits := find(t, db, fmt.Sprintf("x%dx", i), SearchFilter{}, 20)
				if len(hits) != 1 || hits[0].EntryID != fmt.Sprint(i) {
					t.Errorf("search x%dx = %v, want one hit", i, hits)
				}
			}
			var marks, kept int
			if err := db.Get(&marks, `SELECT count(*) FROM prompt_marks`); err != nil {
				t.Fatal(err)
			}
			if err := db.Get(&kept, `SELECT count(*) FROM prompt_recent`); err != nil {
				t.Fatal(err)
			}
			if marks < 2 || kept > 12 {
				t.Errorf("%d marks, %d rows of newest prompts", marks, kept)
			}
			change(t, db, true, func(tx *sqlx.Tx, w *promptWriter) {
				if err := w.Clear(tx); err != nil {
					t.Fatal(err)
				}
			})
			if hits := find(t, db, "prompt", SearchFilter{}, 20); len(hits) != 0 {
				t.Errorf("after Clear: %d hits", len(hits))
			}
		})
	}
}

func TestSnippetIsOneLineOfWholeClusters(t *testing.T) {
	long := ""
	for range 40 {
		long += "word "
	}
	tests := []struct{ name, text, query, want string }{
		{"short", "fix it", "", "fix it"},
		{"white space", "  a\r\n\tb \u3000c  ", "", "a b c"},
		{"controls", "a\x1b[31m\x00b\u202ec", "", "a\ufffd[31m\ufffdb\ufffdc"},
		{"around the match", long + "NEEDLE here " + long, "needle",
			"…word word word word word word word word NEEDLE here " + long[:108] + "…"},
		{"clusters", "👩‍🌾 e\u0301 🇩🇪", "", "👩‍🌾 e\u0301 🇩🇪"},
		{"empty", "", "x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Snippet(tt.text, ParseQuery(tt.query).Terms)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Snippet(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}
