package index

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/gajae-code/gjc-index/storage"
)

const (
	sumBytes     = 16       // of a SHA-256 are kept
	sumTail      = 4 << 10  // bytes before an offset that are summed
	racyWhole    = 8 << 20  // files below this size are summed whole
	racyEdge     = 64 << 10 // of others the beginning and the end
	racySumChunk = 256 << 10
)

// sumBefore is the sum of the last bytes before offset.
func sumBefore(f storage.File, offset int64) ([]byte, error) {
	n := min(offset, sumTail)
	buf := make([]byte, n)
	if _, err := f.ReadAt(buf, offset-n); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	sum := sha256.Sum256(buf)
	return sum[:sumBytes], nil
}

// sumRacy is what a racy file of that size is compared by when it is looked at
// again.
func sumRacy(f storage.File, size int64) ([]byte, error) {
	h := sha256.New()
	var err error
	if size < racyWhole {
		_, err = io.CopyBuffer(h, io.NewSectionReader(f, 0, size), make([]byte, min(size+1, racySumChunk)))
	} else {
		_, err = io.Copy(h, io.NewSectionReader(f, 0, racyEdge))
		if err == nil {
			_, err = io.Copy(h, io.NewSectionReader(f, size-racyEdge, racyEdge))
		}
	}
	return h.Sum(nil)[:sumBytes], err
}

// linesBetween counts the line ends in [from, to).
func linesBetween(f storage.File, from, to int64) (int, error) {
	n := 0
	buf := make([]byte, min(to-from, racySumChunk))
	for from < to {
		m, err := f.ReadAt(buf[:min(int64(len(buf)), to-from)], from)
		n += bytes.Count(buf[:m], []byte{'\n'})
		from += int64(m)
		if err != nil && (m == 0 || !errors.Is(err, io.EOF)) {
			return n, err
		}
	}
	return n, nil
}
