package storage

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
)

// What a machine that stops leaves of a Memory.

// dirMove is a name that went from one directory to another. No file system
// loses such a name: it is under the old one, the new one or, of a file, under
// both, unless the old directory was synced and the new one was not.
type dirMove struct {
	from, to         *node
	oldbase, newbase string
	n                *node
}

// stands reports whether what was moved is still where it went to.
func (v *dirMove) stands() bool { return v.to.names[v.newbase] == v.n }

// syncNamesLocked makes the names of a directory durable. A directory that came from
// another one is not under its old name any more then: it can't have two.
func (m *Memory) syncNamesLocked(n *node) {
	n.durable = maps.Clone(n.names)
	m.moves = slices.DeleteFunc(m.moves, func(v dirMove) bool {
		if v.to != n || !v.stands() {
			return false
		}
		if v.n.kind == Dir && v.from.durable[v.oldbase] == v.n {
			delete(v.from.durable, v.oldbase)
		}
		return true
	})
}

// SyncWhole makes all names and contents durable if WholeSync is set.
func (m *Memory) SyncWhole(names []string) (done bool, err error) {
	if !m.WholeSync || len(names) == 0 {
		return m.WholeSync, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.root.syncBelow()
	m.moves = nil
	return true, nil
}

func (n *node) syncBelow() {
	n.sync()
	if n.kind == Dir {
		n.durable = maps.Clone(n.names)
	}
	for _, c := range n.names {
		c.syncBelow()
	}
}

// sync makes a file's content durable.
func (n *node) sync() {
	n.synced = append(n.synced[:n.clean], n.data[n.clean:]...)
	n.clean = int64(len(n.data))
}

// Crash returns a Memory that holds what would be on disk had the machine
// stopped just now: synced bytes under synced names. Nothing is open or locked
// in it, and m itself is not changed.
func (m *Memory) Crash() *Memory { return m.crash(nil) }

// CrashTorn is Crash on a disk that had begun to write what nobody had synced:
// chosen by r, of each file a part of the bytes after the synced ones, and of
// each directory its names as they are now.
func (m *Memory) CrashTorn(r *rand.Rand) *Memory { return m.crash(r) }

func (m *Memory) crash(r *rand.Rand) *Memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Memory{Now: m.Now, WholeSync: m.WholeSync, nextInode: m.nextInode}
	s := survival{r: r, seen: map[*node]*node{}, names: map[*node]map[string]*node{}}
	if r != nil {
		s.choose(m.root, m.moves)
	}
	c.root = s.copy(m.root)
	return c
}

// survival copies what outlives a crash. r is nil where only synced things
// survive.
type survival struct {
	r     *rand.Rand
	seen  map[*node]*node
	names map[*node]map[string]*node // of directories whose names are not the synced ones
}

// choose chooses the directories whose names survive as they are now, and keeps
// what was moved between directories from being lost.
func (s *survival) choose(root *node, moves []dirMove) {
	visited := map[*node]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n.kind != Dir || visited[n] {
			return
		}
		visited[n] = true
		if s.r.IntN(2) == 0 {
			s.names[n] = maps.Clone(n.names)
		}
		below := slices.Concat(slices.Collect(maps.Values(n.names)), slices.Collect(maps.Values(n.durable)))
		slices.SortFunc(below, func(a, b *node) int { return cmp.Compare(a.inode, b.inode) })
		for _, c := range below {
			visit(c)
		}
	}
	visit(root)
	for again := true; again; {
		again = false
		for _, v := range moves {
			if s.names[v.from] != nil && s.names[v.to] == nil {
				s.names[v.to], again = maps.Clone(v.to.names), true
			}
		}
	}
	older := map[*node]map[string]*node{}
	for _, v := range moves {
		if v.n.kind == Dir && s.names[v.to] != nil && s.names[v.from] == nil && v.stands() {
			if older[v.from] == nil {
				older[v.from] = maps.Clone(v.from.durable)
			}
			delete(older[v.from], v.oldbase)
		}
	}
	maps.Copy(s.names, older)
}

// copy copies what of n survives. Two names of one file stay two names of one
// file.
func (s *survival) copy(n *node) *node {
	if c := s.seen[n]; c != nil {
		c.links++
		return c
	}
	data := n.synced
	if more := len(n.data) - len(n.synced); s.r != nil && more > 0 && n.clean == int64(len(n.synced)) {
		data = n.data[:len(n.synced)+s.r.IntN(more+1)]
	}
	c := &node{
		kind: n.kind, mode: n.mode, inode: n.inode, links: 1, modTime: n.modTime, change: n.change,
		data: slices.Clone(data), synced: slices.Clone(data), clean: int64(len(data)),
		holders: map[*memFile]bool{},
	}
	s.seen[n] = c
	if n.kind == Dir {
		names := n.durable
		if now := s.names[n]; now != nil {
			names = now
		}
		c.names, c.durable = map[string]*node{}, map[string]*node{}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			inner := s.copy(names[name])
			c.names[name], c.durable[name] = inner, inner
		}
	}
	return c
}
