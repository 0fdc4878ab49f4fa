package index

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/internal/corpus"
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

// TestKillsLoseNothing kills a process that builds and refreshes, at random
// times. GJC_INDEX_KILLS says how often.
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
		if i%10 == 0 { // and now and then the first build
			for _, side := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(filepath.Join(made.Home, "index.db"+side))
			}
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledChild$")
		cmd.Env = append(os.Environ(), childHome+"="+made.Home)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(5+rand.IntN(600))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // killed
		timer.Stop()
		x := openAt(t, made.Home, Options{})
		rep := refresh(t, x)
		if rep.NoIndex || rep.Busy {
			t.Fatalf("kill %d: Refresh = %+v", i, rep)
		}
		if again := refresh(t, x); again.Bytes != 0 {
			t.Fatalf("kill %d: second Refresh = %+v, want nothing read", i, again)
		}
		checkEqual(t, x)
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("after kill %d", i)
		}
	}
}
