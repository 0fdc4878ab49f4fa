package index

import (
	"encoding/binary"
	"errors"
	"math"
)

// A pack is the usage facts of one file, in file order. It begins with its
// version and the names of providers and models; numbers are as short as may
// be, since a sum over all sessions reads every pack.

const (
	packVersion = 1
	packHead    = 2 // bytes: the version, and 1 if records tell more than answers
)

// packTold reports whether a pack holds records of requests, so that its facts
// must be judged together.
func packTold(pack []byte) bool { return len(pack) >= packHead && pack[1] != 0 }

// Bits of a fact's head.
const (
	packKnown = 1 << (iota + 2) // above the kind
	packWhole
	packPriced
	packTimed
	packNamed
	packOdd // a number that is no small whole one
)

var errPack = errors.New("usage pack can't be read")

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (u *usageFact) pack(b []byte, names, seq int) []byte {
	head := uint64(u.kind)
	odd := false
	for _, n := range u.tokens {
		odd = odd || n != math.Trunc(n) || n < 0 || n > 1<<53
	}
	for _, bit := range []struct {
		set bool
		bit uint64
	}{{u.known, packKnown}, {u.whole, packWhole}, {u.priced, packPriced}, {u.time.known, packTimed}, {u.name != 0, packNamed}, {odd, packOdd}} {
		if bit.set {
			head |= bit.bit
		}
	}
	b = binary.AppendUvarint(b, head)
	b = binary.AppendUvarint(b, uint64(u.seq-seq))
	b = binary.AppendUvarint(b, uint64(names))
	b = binary.LittleEndian.AppendUint64(b, u.identity)
	if u.time.known {
		b = binary.LittleEndian.AppendUint64(b, uint64(u.time.ms))
	}
	if u.name != 0 {
		b = binary.LittleEndian.AppendUint64(b, u.name)
	}
	for _, n := range u.tokens {
		if odd {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(n))
		} else {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	if u.priced {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(u.cost))
	}
	switch u.kind {
	case factRecord:
		b = binary.LittleEndian.AppendUint64(b, u.request)
	case factTotal:
		for _, n := range u.counts {
			b = binary.AppendUvarint(b, uint64(max(0, n)))
		}
	}
	return b
}

// packReader reads a pack. Once it has failed it gives zeros.
type packReader struct {
	b   []byte
	at  int
	bad bool
}

func (r *packReader) left() int { return len(r.b) - r.at }

func (r *packReader) fail() { r.bad, r.at = true, len(r.b) }

func (r *packReader) uvarint() uint64 {
	if r.at < len(r.b) && r.b[r.at] < 0x80 {
		r.at++
		return uint64(r.b[r.at-1])
	}
	return r.long()
}

// long reads a number of several bytes.
func (r *packReader) long() uint64 {
	n, size := binary.Uvarint(r.b[r.at:])
	if size <= 0 {
		r.fail()
		return 0
	}
	r.at += size
	return n
}

func (r *packReader) fixed() uint64 {
	if r.left() < 8 {
		r.fail()
		return 0
	}
	r.at += 8
	return binary.LittleEndian.Uint64(r.b[r.at-8:])
}

func (r *packReader) text() []byte {
	n := r.uvarint()
	if n > uint64(r.left()) {
		r.fail()
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// eachFact calls fn for each fact of a pack. The fact is used again for the
// next one.
func eachFact(pack []byte, intern func([]byte) string, fn func(u *usageFact)) error {
	if len(pack) == 0 {
		return nil
	}
	if len(pack) < packHead || pack[0] != packVersion {
		return errPack
	}
	r := &packReader{b: pack[packHead:]}
	n := r.uvarint()
	if n > uint64(r.left()) {
		return errPack
	}
	names := make([][2]string, n)
	for i := range names {
		names[i] = [2]string{intern(r.text()), intern(r.text())}
	}
	var u usageFact
	for range r.uvarint() {
		u = usageFact{seq: u.seq}
		r.fact(&u, names)
		if r.bad {
			return errPack
		}
		fn(&u)
	}
	if r.bad || r.left() > 0 {
		return errPack
	}
	return nil
}

func (r *packReader) fact(u *usageFact, names [][2]string) {
	head := r.uvarint()
	u.kind = factKind(head & 3)
	u.known, u.whole, u.priced = head&packKnown != 0, head&packWhole != 0, head&packPriced != 0
	u.seq += int(r.uvarint())
	if n := r.uvarint(); n < uint64(len(names)) {
		u.provider, u.model = names[n][0], names[n][1]
	} else {
		r.bad = true
	}
	u.identity = r.fixed()
	if head&packTimed != 0 {
		u.time = millis{int64(r.fixed()), true}
	}
	if head&packNamed != 0 {
		u.name = r.fixed()
	}
	for i := range u.tokens {
		if head&packOdd != 0 {
			u.tokens[i] = math.Float64frombits(r.fixed())
		} else {
			u.tokens[i] = float64(r.uvarint())
		}
	}
	if u.priced {
		u.cost = math.Float64frombits(r.fixed())
	}
	switch u.kind {
	case factRecord:
		u.request = r.fixed()
	case factTotal:
		for i := range u.counts {
			u.counts[i] = int64(r.uvarint())
		}
	}
}

// sameText is for readers of a pack that need not make equal names one string.
func sameText(s []byte) string { return string(s) }
