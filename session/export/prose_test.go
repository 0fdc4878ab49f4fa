package export

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func FuzzProse(f *testing.F) {
	for _, seed := range []string{"# a\n\n<b>x</b>", "```go\nx\n", "[a](b \"c\")", "| a |\n|---|\n| b |", "<!-- -->", "![x](y)", "> - 1. a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		var b bytes.Buffer
		if err := writeProse(&b, source); err != nil {
			t.Fatal(err)
		}
		out := strings.ToLower(b.String())
		for _, bad := range []string{"<script", "<img", "<svg", "<iframe", "<object", "<style", "javascript:\"", "href=\"javascript", "href=\"data"} {
			if strings.Contains(out, bad) {
				t.Errorf("writeProse(%q) has %q:\n%s", source, bad, b.String())
			}
		}
		if got := escapeHTMLIn(source); len(got) <= maxProse && strings.Contains(got, "<") && parses(got) && escapeRawHTML([]byte(got)) != got {
			t.Errorf("escapeHTMLIn(%q) = %q, which has raw HTML", source, got)
		}
	})
}

func TestHostileMarkdownTakesNoTime(t *testing.T) {
	for _, unit := range []string{"> ", "[", "![", "*", "**a", "- ", "(", "`", "<", "_a ", "|", "1. ", "  ", "\\", "&", "[a](", "~", "a|\n", "https://", "> - "} {
		source := strings.Repeat(unit, 250_000/len(unit))
		start := time.Now()
		if err := writeProse(&bytes.Buffer{}, source); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q over and over takes %v", unit, took)
		} else if took > time.Second/4 {
			t.Logf("%q over and over takes %v", unit, took)
		}
	}
}
