package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
)

// SearchFilter narrows a search of prompts. The zero SearchFilter is all.
type SearchFilter struct {
	Cwds      []string // typed in one of these directories; nil: any
	SessionID string   // in sessions of this id only
	Sources   []Source // nil: any
	Since     time.Time
	Until     time.Time // before this time
	// Repeats gives a text at each place where it was typed, not once; what is
	// at most a minute apart is one typing, noted by two witnesses.
	Repeats bool

	without []int64 // not what these files hold
	hidden  *hidden // places that are not shown; nil: none
	held    *held   // what earlier searches have read; nil: nothing
	rows    rowTexts
}

// Hit is one text found, at the newest place it was typed.
type Hit struct {
	Source    Source
	SessionID string
	Path      string // of the session file; "" for a row of history.db
	EntryID   string // for a row of history.db its id
	Line      int    // from 1; 0 where there is none
	Time      time.Time
	Cwd       string
	Role      string
	Text      string // whole
	Snippet   string // one line of it, see Snippet
	// Count is how often the text was typed: its places within the filter,
	// in sessions or in history.db, whichever has more, since both keep what
	// was typed once.
	Count int
}

// where is f as SQL about prompts p, beginning with AND.
func (f SearchFilter) where() (string, []any) {
	var b strings.Builder
	var args []any
	if f.Cwds != nil {
		b.WriteString(` AND p.cwd IN (SELECT id FROM prompt_cwds WHERE cwd IN (SELECT value FROM json_each(?)))`)
		args = append(args, jsonList(f.Cwds))
	}
	if f.SessionID != "" {
		b.WriteString(` AND p.session IN (SELECT key FROM sessions WHERE id = ?)`)
		args = append(args, f.SessionID)
	}
	if len(f.without) > 0 {
		b.WriteString(` AND coalesce(p.session, 0) NOT IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(f.without))
	}
	if f.Sources != nil {
		sessions, rows := slices.Contains(f.Sources, SourceSession), slices.Contains(f.Sources, SourceHistory)
		switch {
		case !sessions && !rows:
			b.WriteString(` AND 0`)
		case !rows:
			b.WriteString(` AND p.session IS NOT NULL`)
		case !sessions:
			b.WriteString(` AND p.session IS NULL`)
		}
	}
	if !f.Since.IsZero() {
		b.WriteString(` AND p.time_ms >= ?`)
		args = append(args, ceilMilli(f.Since))
	}
	if !f.Until.IsZero() {
		b.WriteString(` AND p.time_ms < ?`)
		args = append(args, ceilMilli(f.Until))
	}
	return b.String(), args
}

// span is the ids [low, high) that f's times leave.
func (s *promptSearch) span(ctx context.Context, f *SearchFilter) (err error) {
	s.low, s.high = math.MinInt64, math.MaxInt64
	if !f.Since.IsZero() {
		if s.low, err = s.firstAt(ctx, ceilMilli(f.Since)); err != nil {
			return err
		}
	}
	if !f.Until.IsZero() {
		s.high, err = s.firstAt(ctx, ceilMilli(f.Until))
	}
	return err
}

// firstAt is the id of the first prompt of that time or later, in Unix ms; the
// highest number if there is none. Ids ascend with time.
func (s *promptSearch) firstAt(ctx context.Context, ms int64) (int64, error) {
	var low, high sql.NullInt64
	if err := s.db.QueryRowContext(ctx, `SELECT min(id), max(id) FROM prompts`).Scan(&low, &high); err != nil || !low.Valid {
		return math.MaxInt64, err
	}
	first := int64(math.MaxInt64)
	for from, to := low.Int64, high.Int64; from <= to; {
		middle := from + (to-from)/2
		var id, at int64
		err := s.db.QueryRowContext(ctx, `SELECT id, time_ms FROM prompts WHERE id >= ? ORDER BY id LIMIT 1`, middle).Scan(&id, &at)
		switch {
		case errors.Is(err, sql.ErrNoRows): // it went just now
			to = middle - 1
		case err != nil:
			return 0, err
		case at >= ms:
			first, to = id, middle-1
		default:
			from = id + 1
		}
	}
	return first, nil
}

// ceilMilli is the first whole millisecond not before t.
func ceilMilli(t time.Time) int64 {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++
	}
	return ms
}

// jsonList is a list as one SQL parameter, for json_each. Strings that JSON
// can't hold name nothing that could be found.
func jsonList[T any](list []T) string {
	b, err := json.Marshal(list)
	if err != nil {
		return "[]"
	}
	return string(b)
}

// candidate is a prompt that may match.
type candidate struct {
	id    int64
	typed bool  // a row of history.db, else a prompt of a session
	row   int64 // its id there
	time  int64 // Unix ms
	sum   int64
	text  string
}

// page gathers what matches, newest first, equal texts once.
type page struct {
	limit   int // 0: none
	repeats bool
	hidden  *hidden
	times   map[int64]int64 // Unix ms of the last one taken, by sum
	taken   []candidate
}

func newPage(limit int, repeats bool, hidden *hidden) *page {
	return &page{limit: limit, repeats: repeats, hidden: hidden, times: map[int64]int64{}}
}

func (p *page) full() bool { return p.limit > 0 && len(p.taken) >= p.limit }

// sameTyping is how far apart a transcript and history.db may note one typing.
const sameTyping = time.Minute

// add takes a prompt that matches, unless its text is there, and reports
// whether there is room for more.
func (p *page) add(c candidate) bool {
	last, again := p.times[c.sum]
	if p.full() || again && (!p.repeats || last-c.time <= sameTyping.Milliseconds()) ||
		!c.typed && p.hidden.hides(c.text, c.time) {
		return !p.full()
	}
	p.times[c.sum] = c.time
	p.taken = append(p.taken, c)
	return !p.full()
}

// hits reads what is shown of the prompts gathered.
func (s *promptSearch) hits(ctx context.Context, dir string) ([]Hit, error) {
	hits := make([]Hit, 0, len(s.page.taken))
	for some := range slices.Chunk(s.page.taken, 500) {
		more, err := s.hitsOf(ctx, dir, some)
		if err != nil {
			return nil, err
		}
		hits = append(hits, more...)
	}
	return hits, nil
}

func (s *promptSearch) hitsOf(ctx context.Context, dir string, some []candidate) ([]Hit, error) {
	var rows []struct {
		ID      int64   `db:"id"`
		Session *string `db:"session_id"`
		Scope   *string `db:"scope"`
		Name    *string `db:"name"`
		Entry   string  `db:"entry"`
		Line    int     `db:"line"`
		Cwd     string  `db:"cwd"`
	}
	ids, sums := make([]int64, len(some)), make([]int64, len(some))
	at := make(map[int64]*candidate, len(some))
	for i := range some {
		ids[i], sums[i] = some[i].id, some[i].sum
		at[some[i].id] = &some[i]
	}
	err := sqlx.SelectContext(ctx, s.db, &rows, `
		SELECT p.id, s.id AS session_id, c.name AS scope, s.name, coalesce(p.entry, '') AS entry, coalesce(p.line, 0) AS line, d.cwd
		FROM prompts p
		JOIN prompt_cwds d ON d.id = p.cwd
		LEFT JOIN sessions s ON s.key = p.session
		LEFT JOIN scopes c ON c.id = s.scope
		WHERE p.id IN (SELECT value FROM json_each(?))
		ORDER BY p.id DESC`, jsonList(ids))
	if err != nil {
		return nil, err
	}
	counts := map[int64]int{}
	if !s.page.repeats {
		if counts, err = s.counts(ctx, sums); err != nil {
			return nil, err
		}
	}
	hits := make([]Hit, len(rows))
	for i, r := range rows {
		p := at[r.ID]
		h := Hit{
			EntryID: r.Entry, Line: r.Line, Time: time.UnixMilli(p.time).UTC(),
			Cwd: r.Cwd, Role: "user", Text: p.text, Snippet: Snippet(p.text, s.query.Terms), Count: max(counts[p.sum], 1),
		}
		if p.typed {
			h.Source, h.EntryID = SourceHistory, strconv.FormatInt(p.row, 10)
		}
		if r.Session != nil {
			h.SessionID = *r.Session
		}
		if r.Scope != nil && r.Name != nil {
			h.Path = filepath.Join(dir, *r.Scope, filepath.FromSlash(*r.Name))
		}
		hits[i] = h
	}
	return hits, nil
}

// counts says how often each text is there within the filter.
func (s *promptSearch) counts(ctx context.Context, sums []int64) (map[int64]int, error) {
	var rows []struct {
		Sum int64 `db:"sum"`
		N   int   `db:"n"`
	}
	args := append([]any{jsonList(sums)}, s.args...)
	err := sqlx.SelectContext(ctx, s.db, &rows, `
		SELECT p.sum, count(*) AS n FROM prompts p
		WHERE p.sum IN (SELECT value FROM json_each(?))`+s.where+`
		GROUP BY p.sum, p.session IS NULL`, args...)
	counts := make(map[int64]int, len(sums))
	for _, r := range rows {
		counts[r.Sum] = max(counts[r.Sum], r.N)
	}
	return counts, err
}
