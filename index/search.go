package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/gajae-code/gjc-index/migrations"
)

// SearchPrompts finds what was typed: the texts that hold every term of q,
// within f, the newest first, equal texts once, at most limit of them (0: all).
// An empty q gives the newest. dir is the sessions directory, for the hits'
// paths. No query is an error. Source of the rule: ARCHITECTURE, "The index".
func SearchPrompts(ctx context.Context, db *sqlx.DB, dir string, q Query, f SearchFilter, limit int) ([]Hit, error) {
	s := newPromptSearch(db, q, f, limit)
	err := s.span(ctx, &f)
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("search prompts: %w", err)
	}
	hits, err := s.hits(ctx, dir)
	if err != nil {
		return nil, fmt.Errorf("read prompts found: %w", err)
	}
	return hits, nil
}

// promptSearch is one search. It goes through the prompts from the newest to
// the oldest: first those kept folded in few rows, then the others in the way
// that costs least, as far as the first ones let guess.
type promptSearch struct {
	db    *sqlx.DB
	query Query
	held  *held // nil: nothing is kept for later searches
	page  *page

	rows rowTexts

	low, high int64 // ids to look at: [low, high)
	sessions  bool  // there are prompts of sessions; set by scan
	narrow    bool  // the filter names directories or sessions
	where     string
	args      []any
	room      []byte // to fold in
}

func newPromptSearch(db *sqlx.DB, q Query, f SearchFilter, limit int) *promptSearch {
	s := &promptSearch{db: db, query: q, held: f.held, rows: f.rows, page: newPage(limit, f.Repeats, f.hidden),
		low: math.MinInt64, high: math.MaxInt64, narrow: f.Cwds != nil || f.SessionID != ""}
	s.where, s.args = f.where()
	return s
}

func (s *promptSearch) run(ctx context.Context) error {
	if s.query.Empty() {
		return s.walk(ctx)
	}
	few, err := s.few(ctx)
	if err != nil {
		return err
	}
	if few {
		return s.walk(ctx)
	}
	recent, err := s.readRecent(ctx)
	if err != nil {
		return err
	}
	if err := s.searchRecent(ctx, recent.list); err != nil || s.page.full() {
		return err
	}
	s.high = min(s.high, recent.floor)
	if s.low >= s.high {
		return nil
	}
	plan, err := s.plan(ctx, recent.list)
	switch {
	case err != nil:
		return err
	case plan.nothing:
		return nil
	case plan.match == "":
		return s.scan(ctx)
	}
	return s.searchWords(ctx, plan.match)
}

// fewEnough is how many prompts are read one by one.
const fewEnough = 2000

// few reports whether the filter leaves so few prompts that they are read.
func (s *promptSearch) few(ctx context.Context) (bool, error) {
	if !s.narrow {
		return false, nil
	}
	var n int
	args := append(append([]any{}, s.args...), fewEnough+1)
	err := s.db.GetContext(ctx, &n, `
		SELECT count(*) FROM (SELECT 1 FROM prompts p WHERE 1`+s.where+` LIMIT ?)`, args...)
	return n <= fewEnough, err
}

// walk reads the prompts within the filter, the newest first, until the page
// is full.
func (s *promptSearch) walk(ctx context.Context) error {
	args := append([]any{s.low, s.high}, s.args...)
	return s.check(ctx, `
		SELECT `+candidateColumns+` FROM prompts p`+withTexts+`
		WHERE p.id >= ? AND p.id < ?`+s.where+`
		ORDER BY p.id DESC`, args...)
}

// What check wants of prompts p.
const (
	candidateColumns = `p.id, p.session IS NULL, p.text_at, p.time_ms, p.sum, t.text`
	withTexts        = ` LEFT JOIN prompt_texts t ON p.session IS NOT NULL AND t.key = p.text_at`
)

// Candidates are looked at in groups, since the texts of history.db are asked for
// together; the first group is about as large as a page.
const firstGroup, largestGroup = 32, 500

// check runs a query that gives candidateColumns, the newest first, and takes
// those that match until the page is full.
func (s *promptSearch) check(ctx context.Context, query string, args ...any) error {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	size := firstGroup
	if s.page.limit > 0 {
		size = min(max(firstGroup, s.page.limit+s.page.limit/4), largestGroup)
	}
	group := make([]candidate, 0, size)
	for {
		more := rows.Next()
		if more {
			c, err := scanCandidate(rows)
			if err != nil {
				return err
			}
			group = append(group, c)
		}
		if more && len(group) < size {
			continue
		}
		if err := s.takeMatching(ctx, group); err != nil || s.page.full() || !more {
			return errors.Join(err, rows.Err())
		}
		group, size = group[:0], min(2*size, largestGroup)
	}
}

// scanCandidate reads candidateColumns.
func scanCandidate(rows *sql.Rows) (c candidate, err error) {
	var text sql.NullString
	err = rows.Scan(&c.id, &c.typed, &c.row, &c.time, &c.sum, &text)
	c.text = text.String
	return c, err
}

// takeMatching takes those of group that match.
func (s *promptSearch) takeMatching(ctx context.Context, group []candidate) error {
	if err := s.readTexts(ctx, group); err != nil {
		return err
	}
	for _, c := range group {
		ok := c.text != ""
		if ok && !s.query.Empty() {
			ok, s.room = s.query.MatchText(c.text, s.room)
		}
		if ok && !s.page.add(c) {
			return nil
		}
	}
	return nil
}

// readTexts reads what history.db has of group. A row that is not there any more,
// or can't be read, has no text; one that somebody has changed is what it is now.
func (s *promptSearch) readTexts(ctx context.Context, group []candidate) error {
	var ids []int64
	for i := range group {
		if group[i].typed {
			ids = append(ids, group[i].row)
		}
	}
	if len(ids) == 0 || s.rows == nil {
		return nil
	}
	texts, err := s.rows.Texts(ctx, ids)
	if err != nil && !errors.Is(err, errNoRows) {
		return err
	}
	for i := range group {
		c := &group[i]
		if !c.typed {
			continue
		}
		if c.text = texts[c.row]; c.text != "" {
			c.sum = textSum(c.text)
		}
	}
	return nil
}

// recentPrompts are the newest prompts: all from floor on, with perhaps some
// that are gone.
type recentPrompts struct {
	floor int64
	list  []recentPrompt // the newest first
}

func (s *promptSearch) readRecent(ctx context.Context) (recentPrompts, error) {
	return s.held.recentOr(func() (recentPrompts, error) { return s.loadRecent(ctx) })
}

func (s *promptSearch) loadRecent(ctx context.Context) (recentPrompts, error) {
	recent := recentPrompts{floor: math.MinInt64}
	rows, err := s.db.QueryContext(ctx, `SELECT floor, data FROM prompt_recent ORDER BY seq`)
	if err != nil {
		return recent, err
	}
	defer rows.Close()
	for rows.Next() {
		var floor int64
		var data migrations.Blob
		if err := rows.Scan(&floor, &data); err != nil {
			return recent, err
		}
		recent.floor = max(recent.floor, floor)
		recent.list = decodeRecent(recent.list, data)
	}
	recent.list = newestFirst(recent.list)
	below := slices.IndexFunc(recent.list, func(p recentPrompt) bool { return p.id < recent.floor })
	if below >= 0 {
		recent.list = recent.list[:below]
	}
	return recent, rows.Err()
}

// searchRecent takes what matches among the newest; the rows themselves decide,
// since what is kept of them may be out of date.
func (s *promptSearch) searchRecent(ctx context.Context, list []recentPrompt) error {
	var ids []int64
	for _, p := range list {
		if p.id >= s.low && p.id < s.high && (p.text == nil || s.query.Match(p.text)) {
			ids = append(ids, p.id)
		}
	}
	for n := max(32, s.page.limit+s.page.limit/4); len(ids) > 0 && !s.page.full(); n *= 2 {
		n = min(n, len(ids))
		args := append([]any{jsonList(ids[:n])}, s.args...)
		ids = ids[n:]
		err := s.check(ctx, `
			SELECT `+candidateColumns+` FROM prompts p`+withTexts+`
			WHERE p.id IN (SELECT value FROM json_each(?))`+s.where+`
			ORDER BY p.id DESC`, args...)
		if err != nil {
			return err
		}
	}
	return nil
}
