package storage

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Memory is FS in memory, for tests and for sessions without a disk. It knows
// for each byte and each name whether it was synced; Crash drops the rest.
// Safe for several goroutines.
type Memory struct {
	// Now tells the time of a change. Set it before the first use.
	Now func() time.Time

	// WholeSync makes SyncWhole work, as on a disk that has such a call. Set it
	// before the first use.
	WholeSync bool

	mu        sync.Mutex
	root      *node
	nextInode uint64
	moves     []dirMove
}

// node is a file or a directory. Its names are in the directories that hold it.
type node struct {
	kind    Kind
	mode    fs.FileMode
	inode   uint64
	links   uint64
	modTime int64
	change  int64

	data   []byte // of a file
	synced []byte // what of data would survive
	clean  int64  // synced and data are alike in the first clean bytes

	names   map[string]*node // of a directory
	durable map[string]*node // the names as of the last SyncDir

	holders map[*memFile]bool // descriptors that hold a lock; true if shared
}

// NewMemory returns an FS that holds the root directory alone.
func NewMemory() *Memory {
	m := &Memory{Now: time.Now}
	m.root = m.newNode(Dir, dirMode)
	return m
}

func (m *Memory) newNode(kind Kind, mode fs.FileMode) *node {
	m.nextInode++
	n := &node{kind: kind, mode: mode, inode: m.nextInode, links: 1, holders: map[*memFile]bool{}}
	if kind == Dir {
		n.names, n.durable = map[string]*node{}, map[string]*node{}
	}
	n.touch(m.Now().UnixNano())
	return n
}

func (n *node) touch(now int64) { n.modTime, n.change = now, now }

func (n *node) info() Info {
	return Info{
		Kind: n.kind, Mode: n.mode, UID: selfUID(), Links: n.links, Dev: 1, Inode: n.inode,
		Size: int64(len(n.data)), ModTime: n.modTime, ChangeTime: n.change,
	}
}

// find walks to name. The caller holds mu.
func (m *Memory) findLocked(op, name string) (*node, error) {
	n := m.root
	for _, part := range parts(name) {
		if n.kind != Dir {
			return nil, pathError(op, name, syscall.ENOTDIR)
		}
		if n = n.names[part]; n == nil {
			return nil, pathError(op, name, fs.ErrNotExist)
		}
	}
	return n, nil
}

// parentLocked finds the directory that holds name, and name's last part.
func (m *Memory) parentLocked(op, name string) (*node, string, error) {
	list := parts(name)
	if len(list) == 0 {
		return nil, "", pathError(op, name, syscall.EBUSY)
	}
	dir, err := m.findLocked(op, filepath.Dir(filepath.Clean(name)))
	if err != nil {
		return nil, "", err
	}
	if dir.kind != Dir {
		return nil, "", pathError(op, name, syscall.ENOTDIR)
	}
	return dir, list[len(list)-1], nil
}

func parts(name string) []string {
	name = filepath.Clean(name)
	name = strings.Trim(name[len(filepath.VolumeName(name)):], string(filepath.Separator))
	if name == "" || name == "." {
		return nil
	}
	return strings.Split(name, string(filepath.Separator))
}

// Place puts something that is no file and no directory at name, such as
// Symlink or Other, for tests of what must be refused.
func (m *Memory) Place(name string, kind Kind) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parentLocked("place", name)
	if err != nil {
		return err
	}
	if dir.names[base] != nil {
		return pathError("place", name, fs.ErrExist)
	}
	dir.names[base] = m.newNode(kind, 0o777)
	return nil
}

// Open opens name to read it.
func (m *Memory) Open(name string) (File, error) { return m.open(name, modeRead) }

// Create makes and opens name.
func (m *Memory) Create(name string) (File, error) { return m.open(name, modeCreate) }

// Edit opens name to read and write it.
func (m *Memory) Edit(name string) (File, error) { return m.open(name, modeEdit) }

// Append opens name so that each write lands at its end.
func (m *Memory) Append(name string) (File, error) { return m.open(name, modeAppend) }

func (m *Memory) open(name string, mode openMode) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parentLocked("open", name)
	if err != nil {
		if len(parts(name)) == 0 {
			return nil, &UnsafeError{Path: name, Reason: notAFile(Dir)}
		}
		return nil, err
	}
	n := dir.names[base]
	switch {
	case n != nil && mode == modeCreate:
		return nil, pathError("open", name, fs.ErrExist)
	case n == nil && mode != modeCreate && mode != modeLock:
		return nil, pathError("open", name, fs.ErrNotExist)
	case n == nil:
		n = m.newNode(Regular, fileMode)
		dir.names[base] = n
		dir.touch(m.Now().UnixNano())
	case n.kind != Regular:
		return nil, &UnsafeError{Path: name, Reason: notAFile(n.kind)}
	}
	return &memFile{m: m, n: n, name: name, mode: mode}, nil
}

// TryLock locks the lock file at name without waiting.
func (m *Memory) TryLock(name string, mode LockMode) (Lock, error) {
	return tryLock(name, mode, func() (File, error) { return m.open(name, modeLock) }, m.Lstat)
}

// Lock locks the lock file at name, waiting until ctx ends.
func (m *Memory) Lock(ctx context.Context, name string, mode LockMode) (Lock, error) {
	return waitLock(ctx, name, func() (Lock, error) { return m.TryLock(name, mode) })
}

// CheckOwner judges mode, kind and links; the owner is always this process.
func (m *Memory) CheckOwner(name string, kind Kind) (Info, error) {
	if kind != Regular && kind != Dir {
		return Info{}, pathError("check owner", name, errors.New("only files and directories can be owner-only"))
	}
	info, err := m.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	if err := checkInfo(name, info, kind, info.UID); err != nil {
		return Info{}, err
	}
	return info, nil
}
