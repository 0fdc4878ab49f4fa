package index

import "encoding/binary"

// nextTriple is nextPivot for a pivot of three bytes.
func (p *prefilter) nextTriple(data []byte, pos int) int {
	for {
		pos = p.skipNone(data, pos)
		end := min(pos+32, len(data)-2)
		for ; pos < end; pos++ {
			if data[pos]|byte(p.set[0]) == byte(p.want[0]) && data[pos+1]|byte(p.set[1]) == byte(p.want[1]) &&
				data[pos+2]|byte(p.set[2]) == byte(p.want[2]) &&
				p.mayFollow(data, pos+3, p.pivot+3) && p.mayPrecede(data, pos, p.pivot) {
				return pos
			}
		}
		if pos >= len(data)-2 {
			return none
		}
	}
}

// skipNone passes over 16 bytes at a time in which the three do not begin.
func (p *prefilter) skipNone(data []byte, pos int) int {
	set0, set1, set2 := p.set[0], p.set[1], p.set[2]
	want0, want1, want2 := p.want[0], p.want[1], p.want[2]
	for pos = p.passTriple(data, pos); pos+18 <= len(data); pos += 16 {
		b := data[pos : pos+18 : pos+18]
		// A byte of these is 0 where the three begin.
		v := ((binary.LittleEndian.Uint64(b) | set0) ^ want0) | ((binary.LittleEndian.Uint64(b[1:]) | set1) ^ want1) |
			((binary.LittleEndian.Uint64(b[2:]) | set2) ^ want2)
		w := ((binary.LittleEndian.Uint64(b[8:]) | set0) ^ want0) | ((binary.LittleEndian.Uint64(b[9:]) | set1) ^ want1) |
			((binary.LittleEndian.Uint64(b[10:]) | set2) ^ want2)
		if ((v-eachByte)&^v|(w-eachByte)&^w)&highBits != 0 {
			break
		}
	}
	return pos
}
