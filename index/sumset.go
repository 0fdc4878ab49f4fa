package index

import "math/bits"

// sumSet is a set of sums, which are as good as random numbers: it takes a
// tenth of a map's time.
type sumSet struct {
	slots []uint64 // 0 is free
	used  int
	zero  bool // 0 is in the set
}

// newSumSet makes room for n sums.
func newSumSet(n int) *sumSet {
	size := 1024
	for size < 2*n {
		size *= 2
	}
	return &sumSet{slots: make([]uint64, size)}
}

// slot is where a sum is or would be.
func (s *sumSet) slot(sum uint64) *uint64 {
	mask := uint64(len(s.slots) - 1)
	for i := slotOf(sum) & mask; ; i = (i + 1) & mask {
		if at := &s.slots[i]; *at == 0 || *at == sum {
			return at
		}
	}
}

// warm looks at where sums are or would be. It finds nothing out: the memory of
// many places is fetched at once then, and none is waited for later.
func (s *sumSet) warm(facts []usageFact) (sink uint64) {
	mask := uint64(len(s.slots) - 1)
	for i := range facts {
		sink ^= s.slots[slotOf(facts[i].identity)&mask]
	}
	return sink
}

func slotOf(sum uint64) uint64 {
	const spread = 0x9e3779b97f4a7c15 // the low bits of a sum are not random enough
	return bits.RotateLeft64(sum*spread, 32)
}

func (s *sumSet) has(sum uint64) bool {
	if sum == 0 {
		return s.zero
	}
	return *s.slot(sum) == sum
}

// add puts a sum in and reports whether it was there.
func (s *sumSet) add(sum uint64) (had bool) {
	if sum == 0 {
		had, s.zero = s.zero, true
		return had
	}
	at := s.slot(sum)
	if *at == sum {
		return true
	}
	*at = sum
	if s.used++; 2*s.used > len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, 2*len(old))
		for _, sum := range old {
			if sum != 0 {
				*s.slot(sum) = sum
			}
		}
	}
	return false
}
