package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// field keeps what the last line of stdout says, for later lines of a script:
// field ID id.
func field(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: field VARIABLE KEY")
	}
	lines := strings.Split(strings.TrimSpace(ts.ReadFile("stdout")), "\n")
	var o map[string]any
	ts.Check(json.Unmarshal([]byte(lines[len(lines)-1]), &o))
	text, ok := o[args[1]].(string)
	if ids, many := o[args[1]].([]any); many && len(ids) > 0 {
		text, ok = ids[len(ids)-1].(string)
	}
	if !ok {
		ts.Fatalf("stdout has no text %q", args[1])
	}
	ts.Setenv(args[0], text)
}
