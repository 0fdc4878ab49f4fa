package index

import (
	"bytes"
	"context"
	"database/sql"
	"runtime"
	"sync"
	"sync/atomic"
)

// found is a prompt that matches.
type found struct{ id, sum int64 }

// scan looks at all prompts left, the newest ranges first, several at once.
func (s *promptSearch) scan(ctx context.Context) error {
	marks, err := s.marks(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		found []found
		err   error
	}
	results := make([]chan result, len(marks))
	for i := range results {
		results[i] = make(chan result, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 4, len(marks)) {
		workers.Go(func() {
			var room []byte
			for {
				i := int(next.Add(1)) - 1
				if i >= len(marks) || ctx.Err() != nil {
					return
				}
				high := s.high
				if i > 0 {
					high = marks[i-1]
				}
				found, err := s.scanRange(ctx, marks[i], high, &room)
				results[i] <- result{found, err}
			}
		})
	}
	defer workers.Wait()
	defer cancel()
	for _, c := range results {
		var r result
		select {
		case r = <-c:
		case <-ctx.Done():
			return ctx.Err()
		}
		if r.err != nil {
			return r.err
		}
		for _, f := range r.found {
			if !s.page.add(f.id, f.sum) {
				return nil
			}
		}
	}
	return nil
}

// scanRange gives what matches among the rowids [low, high), the newest first.
// Most ranges hold nothing that does, so the texts are first read joined: a
// row costs more than the text in it. room is the worker's, to fold in.
func (s *promptSearch) scanRange(ctx context.Context, low, high int64, room *[]byte) ([]found, error) {
	args := append([]any{low, high}, s.args...)
	some, err := s.anyIn(ctx, args, room)
	if err != nil || !some {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `
		SELECT p.id, p.sum, p.text FROM prompts p
		WHERE p.id >= ? AND p.id < ?`+s.where+`
		ORDER BY p.id DESC`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []found
	var folded []byte
	for rows.Next() {
		var f found
		var text sql.RawBytes
		if err := rows.Scan(&f.id, &f.sum, &text); err != nil {
			return nil, err
		}
		folded = foldBytes(folded[:0], text)
		if s.query.Match(folded) {
			list = append(list, f)
		}
	}
	return list, rows.Err()
}

// joint stands between joined texts. A text that holds it is two, which can't
// happen unseen: the texts are counted.
const joint = "\x1e\x00\x1f"

// anyIn reports whether a prompt of a range may match.
func (s *promptSearch) anyIn(ctx context.Context, args []any, room *[]byte) (bool, error) {
	// Bytes are handed over without one more copy.
	rows, err := s.db.QueryContext(ctx, `
		SELECT count(*), CAST(group_concat(p.text, char(30, 0, 31)) AS BLOB) FROM prompts p
		WHERE p.id >= ? AND p.id < ?`+s.where, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	some := false
	for rows.Next() {
		var n int
		var texts sql.RawBytes
		if err := rows.Scan(&n, &texts); err != nil {
			return false, err
		}
		folded := foldBytes((*room)[:0], texts)
		*room = folded
		some = s.matchAny(folded) || bytes.Count(folded, []byte(joint)) != max(n, 1)-1
	}
	return some, rows.Err()
}

// matchAny reports whether one of the joined texts matches.
func (s *promptSearch) matchAny(folded []byte) bool {
	longest := s.query.Terms[0]
	for _, t := range s.query.Terms {
		if len(t) > len(longest) {
			longest = t
		}
	}
	f := newFinder(longest)
	for {
		i := f.index(folded)
		if i < 0 {
			return false
		}
		start := bytes.LastIndex(folded[:i], []byte(joint)) + 1
		end := bytes.Index(folded[i:], []byte(joint))
		if end < 0 {
			end = len(folded)
		} else {
			end += i
		}
		if s.query.Match(folded[start:end]) {
			return true
		}
		folded = folded[end:]
	}
}
