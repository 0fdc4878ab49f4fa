package storage

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// The part of Memory that works on names.

// Mkdir makes one directory.
func (m *Memory) Mkdir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(parts(name)) == 0 {
		return pathError("mkdir", name, fs.ErrExist)
	}
	dir, base, err := m.parentLocked("mkdir", name)
	if err != nil {
		return err
	}
	if dir.names[base] != nil {
		return pathError("mkdir", name, fs.ErrExist)
	}
	dir.names[base] = m.newNode(Dir, dirMode)
	dir.touch(m.Now().UnixNano())
	return nil
}

// Rename gives oldname's file or directory the name newname, replacing a file
// or an empty directory.
func (m *Memory) Rename(oldname, newname string) error { return m.rename(oldname, newname, true) }

// RenameNoReplace is Rename to a name that must be free.
func (m *Memory) RenameNoReplace(oldname, newname string) error {
	return m.rename(oldname, newname, false)
}

func (m *Memory) rename(oldname, newname string, replace bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	from, oldbase, err := m.parentLocked("rename", oldname)
	if err != nil {
		return err
	}
	to, newbase, err := m.parentLocked("rename", newname)
	if err != nil {
		return err
	}
	n, taken := from.names[oldbase], to.names[newbase]
	switch {
	case n == nil:
		return linkError("rename", oldname, newname, fs.ErrNotExist)
	case taken != nil && !replace:
		return linkError("rename", oldname, newname, fs.ErrExist)
	case taken == n:
		return nil
	case n.kind == Dir && holds(n, to):
		return linkError("rename", oldname, newname, syscall.EINVAL)
	case taken == nil:
	case taken.kind == Dir && n.kind != Dir:
		return linkError("rename", oldname, newname, syscall.EISDIR)
	case taken.kind != Dir && n.kind == Dir:
		return linkError("rename", oldname, newname, syscall.ENOTDIR)
	case taken.kind == Dir && len(taken.names) > 0:
		return linkError("rename", oldname, newname, syscall.ENOTEMPTY)
	}
	now := m.Now().UnixNano()
	if taken != nil {
		taken.links--
		taken.change = now
	}
	delete(from.names, oldbase)
	to.names[newbase] = n
	if from != to {
		m.moves = append(m.moves, dirMove{from, to, oldbase, newbase, n})
	}
	from.touch(now)
	to.touch(now)
	n.change = now
	return nil
}

// holds reports whether dir is or lies under n.
func holds(n, dir *node) bool {
	if n == dir {
		return true
	}
	for _, c := range n.names {
		if c.kind == Dir && holds(c, dir) {
			return true
		}
	}
	return false
}

// Link gives a file a second name.
func (m *Memory) Link(oldname, newname string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked("link", oldname)
	if err != nil {
		return err
	}
	to, base, err := m.parentLocked("link", newname)
	if err != nil {
		return err
	}
	if to.names[base] != nil {
		return linkError("link", oldname, newname, fs.ErrExist)
	}
	if n.kind == Dir {
		return linkError("link", oldname, newname, syscall.EPERM)
	}
	now := m.Now().UnixNano()
	n.links++
	n.change = now
	to.names[base] = n
	to.touch(now)
	return nil
}

// Remove removes a file's name or an empty directory.
func (m *Memory) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir, base, err := m.parentLocked("remove", name)
	if err != nil {
		return err
	}
	n := dir.names[base]
	if n == nil {
		return pathError("remove", name, fs.ErrNotExist)
	}
	if len(n.names) > 0 {
		return pathError("remove", name, syscall.ENOTEMPTY)
	}
	now := m.Now().UnixNano()
	n.links--
	n.change = now
	delete(dir.names, base)
	dir.touch(now)
	return nil
}

// Chmod sets the permission bits of a file or directory.
func (m *Memory) Chmod(name string, mode fs.FileMode) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked("chmod", name)
	if err != nil {
		return err
	}
	if n.kind == Symlink {
		return &UnsafeError{Path: name, Reason: notAFile(Symlink)}
	}
	n.mode = mode.Perm()
	n.change = m.Now().UnixNano()
	return nil
}

// Chtimes sets the time of the last change of the content.
func (m *Memory) Chtimes(name string, modTime int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked("chtimes", name)
	if err != nil {
		return err
	}
	n.modTime, n.change = modTime, m.Now().UnixNano()
	return nil
}

// Lstat tells about name.
func (m *Memory) Lstat(name string) (Info, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.findLocked("lstat", name)
	if err != nil {
		return Info{}, err
	}
	return n.info(), nil
}

// ReadDir lists a directory, sorted, with kinds alone.
func (m *Memory) ReadDir(name string) ([]DirEntry, error) {
	list, err := m.StatDir(name)
	for i := range list {
		list[i].Info = Info{Kind: list[i].Info.Kind}
	}
	return list, err
}

// StatDir lists a directory with whole Infos; here it is sorted too.
func (m *Memory) StatDir(name string) ([]DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.dirLocked("readdir", name)
	if err != nil {
		return nil, err
	}
	var list []DirEntry
	for base, c := range n.names {
		list = append(list, DirEntry{Name: base, Info: c.info()})
	}
	slices.SortFunc(list, func(a, b DirEntry) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// SyncDir makes the names of a directory durable.
func (m *Memory) SyncDir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, err := m.dirLocked("sync", name)
	if err != nil {
		return err
	}
	m.syncNamesLocked(n)
	return nil
}

func (m *Memory) dirLocked(op, name string) (*node, error) {
	n, err := m.findLocked(op, name)
	if err != nil {
		return nil, err
	}
	if n.kind != Dir {
		return nil, &UnsafeError{Path: name, Reason: notADir(n.kind)}
	}
	return n, nil
}
