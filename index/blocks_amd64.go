package index

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// hasBlocks says that the processor can look at 32 bytes at once.
var hasBlocks = cpu.X86.HasAVX2

// strangeBlocks is how many of the first n bytes, in blocks of 64, have none of
// the bits of high and no \u that begins there. The byte after a block is read.
//
//go:noescape
func strangeBlocks(data *byte, n int, high byte) int

// tripleBlocks is how many of the first n bytes, in blocks of 64, are not where
// three begin that with the bits of set are want. Two bytes after a block are
// read.
//
//go:noescape
func tripleBlocks(data *byte, n int, set, want *[3]uint64) int

// passStrange passes over blocks in which nextStrange finds nothing.
func passStrange(data []byte, pos int, high uint64) int {
	if !hasBlocks || len(data)-pos < 65 {
		return pos
	}
	return pos + strangeBlocks(unsafe.SliceData(data[pos:]), len(data)-pos, byte(high))
}

// passTriple passes over blocks in which the three do not begin.
func (p *prefilter) passTriple(data []byte, pos int) int {
	if !hasBlocks || len(data)-pos < 66 {
		return pos
	}
	return pos + tripleBlocks(unsafe.SliceData(data[pos:]), len(data)-pos, &p.set, &p.want)
}
