package session

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"io"
)

// castagnoli is the polynomial that processors know.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sumBuffer is how many bytes are summed up at once.
const sumBuffer = 256 << 10

// sums adds up what is written to it, beside the writer: a SHA-256 takes as
// long as reading the records does. End gives its goroutine back.
type sums struct {
	sha  hash.Hash
	crc  uint32 // Castagnoli
	buf  []byte
	full chan []byte
	free chan []byte
	done chan struct{}
}

func newSums() *sums {
	s := &sums{sha: sha256.New(), full: make(chan []byte, 2), free: make(chan []byte, 3), done: make(chan struct{})}
	for range 2 {
		s.free <- make([]byte, 0, sumBuffer)
	}
	s.buf = make([]byte, 0, sumBuffer)
	go s.add()
	return s
}

func (s *sums) add() {
	defer close(s.done)
	table := castagnoli()
	for b := range s.full {
		_, _ = s.sha.Write(b) // a hash never fails
		s.crc = crc32.Update(s.crc, table, b)
		s.free <- b[:0]
	}
}

// Write never fails.
func (s *sums) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), cap(s.buf)-len(s.buf))
		s.buf, rest = append(s.buf, rest[:n]...), rest[n:]
		if len(s.buf) == cap(s.buf) {
			s.full <- s.buf
			s.buf = <-s.free
		}
	}
	return len(p), nil
}

// End sums up the rest; the sums hold then. Nothing may be written after it.
func (s *sums) End() {
	s.full <- s.buf
	close(s.full)
	<-s.done
}

// sha256 is the sum, hexadecimal.
func (s *sums) sha256() string { return hex.EncodeToString(s.sha.Sum(nil)) }

// firstBytes sums up the first bytes that are written to it; io.EOF says that
// these are all.
type firstBytes struct {
	h    hash.Hash
	left int64
}

func (f *firstBytes) Write(p []byte) (int, error) {
	n := min(int64(len(p)), f.left)
	_, _ = f.h.Write(p[:n]) // a hash never fails
	if f.left -= n; f.left == 0 {
		return int(n), io.EOF
	}
	return len(p), nil
}
