package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// childHome is the environment variable that makes TestKilledChild the child of
// TestKillsLoseNothing: it refreshes or rebuilds the index of that home until
// it is killed.
const childHome = "GJC_INDEX_CHILD_HOME"

func TestKilledChild(t *testing.T) {
	home := os.Getenv(childHome)
	if home == "" {
		t.Skip("runs as a child of TestKillsLoseNothing")
	}
	x := openAt(t, home, Options{})
	for i := 0; ; i++ {
		var err error
		if i%3 == 2 {
			_, err = x.Rebuild(t.Context())
		} else {
			_, err = x.Refresh(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		// Something to do for the next one.
		names, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
		if err != nil || len(names) == 0 {
			t.Fatal(err)
		}
		for range 20 {
			f, err := os.OpenFile(names[rand.IntN(len(names))], os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			id := strconv.FormatUint(rand.Uint64(), 16)
			_, err = f.WriteString(`{"type":"message","id":"` + id + `","parentId":null,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"user","content":"` + id + `"}}` + "\n")
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestKillsLoseNothing kills a process that builds, refreshes and sets a damaged
// database aside, at random times. GJC_INDEX_KILLS says how often.
func TestKillsLoseNothing(t *testing.T) {
	kills := 6
	if n, err := strconv.Atoi(os.Getenv("GJC_INDEX_KILLS")); err == nil {
		kills = n
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	made, err := corpus.Generate(t.TempDir(), corpus.Options{Files: 80, Bytes: 6 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for i := range kills {
		damaged := false
		switch i % 10 {
		case 0: // now and then the first build
			for _, side := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(filepath.Join(made.Home, "index.db"+side))
			}
		case 5: // or a database that must be set aside first
			spoil(t, made.Home)
			damaged = true
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
		cmd.Env = append(os.Environ(), childHome+"="+made.Home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(5+rand.IntN(600))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed
		timer.Stop()
		afterKill(t, made.Home, damaged)
		if t.Failed() {
			t.Fatalf("after kill %d", i)
		}
	}
}

// spoil writes over all pages of the database but the first.
func spoil(t *testing.T, home string) {
	t.Helper()
	path := filepath.Join(home, "index.db")
	for _, side := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + side)
	}
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	data = append(data, make([]byte, 8192)...)
	for i := 100; i < len(data); i++ {
		data[i] = 0xA5
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// afterKill finishes what a killed process began, and compares the result with
// a cold build.
func afterKill(t *testing.T, home string, damaged bool) {
	t.Helper()
	x := openAt(t, home, Options{})
	rep, err := x.Refresh(t.Context())
	if err != nil || rep.NoIndex || rep.Busy || len(x.Notes()) > 0 && !damaged {
		t.Fatalf("Refresh = %+v, %v; notes %q", rep, err, x.Notes())
	}
	if again, err := x.Refresh(t.Context()); err != nil || again.Bytes != 0 {
		t.Fatalf("second Refresh = %+v, %v, want nothing read", again, err)
	}
	checkEqual(t, x)
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	aside, err := filepath.Glob(filepath.Join(home, "index.db.*.damaged"))
	if err != nil || len(aside) > maxSetAside {
		t.Fatalf("set aside: %q, %v, want at most %d", aside, err, maxSetAside)
	}
}

func TestSettingAsideSurvivesAKillAtEachOfItsSteps(t *testing.T) {
	storagetest.EachStep(t,
		func(t *testing.T, home string) {
			for i := range 3 {
				put(t, home, fmt.Sprintf("scope/s%d.jsonl", i), fmt.Sprintf(`{"type":"session","version":5,"id":"s%d","timestamp":"2026-02-01T00:00:00.000Z","cwd":"/w"}`+"\n", i))
			}
			spoil(t, home)
			for _, side := range []string{"-wal", "-shm"} {
				if err := os.WriteFile(filepath.Join(home, "index.db"+side), []byte("garbage"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		},
		func(fsys storage.FS, home string, ack func()) error {
			x, err := Open(context.Background(), fsys, scope.HomeAt(home), Options{Tick: func(string) time.Duration { return 0 }})
			if err != nil {
				return err
			}
			if _, err := x.Refresh(context.Background()); err != nil {
				return err
			}
			ack()
			return x.Close()
		},
		func(t *testing.T, home string, _ int) {
			afterKill(t, home, true)
			x := openAt(t, home, Options{})
			if got := sessionIDs(t, x, Filter{}); len(got) != 3 {
				t.Errorf("Sessions = %q, want 3", got)
			}
		})
}
