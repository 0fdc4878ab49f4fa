package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/internal/pictures"
)

// TestPicturesAreTrue: the pictures of the README are what the command prints
// on the demo store, on a terminal with colours, on one day. make pictures draws
// them anew.
func TestPicturesAreTrue(t *testing.T) {
	if time.Local.String() != "UTC" {
		defer func(was *time.Location) { time.Local = was }(time.Local)
		time.Local = time.UTC
	}
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("../../testdata/demo")); err != nil {
		t.Fatal(err)
	}
	for _, p := range pictures.All() {
		var shots []pictures.Shot
		for _, line := range p.Commands {
			var out bytes.Buffer
			env := pictures.Env()
			a := newApp(strings.NewReader(""), &out, &out)
			a.env = func(name string) string { return env[name] }
			a.screen = screenOf(&out, a.env)
			a.now = func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
			a.run(context.Background(), append(pictures.Args(line), "--home", home))
			shots = append(shots, pictures.Shot{Line: line, Output: out.String()})
		}
		name := "../../docs/pictures/" + p.Name + ".svg"
		if os.Getenv("UPDATE_PICTURES") != "" {
			if err := os.WriteFile(name, []byte(pictures.Draw(shots)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pictures.Draw(shots), string(have)); diff != "" {
			t.Errorf("docs/pictures/%s.svg is not what the command prints; make pictures draws it (-printed +picture):\n%s", p.Name, diff)
		}
	}
}
