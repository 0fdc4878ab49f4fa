package main

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestPathsThatAreNotTextKeepTheirBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("names are text on this system")
	}
	home := makeHome(t, map[string]string{"p/a\xff.jsonl": small("a", "/p", "one \ufffd", 1), "p/b.jsonl": small("b", "/p", "two", 2), "p/bad\xfe.jsonl": "{\n"})
	out, errs, status := answer(t, "list", "--json", "--home", home)
	if status != exitPart {
		t.Fatalf("list: status %d, %s", status, errs)
	}
	for line := range strings.Lines(out + errs) {
		var o struct {
			ID, Path, PathBytes string
			Files               []struct{ Path, PathBytes string }
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case o.ID == "a":
			wantBytes(t, o.PathBytes, filepath.Join(home, "sessions/p/a\xff.jsonl"))
		case o.ID == "b" && o.PathBytes != "":
			t.Errorf("list: pathBytes of a path that is text: %s", line)
		case len(o.Files) > 0:
			wantBytes(t, o.Files[0].PathBytes, filepath.Join(home, "sessions/p/bad\xfe.jsonl"))
		}
	}
}

func wantBytes(t *testing.T, got, want string) {
	t.Helper()
	if b, err := base64.StdEncoding.DecodeString(got); err != nil || string(b) != want {
		t.Errorf("pathBytes %q is %q, %v, want %q", got, b, err, want)
	}
}

// TestBytesChangeNothingElse: what is written with the bytes of paths is what
// encoding/json writes, but for them.
func TestBytesChangeNothingElse(t *testing.T) {
	title := "t\xff"
	for _, v := range []any{
		placeJSON{ID: "a\xff", Path: "/b"}, errorJSON{Error: "\xff", Exit: 3},
		sessionJSON{ID: "x\xff", Title: &title, Cwd: "/p"},
		leftOutNote{Note: "n\xff", Files: []leftOutFile{{Path: "/a", Reason: "r"}}},
		statsJSON{Zone: "\xff", Tools: []toolStatJSON{{"b", 1}}},
	} {
		want, err := plainJSON(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := encodeJSON(v); got != want || err != nil {
			t.Errorf("encodeJSON(%T) = %q, %v, want %q", v, got, err, want)
		}
	}
}
