package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/jmoiron/sqlx"
)

const (
	// columns of a row; the casts hold back odd values that others stored.
	columns = `h.id, CAST(h.prompt AS TEXT), h.cwd, CAST(h.created_at AS INTEGER)`
	newest  = ` ORDER BY h.created_at DESC, h.id DESC LIMIT ?`

	maxTerms       = 200    // in one expression; SQLite's depth is limited
	maxPatternSize = 49_000 // bytes of a LIKE pattern; SQLite's limit is 50,000
)

// Recent gives the last prompts, newest first.
func (s *Store) Recent(ctx context.Context, q Query) ([]Prompt, error) {
	limit := Limit(float64(q.Limit))
	if limit == 0 || !s.have.has("history") {
		return nil, nil
	}
	query, args := `SELECT `+columns+` FROM history h`, []any(nil)
	if q.Cwd != nil {
		query, args = query+` WHERE h.cwd = ?`, append(args, *q.Cwd)
	}
	found, err := s.prompts(ctx, query+newest, append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("read recent prompts: %w", plain(err))
	}
	return found, nil
}

// Search finds prompts as the original does: q.Text is cut into words of
// letters and digits; first come prompts that have words beginning with each of
// them, then, if room is left, prompts that merely contain each; both newest
// first. Text without a word finds nothing. No text is an error.
func (s *Store) Search(ctx context.Context, q Query) ([]Prompt, error) {
	limit := Limit(float64(q.Limit))
	words := wordsOf(q.Text)
	if limit == 0 || len(words) == 0 || !s.have.has("history") {
		return nil, nil
	}
	found, err := s.byIndex(ctx, words, q.Cwd, limit)
	if err != nil {
		return nil, fmt.Errorf("search history: %w", plain(err))
	}
	if len(found) == limit {
		return found, nil
	}
	more, err := s.byText(ctx, words, q.Cwd, limit)
	if err != nil {
		return nil, fmt.Errorf("search history: %w", plain(err))
	}
	seen := make(map[int64]bool, len(found))
	for _, p := range found {
		seen[p.ID] = true
	}
	for _, p := range more {
		if len(found) < limit && !seen[p.ID] {
			found = append(found, p)
		}
	}
	return found, nil
}

// byIndex asks the full-text table. If that turns out to be damaged it is
// rebuilt and asked again; where it can't be, byText has to do.
func (s *Store) byIndex(ctx context.Context, words []string, cwd *string, limit int) ([]Prompt, error) {
	if !s.have.has("history_fts") {
		return nil, nil
	}
	query := `SELECT ` + columns + ` FROM history_fts f JOIN history h ON h.id = f.rowid WHERE history_fts MATCH ?`
	var args []any
	for chunk := range slices.Chunk(words, maxTerms) {
		if len(args) > 0 {
			query += ` AND h.id IN (SELECT rowid FROM history_fts WHERE history_fts MATCH ?)`
		}
		args = append(args, `"`+strings.Join(chunk, `"* "`)+`"*`)
	}
	if cwd != nil {
		query, args = query+` AND h.cwd = ?`, append(args, *cwd)
	}
	args = append(args, limit)
	found, err := s.prompts(ctx, query+newest, args...)
	if !migrations.Damaged(err) {
		return found, err
	}
	if s.Rebuild(ctx) != nil {
		return nil, nil
	}
	return s.prompts(ctx, query+newest, args...)
}

// byText reads through the prompts themselves. LIKE ignores case in ASCII only,
// as it does in the original.
func (s *Store) byText(ctx context.Context, words []string, cwd *string, limit int) ([]Prompt, error) {
	query, args := `SELECT `+columns+` FROM history h WHERE 1`, []any(nil)
	if cwd != nil {
		query, args = query+` AND h.cwd = ?`, append(args, *cwd)
	}
	// Words hold neither % nor _ nor \, so nothing has to be escaped. What is
	// too much for SQLite is looked at here.
	var rest []string
	for i, w := range words {
		if i >= maxTerms || len(w) > maxPatternSize {
			rest = append(rest, lowerASCII(w))
			continue
		}
		query, args = query+` AND h.prompt LIKE ? ESCAPE '\' COLLATE NOCASE`, append(args, "%"+w+"%")
	}
	if len(rest) == 0 {
		return s.prompts(ctx, query+newest, append(args, limit)...)
	}
	var found []Prompt
	for p, err := range s.each(ctx, query+newest, append(args, -1)...) {
		if err != nil {
			return nil, err
		}
		text := lowerASCII(p.Text)
		if slices.ContainsFunc(rest, func(w string) bool { return !strings.Contains(text, w) }) {
			continue
		}
		if found = append(found, p); len(found) == limit {
			break
		}
	}
	return found, nil
}

// prompts collects what query gives.
func (s *Store) prompts(ctx context.Context, query string, args ...any) ([]Prompt, error) {
	var all []Prompt
	for p, err := range s.each(ctx, query, args...) {
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// scanPrompt reads the columns of one row.
func scanPrompt(rows *sqlx.Rows) (Prompt, error) {
	var p Prompt
	var seconds int64
	if err := rows.Scan(&p.ID, &p.Text, &p.Cwd, &seconds); err != nil {
		return p, err
	}
	p.Time = time.Unix(seconds, 0).UTC()
	return p, nil
}

// wordsOf cuts the lower-cased text at everything that is neither a letter nor
// a number, and leaves repeats out: asking twice changes nothing.
func wordsOf(text string) []string {
	fields := strings.FieldsFunc(lower(text), func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
	seen := make(map[string]bool, len(fields))
	return slices.DeleteFunc(fields, func(w string) bool {
		again := seen[w]
		seen[w] = true
		return again
	})
}
