package storage_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// envLock makes a child of these tests do the work named by envLockRole on the
// lock file it names.
const (
	envLock     = "GJC_LOCK_FILE"
	envLockRole = "GJC_LOCK_ROLE"
)

// TestLockChild is what the children run; by itself it does nothing.
func TestLockChild(t *testing.T) {
	name := os.Getenv(envLock)
	if name == "" {
		return
	}
	d := storage.Disk(storage.Policy{OwnerOnly: true})
	switch os.Getenv(envLockRole) {
	case "hold":
		l, err := d.TryLock(name, storage.Exclusive)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent kills us
		_ = l.Unlock()
	case "count":
		for range countsPerChild {
			if err := countOnce(t.Context(), d, name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

const (
	countChildren  = 4
	countsPerChild = 50
)

// countOnce adds one to the number in the lock file. Each tenth time it puts a
// new lock file in the place of the old one while holding it.
func countOnce(ctx context.Context, d storage.FS, name string) error {
	l, err := d.Lock(ctx, name, storage.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = l.Unlock() }()
	text, err := storage.ReadFile(d, name, 100)
	if err != nil {
		return err
	}
	n := 0
	if len(text) > 0 {
		if n, err = strconv.Atoi(string(text)); err != nil {
			return err
		}
	}
	n++
	if n%10 == 0 {
		return storage.Replace(ctx, d, name, 0o600, func(w io.Writer) error {
			_, err := fmt.Fprint(w, n)
			return err
		})
	}
	_, err = l.File().WriteAt([]byte(strconv.Itoa(n)), 0)
	return err
}

func lockChild(t *testing.T, name, role string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLockChild$")
	cmd.Env = append(os.Environ(), envLock+"="+name, envLockRole+"="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestLockIsFreedByTheDeathOfItsHolder(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	d := storage.Disk(storage.Policy{OwnerOnly: true})
	cmd := lockChild(t, name, "hold")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("child says %q, %v, want held", line, err)
	}
	if _, err := d.TryLock(name, storage.Exclusive); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("TryLock beside the child = %v, want ErrLocked", err)
	}
	got := make(chan error)
	go func() {
		l, err := d.Lock(t.Context(), name, storage.Exclusive)
		if err == nil {
			err = l.Unlock()
		}
		got <- err
	}()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := <-got; err != nil {
		t.Errorf("Lock after the child's death = %v", err)
	}
}

func TestProcessesCountUnderOneLockThatIsReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	var wg sync.WaitGroup
	for range countChildren {
		cmd := lockChild(t, name, "count")
		wg.Go(func() {
			if out, err := cmd.Output(); err != nil {
				t.Errorf("child: %v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	got, err := storage.ReadFile(storage.Disk(storage.Policy{}), name, 100)
	if err != nil {
		t.Fatal(err)
	}
	if want := strconv.Itoa(countChildren * countsPerChild); string(got) != want {
		t.Errorf("the count is %s, want %s", got, want)
	}
}
