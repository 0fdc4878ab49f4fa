package storage

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// aclBytes is an access control list as the kernel takes it: version 2, then
// tag, permissions and id of each entry.
func aclBytes(entries ...[3]uint32) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, uint16(e[1]))
		b = binary.LittleEndian.AppendUint32(b, e[2])
	}
	return b
}

// namedUserACL keeps mode 0600 on the face of it, and lets user 12345 read.
func namedUserACL() []byte {
	const none = ^uint32(0)
	return aclBytes([3]uint32{0x01, 6, none}, [3]uint32{0x02, 4, 12345}, [3]uint32{0x04, 0, none},
		[3]uint32{0x10, 0, none}, [3]uint32{0x20, 0, none})
}

func TestOwnerOnlyRefusesEachAttack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not root: the cases with another owner are left out")
	}
	for _, tt := range []struct {
		name   string
		kind   Kind
		root   bool
		attack func(t *testing.T, name string) error
		reason string
	}{
		{"file as it should be", Regular, false, func(*testing.T, string) error { return nil }, ""},
		{"directory as it should be", Dir, false, func(*testing.T, string) error { return nil }, ""},
		{"group bits of a file", Regular, false, func(_ *testing.T, n string) error { return os.Chmod(n, 0o640) }, "mode is 0640, want 0600"},
		{"too few bits of a file", Regular, false, func(_ *testing.T, n string) error { return os.Chmod(n, 0o400) }, "mode is 0400, want 0600"},
		{"group bits of a directory", Dir, false, func(_ *testing.T, n string) error { return os.Chmod(n, 0o750) }, "mode is 0750, want 0700"},
		{"another owner's file", Regular, true, func(_ *testing.T, n string) error { return os.Chown(n, 12345, 0) }, "belongs to user 12345, want 0"},
		{"another owner's directory", Dir, true, func(_ *testing.T, n string) error { return os.Chown(n, 12345, 0) }, "belongs to user 12345, want 0"},
		{"hard link", Regular, false, func(_ *testing.T, n string) error { return os.Link(n, n+"2") }, "has 2 links, want 1"},
		{"symbolic link to a file", Regular, false, linkAway, "is a symbolic link"},
		{"symbolic link to a directory", Dir, false, linkAway, "is a symbolic link"},
		{"FIFO for a file", Regular, false, fifoInstead, "is a FIFO, socket or device, want a file"},
		{"FIFO for a directory", Dir, false, fifoInstead, "is a FIFO, socket or device, want a directory"},
		{"file for a directory", Dir, false, func(_ *testing.T, n string) error {
			return errors.Join(os.Remove(n), os.WriteFile(n, nil, 0o600))
		}, "is a file, want a directory"},
		{"directory for a file", Regular, false, func(_ *testing.T, n string) error {
			return errors.Join(os.Remove(n), os.Mkdir(n, 0o700))
		}, "is a directory, want a file"},
		{"default access control list", Dir, false, setACL(aclDefault), "has an access control list"},
		{"access control list of a file", Regular, false, setACL(aclAccess), "has an access control list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.root && os.Geteuid() != 0 {
				t.Skip("needs root to give a file away")
			}
			d := &disk{policy: Policy{OwnerOnly: true}}
			name := filepath.Join(t.TempDir(), "it")
			if err := d.makeOne(name, tt.kind); err != nil {
				t.Fatal(err)
			}
			if err := tt.attack(t, name); err != nil {
				t.Fatal(err)
			}
			wantEachRefused(t, d, name, tt.kind, tt.reason)
		})
	}
}

// wantEachRefused asks each operation that checks the owner for its reason.
func wantEachRefused(t *testing.T, d *disk, name string, kind Kind, reason string) {
	t.Helper()
	_, err := d.CheckOwner(name, kind)
	wantReason(t, "CheckOwner", err, name, reason)
	if kind == Dir {
		_, err = d.StatDir(name)
		wantReason(t, "StatDir", err, name, reason)
		return
	}
	for op, open := range map[string]func(string) (File, error){"Open": d.Open, "Edit": d.Edit, "Append": d.Append} {
		f, err := open(name)
		wantReason(t, op, err, name, reason)
		if err == nil {
			_ = f.Close()
		}
	}
	l, err := d.TryLock(name, Exclusive)
	wantReason(t, "TryLock", err, name, reason)
	if err == nil {
		_ = l.Unlock()
	}
}

func wantReason(t *testing.T, op string, err error, name, reason string) {
	t.Helper()
	if reason == "" {
		if err != nil {
			t.Errorf("%s = %v, want nil", op, err)
		}
		return
	}
	var unsafe *UnsafeError
	if !errors.As(err, &unsafe) || unsafe.Path != name || unsafe.Reason != reason {
		t.Errorf("%s = %v, want %s: %s", op, err, name, reason)
	}
}

func linkAway(_ *testing.T, name string) error {
	return errors.Join(os.Rename(name, name+".real"), os.Symlink(name+".real", name))
}

func fifoInstead(_ *testing.T, name string) error {
	return errors.Join(os.Remove(name), unix.Mkfifo(name, 0o600))
}

// setACL gives a list whose mask is nothing, so that the mode stays as it was.
func setACL(attr string) func(t *testing.T, name string) error {
	return func(t *testing.T, name string) error {
		err := unix.Setxattr(name, attr, namedUserACL(), 0)
		if errors.Is(err, unix.ENOTSUP) {
			t.Skip("file system without access control lists")
		}
		return err
	}
}

func TestOwnerOnlyCreateLeavesNothingWhereAListIsInherited(t *testing.T) {
	dir := t.TempDir()
	if err := setACL(aclDefault)(t, dir); err != nil {
		t.Fatal(err)
	}
	d := &disk{policy: Policy{OwnerOnly: true}}
	name := filepath.Join(dir, "f")
	if _, err := d.Create(name); !errors.Is(err, ErrUnsafe) {
		t.Errorf("Create = %v, want ErrUnsafe", err)
	}
	if _, err := d.Lstat(name); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Lstat = %v, want ErrNotExist", err)
	}
}

func TestACLGatePassesOnlyWhereNoListCanBe(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"no attribute", unix.ENODATA, ""},
		{"not supported", unix.ENOTSUP, ""},
		{"operation not supported", unix.EOPNOTSUPP, ""},
		{"present", nil, "has an access control list"},
		{"permission denied", unix.EPERM, "can't be read"},
		{"access denied", unix.EACCES, "can't be read"},
		{"I/O error", unix.EIO, "can't be read"},
		{"system call missing", unix.ENOSYS, "can't be read"},
		{"unknown", errors.New("odd"), "can't be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := judgeACL("/p", aclAccess, tt.err)
			if tt.want == "" && err == nil {
				return
			}
			if tt.want == "" || !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("judgeACL(%v) = %v, want %q", tt.err, err, tt.want)
			}
		})
	}
}

func TestCheckOwnerOnlyUnderRefusesASwappedDirectory(t *testing.T) {
	d := &disk{}
	root := filepath.Join(t.TempDir(), "root")
	scope := filepath.Join(root, "scope")
	file := filepath.Join(scope, "file")
	if err := errors.Join(d.Mkdir(root), d.Mkdir(scope), d.makeOne(file, Regular)); err != nil {
		t.Fatal(err)
	}
	if _, err := CheckOwnerOnlyUnder(d, root, file, Regular); err != nil {
		t.Fatal(err)
	}
	swap := &swapping{disk: d, at: file, swap: func() error {
		return errors.Join(os.Rename(scope, scope+".old"), d.Mkdir(scope), d.makeOne(file, Regular))
	}}
	_, err := CheckOwnerOnlyUnder(swap, root, file, Regular)
	wantReason(t, "CheckOwnerOnlyUnder", err, scope, "was replaced while it was checked")
}

// swapping calls swap when the file at is to be checked.
type swapping struct {
	*disk
	at   string
	swap func() error
}

func (s *swapping) CheckOwner(name string, kind Kind) (Info, error) {
	if name == s.at {
		if err := s.swap(); err != nil {
			return Info{}, err
		}
	}
	return s.disk.CheckOwner(name, kind)
}
