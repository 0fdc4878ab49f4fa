package storagetest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// tornCopies is how many torn crashes EachCrash tries before each operation,
// besides the one that keeps only what was synced.
const tornCopies = 3

// CrashDir is the directory that EachCrash works in; it exists and is durable.
// On Windows it is on the current drive.
func CrashDir() string { return filepath.FromSlash("/crash") }

// EachCrash runs step once on a Memory that setup (nil: nothing) has filled,
// and before each operation, and at the end, has check look at copies of it as
// crashes would leave them: one with only what was synced, others that also
// hold a part of what was not, chosen by a fixed seed. check gets how often
// step had called ack by then.
func EachCrash(t *testing.T, setup func(t *testing.T, fsys storage.FS, dir string), step Step,
	check func(t *testing.T, fsys storage.FS, dir string, acked int),
) {
	t.Helper()
	m := storage.NewMemory()
	dir := CrashDir()
	if err := storage.MkdirAll(m, dir); err != nil {
		t.Fatal(err)
	}
	if setup != nil {
		setup(t, m, dir)
	}
	r := rand.New(rand.NewPCG(1, 2))
	acked, n := 0, 0
	var mu sync.Mutex // a step may have several goroutines
	look := func() {
		t.Run(fmt.Sprintf("crashed before operation %d", n), func(t *testing.T) { check(t, m.Crash(), dir, acked) })
		for i := range tornCopies {
			t.Run(fmt.Sprintf("torn %d before operation %d", i+1, n), func(t *testing.T) { check(t, m.CrashTorn(r), dir, acked) })
		}
	}
	hook := &Hook{FS: m, Before: func(op Op, _ string) error {
		if op.Changes() {
			mu.Lock()
			defer mu.Unlock()
			n++
			look()
		}
		return nil
	}}
	if err := step(hook, dir, func() { acked++ }); err != nil {
		t.Fatal(err)
	}
	n++
	look()
}
