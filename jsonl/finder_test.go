package jsonl

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestFinderFindsWhatIndexFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab_"\n\x00é]{0,60}`)
		needle := []byte(rapid.StringMatching(`[ab_"\n\x00é]{1,4}`).Draw(t, "needle"))
		data := []byte(text.Draw(t, "before") + text.Draw(t, "after"))
		if rapid.Bool().Draw(t, "there") {
			data = append(append(data, needle...), text.Draw(t, "behind")...)
		}
		if got, want := NewFinder(needle).Index(data), bytes.Index(data, needle); got != want {
			t.Errorf("Index(%q, %q) = %d, want %d", data, needle, got, want)
		}
	})
}

func TestLitSaysWhereItStands(t *testing.T) {
	window := []byte(`xxx{"id":"a","message":{"content":"some text"}}` + "\nyyy")
	line := window[3:bytes.IndexByte(window, '\n')]
	var f Fields
	if !f.Scan(line) {
		t.Fatal("the line is not plain")
	}
	if at, ok := f.Texts[0].In(line); !ok || string(line[at:at+9]) != "some text" {
		t.Errorf("In = %d, %v", at, ok)
	}
	if got := append(f.Texts[0].Raw(), '!'); string(got) != "some text!" || line[len(line)-3] != '"' {
		t.Errorf("to append to what Raw gives changed the line: %s", line)
	}
	for name, l := range map[string]Lit{"a copy": literal("some text"), "none": {}, "one of another line": f.Texts[0]} {
		if at, ok := l.In(bytes.Clone(line)); ok {
			t.Errorf("%s stands at %d", name, at)
		}
	}
}
