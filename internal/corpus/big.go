package corpus

import (
	"bufio"
	"math/rand/v2"
	"os"
	"time"
)

// BigSession writes one linear session of about size bytes at path, whose last
// compaction leaves about live bytes of context.
func BigSession(path, id, cwd string, size, live int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	s := &sessionWriter{
		writer: writer{rnd: rand.New(rand.NewPCG(11, 12))},
		plan:   plan{id: id, version: 5, cwd: cwd, pool: linePool(11)},
		now:    time.Date(2026, 2, 1, 8, 0, 0, 0, time.UTC),
	}
	s.header()
	var written int64
	drain := func() error {
		n, err := out.Write(s.buf)
		written += int64(n)
		s.buf = s.buf[:0]
		s.ids, s.users = s.ids[max(0, len(s.ids)-1):], s.users[max(0, len(s.users)-1):]
		return err
	}
	for written < size-live {
		s.turn()
		if err := drain(); err != nil {
			return err
		}
	}
	s.compaction()
	for start := written; written-start < live; {
		s.turn()
		if err := drain(); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Sync()
}
