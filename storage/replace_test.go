package storage

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTempOf(t *testing.T) {
	for _, tt := range []struct {
		base, want string
		ok         bool
	}{
		{".a.jsonl.0123456789abcdef.tmp", "a.jsonl", true},
		{"..x.0123456789abcdef.tmp", ".x", true},
		{".0123456789abcdef.tmp", "", false},
		{"..0123456789abcdef.tmp", "", false},
		{"a.jsonl.0123456789abcdef.tmp", "", false},
		{".a.jsonl.0123456789abcdeF.tmp", "", false},
		{".a.jsonl.123456789abcdef.tmp", "", false},
		{".a.jsonl.0123456789abcdef", "", false},
		{".tmp", "", false},
		{"", "", false},
	} {
		if got, ok := TempOf(tt.base); got != tt.want || ok != tt.ok {
			t.Errorf("TempOf(%q) = %q, %v, want %q, %v", tt.base, got, ok, tt.want, tt.ok)
		}
	}
	if got, ok := TempOf(filepath.Base(tempName("/x/name"))); got != "name" || !ok {
		t.Errorf("TempOf(tempName) = %q, %v, want name, true", got, ok)
	}
}

func TestRenameByLinkNeverReplaces(t *testing.T) {
	d := &disk{}
	dir := filepath.Join(t.TempDir(), "d")
	at := func(s string) string { return filepath.Join(dir, s) }
	if err := errors.Join(d.Mkdir(dir), d.Mkdir(at("sub")), d.makeOne(at("a"), Regular), d.makeOne(at("b"), Regular)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, from, to string
		want           error
	}{
		{"file to a taken name", "a", "b", fs.ErrExist},
		{"directory to a taken name", "sub", "b", fs.ErrExist},
		{"missing file", "none", "c", fs.ErrNotExist},
		{"file", "a", "c", nil},
		{"directory", "sub", "sub2", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := renameByLink(d, at(tt.from), at(tt.to)); !errors.Is(err, tt.want) {
				t.Errorf("renameByLink = %v, want %v", err, tt.want)
			}
		})
	}
	list, err := d.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []DirEntry{{Name: "b", Info: Info{Kind: Regular}}, {Name: "c", Info: Info{Kind: Regular}}, {Name: "sub2", Info: Info{Kind: Dir}}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestOwnerOnlyOpenHealsTheTwinOfAKilledPublish(t *testing.T) {
	d := &disk{policy: Policy{OwnerOnly: true}}
	dir := filepath.Join(t.TempDir(), "d")
	name := filepath.Join(dir, "f")
	twin, other := tempName(name), tempName(name)
	err := errors.Join(d.Mkdir(dir), d.makeOne(twin, Regular), d.Link(twin, name), d.makeOne(other, Regular))
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lstat(twin); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the twin is still there: %v", err)
	}
	if _, err := d.Lstat(other); err != nil {
		t.Errorf("another temporary file is gone: %v", err)
	}
}

func TestMacSecurityAnswers(t *testing.T) {
	answer := func(at, size uint32, sec ...uint32) []byte {
		b := binary.LittleEndian.AppendUint32(nil, 64)
		b = binary.LittleEndian.AppendUint32(b, at)
		b = binary.LittleEndian.AppendUint32(b, size)
		for _, w := range sec {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	filesec := func(magic, entries uint32) []uint32 {
		return []uint32{magic, 0, 0, 0, 0, 0, 0, 0, 0, entries, 0}
	}
	for _, tt := range []struct {
		name   string
		answer []byte
		ok     bool
	}{
		{"nothing set", answer(8, 0), true},
		{"owner set, no list", answer(8, 44, filesec(filesecMagic, filesecNoACL)...), true},
		{"empty list", answer(8, 44, filesec(filesecMagic, 0)...), false},
		{"one entry", answer(8, 68, filesec(filesecMagic, 1)...), false},
		{"wrong magic", answer(8, 44, filesec(1, filesecNoACL)...), false},
		{"cut", answer(8, 44, filesecMagic), false},
		{"points before itself", answer(0, 44, filesec(filesecMagic, filesecNoACL)...), false},
		{"too short", []byte{1, 2, 3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := judgeSecurity("/p", tt.answer)
			if (err == nil) != tt.ok || err != nil && !errors.Is(err, ErrUnsafe) {
				t.Errorf("judgeSecurity = %v, want ok %v", err, tt.ok)
			}
		})
	}
}

// makeOne makes an empty file or directory.
func (d *disk) makeOne(name string, kind Kind) error {
	if kind == Dir {
		return d.Mkdir(name)
	}
	f, err := d.Create(name)
	if err != nil {
		return err
	}
	return f.Close()
}
