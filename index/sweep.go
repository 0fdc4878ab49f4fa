package index

import (
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
			for {
				i := int(next.Add(1)) - 1
				if i >= len(marks) || ctx.Err() != nil {
					return
				}
				high := s.high
				if i > 0 {
					high = marks[i-1]
				}
				found, err := s.scanRange(ctx, marks[i], high)
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
func (s *promptSearch) scanRange(ctx context.Context, low, high int64) ([]found, error) {
	args := append([]any{low, high}, s.args...)
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
