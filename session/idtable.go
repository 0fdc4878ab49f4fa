package session

import (
	"hash/maphash"

	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// idTable finds nodes by their ids. It holds places alone, four bytes for each,
// since there may be millions. Of nodes with one id it knows the one that was
// put in last.
type idTable struct {
	seed  maphash.Seed
	slots []int32 // place and 1; 0 is free
	used  int
}

const firstSlots = 1 << 10 // a power of two

func newIDTable() *idTable {
	return &idTable{seed: maphash.MakeSeed(), slots: make([]int32, firstSlots)}
}

// slot is where an id is, or belongs.
func (t *idTable) slot(nodes []checkpoint.Node, id string) int {
	mask := len(t.slots) - 1
	at := int(maphash.String(t.seed, id)) & mask
	for t.slots[at] != 0 && nodes[t.slots[at]-1].ID != id {
		at = (at + 1) & mask
	}
	return at
}

// at is the place of the node with an id.
func (t *idTable) at(nodes []checkpoint.Node, id string) (place int32, ok bool) {
	n := t.slots[t.slot(nodes, id)]
	return n - 1, n != 0
}

// put notes the node at a place, which is among nodes already.
func (t *idTable) put(nodes []checkpoint.Node, place int32) {
	if t.used >= len(t.slots)/4*3 {
		old := t.slots
		t.slots = make([]int32, 2*len(old))
		for _, n := range old {
			if n != 0 {
				t.slots[t.slot(nodes, nodes[n-1].ID)] = n
			}
		}
	}
	at := t.slot(nodes, nodes[place].ID)
	if t.slots[at] == 0 {
		t.used++
	}
	t.slots[at] = place + 1
}
