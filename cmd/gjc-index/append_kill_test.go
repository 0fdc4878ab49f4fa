package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// killedAppend is a session and what is appended to it while the command is
// killed.
const (
	killedSession = `{"type":"session","version":5,"id":"k","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/p"}` + "\n"
	killedBatch   = `{"type":"message","message":{"role":"user","content":"one"}}` + "\n" +
		`{"type":"message","message":{"role":"assistant","content":"two"}}` + "\n"
)

// A command that is killed before any of its operations leaves a session that
// the next one goes on with: whole entries, none twice, and all of them once
// the outcome was told.
func TestAppendKilledAnywhere(t *testing.T) {
	for _, flag := range []string{"--each", "--sync"} {
		t.Run(strings.TrimPrefix(flag, "--"), func(t *testing.T) { testAppendKilled(t, flag) })
	}
}

func testAppendKilled(t *testing.T, flag string) {
	setup := func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "k.jsonl"), killedSession) }
	step := func(fsys storage.FS, dir string, ack func()) error {
		var out, errs bytes.Buffer
		a := newApp(strings.NewReader(killedBatch), &out, &errs)
		a.fsys = fsys
		status := a.run(context.Background(), []string{"append", filepath.Join(dir, "k.jsonl"), "--home", filepath.Join(dir, "home"), flag})
		if status != exitDone {
			return errors.New(errs.String())
		}
		ack()
		return nil
	}
	storagetest.EachStep(t, setup, step, func(t *testing.T, dir string, acked int) {
		path := filepath.Join(dir, "k.jsonl")
		text := readFile(t, path)
		ids := map[any]bool{}
		lines := objects(t, text)
		for _, o := range lines {
			ids[o["id"]] = true
		}
		if !strings.HasPrefix(text, killedSession) || len(ids) != len(lines) || acked > 0 && len(lines) != 3 || len(lines) > 3 {
			t.Errorf("acknowledged %d times, the file holds:\n%s", acked, text)
		}
		if flag == "--sync" && len(lines) == 2 {
			t.Errorf("half a batch:\n%s", text)
		}
		printed(t, killedBatch, "append", path, "--home", filepath.Join(dir, "home"))
		if _, err := os.Stat(filepath.Join(dir, "home", "index.db")); err == nil {
			t.Error("append to a path made an index")
		}
		if again := objects(t, readFile(t, path)); len(again) != len(lines)+2 || again[len(lines)]["parentId"] == nil && len(lines) > 1 {
			t.Errorf("after the next append:\n%s", readFile(t, path))
		}
	})
}
