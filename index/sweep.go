package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/jsonl"
)

// scan looks at all prompts left, the newest ranges first, several at once.
func (s *promptSearch) scan(ctx context.Context) error {
	marks, err := s.marks(ctx)
	if err != nil {
		return err
	}
	err = s.db.GetContext(ctx, &s.sessions, `SELECT EXISTS (SELECT 1 FROM prompts WHERE session IS NOT NULL)`)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		found []candidate
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
			if !s.page.add(f) {
				return nil
			}
		}
	}
	return nil
}

// scanRange gives what matches among the ids [low, high), the newest first. Most
// ranges hold nothing that does, so the texts are first read joined: a row costs
// more than the text in it. room is the worker's, to fold in.
func (s *promptSearch) scanRange(ctx context.Context, low, high int64, room *[]byte) ([]candidate, error) {
	args := append([]any{low, high}, s.args...)
	some, err := s.anyIn(ctx, args, room)
	if err != nil || !some {
		return nil, err
	}
	rows, err := s.db.QueryContext(ctx, `
		SELECT `+candidateColumns+` FROM prompts p`+withTexts+`
		WHERE p.id >= ? AND p.id < ?`+s.where+`
		ORDER BY p.id DESC`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []candidate
	for rows.Next() {
		c, err := scanCandidate(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for group := range slices.Chunk(list, largestGroup) {
		if err := s.readTexts(ctx, group); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(c candidate) bool {
		ok := c.text != ""
		if ok {
			ok, *room = s.query.MatchText(c.text, *room)
		}
		return !ok
	}), nil
}

// joint stands between joined texts. A text that holds it is two, which can't
// happen unseen: the texts are counted.
const joint = "\x1e\x00\x1f"

// rowsApart is how many rows of history.db that are not asked for may be read
// along with those that are, and so many for each of these.
const rowsApart = 2

// anyIn reports whether a prompt of a range may match.
func (s *promptSearch) anyIn(ctx context.Context, args []any, room *[]byte) (bool, error) {
	if s.sessions {
		some, err := s.anyOfSessions(ctx, args, room)
		if err != nil || some {
			return some, err
		}
	}
	if s.rows == nil {
		return false, nil
	}
	rows, err := s.rowsIn(ctx, args)
	if err != nil || rows.n == 0 {
		return false, err
	}
	if rows.last-rows.first >= rowsApart*rows.n+largestGroup {
		return true, nil // they lie too far from each other to be read together
	}
	some := false
	err = s.rows.Joined(ctx, rows.first, rows.last, func(n int, texts []byte) { some = s.anyOf(n, texts, room) })
	if errors.Is(err, errNoRows) {
		err = nil
	}
	return some, err
}

// rowRange says which rows of history.db a range of prompts has: their number, and
// the lowest and the highest id there.
type rowRange struct{ n, first, last int64 }

// rowsIn reads which rows of history.db a range has; those of all prompts are
// kept for later searches.
func (s *promptSearch) rowsIn(ctx context.Context, args []any) (r rowRange, err error) {
	span := [2]int64{args[0].(int64), args[1].(int64)}
	if r, ok := s.held.rowsIn(span); ok && s.where == "" {
		return r, nil
	}
	err = s.db.QueryRowContext(ctx, `
		SELECT count(*), coalesce(min(p.text_at), 0), coalesce(max(p.text_at), 0) FROM prompts p
		WHERE p.id >= ? AND p.id < ? AND p.session IS NULL`+s.where, args...).Scan(&r.n, &r.first, &r.last)
	if err == nil && s.where == "" {
		s.held.keepRows(span, r)
	}
	return r, err
}

// anyOfSessions is anyIn for the prompts of sessions.
func (s *promptSearch) anyOfSessions(ctx context.Context, args []any, room *[]byte) (some bool, err error) {
	// Bytes are handed over without one more copy.
	rows, err := s.db.QueryContext(ctx, `
		SELECT count(*), CAST(group_concat(t.text, char(30, 0, 31)) AS BLOB)
		FROM prompts p JOIN prompt_texts t ON t.key = p.text_at
		WHERE p.id >= ? AND p.id < ? AND p.session IS NOT NULL`+s.where, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var texts sql.RawBytes
		if err := rows.Scan(&n, &texts); err != nil {
			return false, err
		}
		some = s.anyOf(n, texts, room)
	}
	return some, rows.Err()
}

// anyOf reports whether one of n joined texts may match.
func (s *promptSearch) anyOf(n int, texts []byte, room *[]byte) bool {
	*room = foldBytes((*room)[:0], texts)
	return s.matchAny(*room) || bytes.Count(*room, []byte(joint)) != max(n, 1)-1
}

// matchAny reports whether one of the joined texts matches.
func (s *promptSearch) matchAny(folded []byte) bool {
	longest := s.query.Terms[0]
	for _, t := range s.query.Terms {
		if len(t) > len(longest) {
			longest = t
		}
	}
	f := jsonl.NewFinder(longest)
	for {
		i := f.Index(folded)
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
