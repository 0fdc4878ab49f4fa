package index

import (
	"context"
	"encoding/json"
	"path/filepath"
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

// where is f as SQL about prompts p, beginning with AND, without the times.
func (f SearchFilter) where() (string, []any) {
	var b strings.Builder
	var args []any
	if f.Cwds != nil {
		b.WriteString(` AND p.cwd IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(f.Cwds))
	}
	if f.SessionID != "" {
		b.WriteString(` AND p.session IN (SELECT key FROM sessions WHERE id = ?)`)
		args = append(args, f.SessionID)
	}
	if len(f.without) > 0 {
		b.WriteString(` AND p.file NOT IN (SELECT value FROM json_each(?))`)
		args = append(args, jsonList(f.without))
	}
	if f.Sources != nil {
		b.WriteString(` AND p.source IN (SELECT value FROM json_each(?))`)
		list := make([]int, len(f.Sources))
		for i, s := range f.Sources {
			list[i] = int(s)
		}
		args = append(args, jsonList(list))
	}
	return b.String(), args
}

// span is the rowids [low, high) that f's times allow, and what SQL must still
// check: a rowid may lie in the millisecond after its prompt's.
func (f SearchFilter) span() (low, high int64, where string, args []any) {
	low, high = promptRowid(minRowidTime, 0), promptRowid(maxRowidTime+1, 0)
	high |= 1<<rowidBits - 1
	if !f.Since.IsZero() {
		low = promptRowid(f.Since.UnixMilli(), 0)
		where += ` AND p.time_ms >= ?`
		args = append(args, ceilMilli(f.Since))
	}
	if !f.Until.IsZero() {
		high = min(high, promptRowid(min(f.Until.UnixMilli(), maxRowidTime-3)+3, 0))
		where += ` AND p.time_ms < ?`
		args = append(args, ceilMilli(f.Until))
	}
	return low, high, where, args
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

// page gathers what matches, newest first, equal texts once.
type page struct {
	limit   int // 0: none
	repeats bool
	hides   func(id int64) bool // may be nil
	sums    map[int64]int64     // Unix ms of the last one taken
	ids     []int64
}

func newPage(limit int, repeats bool) *page {
	return &page{limit: limit, repeats: repeats, sums: map[int64]int64{}}
}

func (p *page) full() bool { return p.limit > 0 && len(p.ids) >= p.limit }

// sameTyping is how far apart a transcript and history.db may note one typing.
const sameTyping = time.Minute

// add takes a prompt that matches, unless its text is there, and reports
// whether there is room for more.
func (p *page) add(id, sum int64) bool {
	at := id >> rowidBits
	last, again := p.sums[sum]
	if p.full() || again && (!p.repeats || last-at <= sameTyping.Milliseconds()) || p.hides != nil && p.hides(id) {
		return !p.full()
	}
	p.sums[sum] = at
	p.ids = append(p.ids, id)
	return !p.full()
}

// hits reads what is shown of the prompts gathered.
func (s *promptSearch) hits(ctx context.Context, dir string) ([]Hit, error) {
	hits := make([]Hit, 0, len(s.page.ids))
	for rest := s.page.ids; len(rest) > 0; {
		n := min(len(rest), 500)
		some, err := s.hitsOf(ctx, dir, rest[:n])
		if err != nil {
			return nil, err
		}
		hits, rest = append(hits, some...), rest[n:]
	}
	return hits, nil
}

func (s *promptSearch) hitsOf(ctx context.Context, dir string, ids []int64) ([]Hit, error) {
	var rows []struct {
		Source  Source  `db:"source"`
		Session *string `db:"session_id"`
		Scope   *string `db:"scope"`
		Name    *string `db:"name"`
		Entry   string  `db:"entry"`
		Line    int     `db:"line"`
		TimeMs  int64   `db:"time_ms"`
		Cwd     string  `db:"cwd"`
		Sum     int64   `db:"sum"`
		Text    string  `db:"text"`
	}
	err := sqlx.SelectContext(ctx, s.db, &rows, `
		SELECT p.source, s.id AS session_id, c.name AS scope, s.name, p.entry, p.line, p.time_ms, p.cwd, p.sum, p.text
		FROM prompts p
		LEFT JOIN sessions s ON s.key = p.session
		LEFT JOIN scopes c ON c.id = s.scope
		WHERE p.id IN (SELECT value FROM json_each(?))
		ORDER BY p.id DESC`, jsonList(ids))
	if err != nil {
		return nil, err
	}
	sums := make([]int64, len(rows))
	for i, r := range rows {
		sums[i] = r.Sum
	}
	counts := map[int64]int{}
	if !s.page.repeats {
		counts, err = s.counts(ctx, sums)
	}
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(rows))
	for i, r := range rows {
		h := Hit{
			Source: r.Source, EntryID: r.Entry, Line: r.Line, Time: time.UnixMilli(r.TimeMs).UTC(),
			Cwd: r.Cwd, Role: "user", Text: r.Text, Snippet: Snippet(r.Text, s.query.Terms), Count: max(counts[r.Sum], 1),
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
		GROUP BY p.sum, p.source`, args...)
	counts := make(map[int64]int, len(sums))
	for _, r := range rows {
		counts[r.Sum] = max(counts[r.Sum], r.N)
	}
	return counts, err
}
