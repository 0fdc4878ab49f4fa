//go:build unix

package storage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// refusedWithin is how long a refusal may take.
const refusedWithin = time.Second

func TestFIFOsAndDevicesAreRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mknod(socket, unix.S_IFSOCK|0o600, 0); err != nil {
		t.Fatal(err)
	}
	for _, policy := range []storage.Policy{{}, {OwnerOnly: true}} {
		d := storage.Disk(policy)
		for _, name := range []string{fifo, socket, "/dev/null"} {
			for op, open := range map[string]func(string) error{
				"Open":   func(n string) error { _, err := d.Open(n); return err },
				"Edit":   func(n string) error { _, err := d.Edit(n); return err },
				"Append": func(n string) error { _, err := d.Append(n); return err },
				"Lock": func(n string) error {
					_, err := d.Lock(t.Context(), n, storage.Exclusive)
					return err
				},
				"ReadDir": func(n string) error { _, err := d.ReadDir(n); return err },
				"StatDir": func(n string) error { _, err := d.StatDir(n); return err },
				"CheckOwner": func(n string) error {
					_, err := d.CheckOwner(n, storage.Regular)
					return err
				},
			} {
				began := time.Now()
				if err := open(name); !errors.Is(err, storage.ErrUnsafe) {
					t.Errorf("%s(%s) = %v, want ErrUnsafe", op, name, err)
				}
				if took := time.Since(began); took > refusedWithin {
					t.Errorf("%s(%s) took %v, want less than %v", op, name, took, refusedWithin)
				}
			}
		}
	}
}

func TestLinksAreChangedThemselvesOrRefused(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	d := storage.Disk(storage.Policy{})
	before, err := d.Lstat(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Chmod(link, 0o644); !errors.Is(err, storage.ErrUnsafe) {
		t.Errorf("Chmod of a link = %v, want ErrUnsafe", err)
	}
	if err := d.Chtimes(link, 1); err != nil {
		t.Errorf("Chtimes of a link = %v", err)
	}
	after, err := d.Lstat(target)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the target changed (-before +after):\n%s", diff)
	}
	if _, err := d.StatDir(filepath.Dir(link) + "/link"); !errors.Is(err, storage.ErrUnsafe) {
		t.Errorf("StatDir of a link = %v, want ErrUnsafe", err)
	}
	if got, err := storage.RealPath(link); err != nil || filepath.Base(got) != "target" {
		t.Errorf("RealPath(link) = %q, %v, want target", got, err)
	}
}

// TestStatDirWhileNamesComeAndGo asks for a list while another goroutine
// removes and makes files: the ones that stay must all be there.
func TestStatDirWhileNamesComeAndGo(t *testing.T) {
	dir := t.TempDir()
	d := storage.Disk(storage.Policy{})
	var want []string
	for i := range 200 {
		name := fmt.Sprintf("stays-%03d", i)
		want = append(want, name)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			name := filepath.Join(dir, fmt.Sprintf("goes-%d", i%50))
			if os.WriteFile(name, nil, 0o600) == nil && i%2 == 0 {
				_ = os.Remove(name)
			}
		}
	})
	for range 50 {
		list, err := d.StatDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range list {
			if e.Name[0] == 's' {
				got = append(got, e.Name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("names that stay (-want +got):\n%s", diff)
		}
	}
	close(stop)
	wg.Wait()
}

func TestOpensAreClosedOnExec(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := storage.Disk(storage.Policy{}).Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc")
	}
	seen := false
	for _, e := range fds {
		var fd int
		if _, err := fmt.Sscan(e.Name(), &fd); err != nil {
			t.Fatal(err)
		}
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); to != name {
			continue
		}
		seen = true
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("flags of the descriptor are %d, %v, want FD_CLOEXEC", flags, err)
		}
	}
	if !seen {
		t.Error("no descriptor of the open file found")
	}
}

func TestWritesPastTheSizeLimitAreShort(t *testing.T) {
	// A file size limit makes a real short write without filling a disk. It
	// holds for the whole process, so it is far above what other tests write.
	const limit = 1 << 30
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		t.Skip(err)
	}
	defer func() { _ = unix.Setrlimit(unix.RLIMIT_FSIZE, &old) }()
	d := storage.Disk(storage.Policy{})
	name := filepath.Join(t.TempDir(), "f")
	f, err := d.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(limit-3), f.Close()); err != nil {
		t.Fatal(err)
	}
	a, err := d.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if n, err := a.Write([]byte("abcdef")); n != 3 || err == nil {
		t.Errorf("Write past the limit = %d, %v, want 3 and an error", n, err)
	}
	if n, err := a.Write([]byte("g")); n != 0 || !errors.Is(err, unix.EFBIG) {
		t.Errorf("Write at the limit = %d, %v, want 0, EFBIG", n, err)
	}
}
