package index

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseQuery(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"blanks", " \t\n\u3000", nil},
		{"words", "Fix  the\tPump", []string{"fix", "the", "pump"}},
		{"a phrase is one term", `say "Hi  there" bob`, []string{"say", "hi  there", "bob"}},
		{"a phrase may hold a line end", "\"line\nsecond\"", []string{"line\nsecond"}},
		{"a quote alone is a character", `"`, []string{`"`}},
		{"a quote without its second is a character", `"abc def`, []string{`"abc`, "def"}},
		{"quotes inside a word are characters", `say"hi"x`, []string{`say"hi"x`}},
		{"what follows a phrase is a term", `"a b"c`, []string{"a b", "c"}},
		{"an empty phrase asks for nothing", `""`, nil},
		{"operators are text", `AND OR- NOT NEAR( ^run c* a:b`, []string{"and", "or-", "not", "near(", "^run", "c*", "a:b"}},
		{"a term within another is implied", "run running run", []string{"running"}},
		{"a term twice", "go go", []string{"go"}},
		{"apostrophes are text", "'; DROP TABLE history; --", []string{"';", "drop", "table", "history;", "--"}},
		{"bytes that are no utf-8", "\xff \xed\xa0\x80x", []string{"\ufffdx"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, term := range ParseQuery(tt.in).Terms {
				got = append(got, string(term))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseQuery(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestPruningTermsChangesNoAnswer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.RuneFrom([]rune("ab é한")), 0, 6, -1)
		terms := rapid.SliceOfN(part, 0, 8).Draw(t, "terms")
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab é한")), 0, 30, -1).Draw(t, "text")
		folded := string(Fold(nil, text))
		want := true
		for _, w := range strings.Fields(strings.Join(terms, " ")) {
			want = want && strings.Contains(folded, string(Fold(nil, w)))
		}
		if got, _ := ParseQuery(strings.Join(terms, " ")).MatchText(text, nil); got != want {
			t.Errorf("ParseQuery(%q).MatchText(%q) = %v, want %v", terms, text, got, want)
		}
	})
}

func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{"", `"a b" c"`, `""`, "\"\xff", `a"b c"d`} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, query, text string) {
		q := ParseQuery(query)
		for _, term := range q.Terms {
			if len(term) == 0 {
				t.Errorf("ParseQuery(%q) has an empty term", query)
			}
			if string(Fold(nil, string(term))) != string(term) {
				t.Errorf("ParseQuery(%q) has the term %q, which is not folded", query, term)
			}
		}
		if ok, _ := q.MatchText(query, nil); !ok && !strings.ContainsRune(query, '"') && len(q.Terms) == 1 {
			t.Errorf("ParseQuery(%q) does not match its own text", query)
		}
		q.MatchText(text, nil)
	})
}
