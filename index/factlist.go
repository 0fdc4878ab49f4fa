package index

import (
	"encoding/binary"
	"maps"
	"slices"
)

// factChunk is about how many bytes of packed facts lie in one piece.
const factChunk = 64 << 10

// factList is usage facts in the order of their entries, packed as they come: a
// huge file has so many that they would be most of the memory that its reading
// needs. The nil list is empty and can't be added to.
type factList struct {
	names map[[2]string]int
	table []byte // the names, packed
	body  [][]byte
	n     int
	seq   int  // of the last fact
	told  byte // see packTold
	// patched are what patches made of the facts of entries, by seq as facts
	// count it; nil: nothing any more.
	patched map[int]*usageFact
}

func newFactList() *factList { return &factList{names: map[[2]string]int{}} }

func (l *factList) len() int {
	if l == nil {
		return 0
	}
	return l.n + len(l.patched)
}

// add appends a fact.
func (l *factList) add(u *usageFact) {
	if u.kind == factRecord || u.kind == factOpen {
		l.told = 1
	}
	pair := [2]string{u.provider, u.model}
	name, ok := l.names[pair]
	if !ok {
		name = len(l.names)
		l.names[pair] = name
		l.table = appendText(appendText(l.table, u.provider), u.model)
	}
	last := len(l.body) - 1
	if last < 0 || len(l.body[last]) >= factChunk {
		l.body = append(l.body, nil)
		last++
	}
	l.body[last] = u.pack(l.body[last], name, l.seq)
	l.seq = u.seq
	l.n++
}

// patch replaces what the message of an entry says of usage by what its patch
// says; nil: nothing.
func (l *factList) patch(seq int, now *usageFact) {
	if l.patched == nil {
		l.patched = map[int]*usageFact{}
	}
	l.patched[seq+1] = now
}

// each calls fn for each fact, as patches have it. The fact is used again for
// the next one.
func (l *factList) each(fn func(u *usageFact)) {
	if l == nil {
		return
	}
	names := make([][2]string, len(l.names))
	for pair, n := range l.names {
		names[n] = pair
	}
	seqs := slices.Sorted(maps.Keys(l.patched))
	until := func(seq int) { // patches that give a message a fact it had not
		for len(seqs) > 0 && seqs[0] < seq {
			if now := l.patched[seqs[0]]; now != nil {
				u := *now
				fn(&u)
			}
			seqs = seqs[1:]
		}
	}
	var u usageFact
	for _, piece := range l.body {
		for r := (&packReader{b: piece}); r.left() > 0 && !r.bad; {
			u = usageFact{seq: u.seq}
			r.fact(&u, names)
			until(u.seq)
			if len(seqs) > 0 && seqs[0] == u.seq {
				until(u.seq + 1)
				continue
			}
			said := u
			fn(&said)
		}
	}
	if len(seqs) > 0 {
		until(seqs[len(seqs)-1] + 1)
	}
}

// pack is the list as it is stored; nil for none.
func (l *factList) pack() []byte {
	if l != nil && len(l.patched) > 0 {
		now := newFactList()
		l.each(now.add)
		l = now
	}
	if l == nil || l.n == 0 {
		return nil
	}
	size := packHead + 2*binary.MaxVarintLen64 + len(l.table)
	for _, piece := range l.body {
		size += len(piece)
	}
	out := append(make([]byte, 0, size), packVersion, l.told)
	out = binary.AppendUvarint(out, uint64(len(l.names)))
	out = append(out, l.table...)
	out = binary.AppendUvarint(out, uint64(l.n))
	for _, piece := range l.body {
		out = append(out, piece...)
	}
	return out
}

// weight is about how many bytes of memory the list holds.
func (l *factList) weight() int64 {
	if l == nil {
		return 0
	}
	n := int64(len(l.patched)) * 200
	for _, piece := range l.body {
		n += int64(cap(piece))
	}
	return n
}
