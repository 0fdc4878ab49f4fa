package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the command where it is called by that name.
// Called by another name with a command's arguments it would run all tests
// again, and those the next: that ends here.
func TestMain(m *testing.M) {
	if os.Getenv("GJC_INDEX_MAIN") != "" { // a test starts itself as the command
		main()
	}
	called := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if called != "gjc-index" && len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		fmt.Fprintln(os.Stderr, "call the test binary by the name gjc-index to run the command")
		os.Exit(2)
	}
	testscript.Main(m, map[string]func(){"gjc-index": main})
}

// TestScripts runs each command as a process, with its output, its errors and
// its exit status.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("NO_COLOR", "1")
			env.Setenv("TZ", "UTC")
			env.Setenv("EVIL", "\x1b[31mred\u202eback")
			return cutTorn(env.WorkDir)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"field": field,
			"hardlink": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.Link(ts.MkAbs(args[1]), ts.MkAbs(args[0])))
			},
			"age": age,
			"mkfifo": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(makeFIFO(ts.MkAbs(args[0])))
			},
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// exits runs the command and wants an exit status: exits 3 gjc-index …
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if status, ok := err.(interface{ ExitCode() int }); ok {
		got = itoa(status.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if got != args[0] {
		ts.Fatalf("%v: exit status %s, want %s", args[1:], got, args[0])
	}
}

// cutTorn takes the last line end from files named torn.jsonl: an archive of
// files can't leave it out.
func cutTorn(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "torn.jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(path, bytes.TrimSuffix(data, []byte("\n")), 0o600)
	})
}

// age gives a file the time at which a day begins: age FILE 2025-01-01.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: age FILE DAY")
	}
	at, err := time.Parse("2006-01-02", args[1])
	ts.Check(err)
	ts.Check(os.Chtimes(ts.MkAbs(args[0]), at, at))
}
