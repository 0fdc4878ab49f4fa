package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/migrations"
)

// searchUnindexed answers a question about prompts without the database.
func (x *Index) searchUnindexed(ctx context.Context, r SearchRequest, hidden *hidden) (found Found, err error) {
	if r.wants(SourceSession) {
		if found, err = x.scanFiles(ctx, r, nil, hidden); err != nil {
			return found, err
		}
	}
	if r.wants(SourceHistory) && r.Session == "" && x.dir == "" {
		rows, err := x.historyHits(ctx, &r)
		if err != nil {
			return found, err
		}
		found.Hits = mergeHits(found.Hits, rows, &r)
	}
	return found, nil
}

// historyHits reads the rows of history.db that r asks for.
func (x *Index) historyHits(ctx context.Context, r *SearchRequest) (hits []Hit, err error) {
	h, err := x.openHistory(ctx)
	if err == nil {
		hits, err = x.matchingRows(ctx, h, r)
		err = errors.Join(err, h.Close())
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		x.noHistory(err)
	}
	return hits, nil
}

// historyCount is how many rows history.db has; 0 if it can't be read.
func (x *Index) historyCount(ctx context.Context) (int64, error) {
	h, err := x.openHistory(ctx)
	if err != nil {
		return 0, ctx.Err()
	}
	rows, err := h.Fingerprint(ctx)
	if err = errors.Join(err, h.Close()); err != nil {
		return 0, ctx.Err()
	}
	return int64(rows.Count), nil
}

func (x *Index) matchingRows(ctx context.Context, h *history.Store, r *SearchRequest) ([]Hit, error) {
	var hits []Hit
	var room []byte
	for row, err := range h.Rows(ctx, 0) {
		if err != nil {
			return hits, err
		}
		p := historyPrompt(&row)
		early := !r.Since.IsZero() && row.Time.Before(r.Since) || !r.Until.IsZero() && !row.Time.Before(r.Until)
		if early || r.Cwd != "" && p.Cwd != r.Cwd ||
			r.Project != "" && x.opt.Project(p.Cwd) != x.opt.Project(r.Project) {
			continue
		}
		var ok bool
		if ok, room = r.Query.MatchText(row.Text, room); !ok {
			continue
		}
		hits = append(hits, Hit{Source: SourceHistory, EntryID: strconv.FormatInt(row.ID, 10), Time: row.Time, Cwd: p.Cwd,
			Role: string(RoleUser), Text: row.Text, Snippet: Snippet(row.Text, r.Query.Terms), Count: 1})
	}
	return hits, nil
}

// mergeHits puts two answers to r together: the newest first, equal texts once
// unless r wants repeats.
func mergeHits(a, b []Hit, r *SearchRequest) []Hit {
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(a, b Hit) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	at := map[string]int{} // where the last hit of a text stands
	counts := map[Source]map[string]int{SourceSession: {}, SourceHistory: {}}
	out := all[:0]
	for _, h := range all {
		counts[h.Source][h.Text] += h.Count
		i, again := at[h.Text]
		if again && (!r.Repeats || out[i].Time.Sub(h.Time) <= sameTyping) {
			continue
		}
		at[h.Text] = len(out)
		out = append(out, h)
	}
	if r.Limit > 0 {
		out = out[:min(r.Limit, len(out))]
	}
	for i := range out {
		if h := &out[i]; !r.Repeats {
			h.Count = max(counts[SourceSession][h.Text], counts[SourceHistory][h.Text])
		}
	}
	return out
}

// Typed gives every prompt of the transcripts, the oldest first, but for those
// of subagents, which nobody typed. Prompts of files that are not in the
// database come last, and equal texts of those once. Snippets are left out; a
// prompt whose time is not known has the zero time. An error pair is the last
// one.
func (x *Index) Typed(ctx context.Context) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		p := x.unstored()
		going := true
		if p == nil || !p.all {
			err := x.retrying(ctx, func(db *migrations.DB) (err error) {
				if db == nil || x.unstored() != p { // it was damaged just now
					w, err := x.walk(ctx)
					p = &pending{walk: w, all: true}
					return err
				}
				stale, err := x.unanswered(ctx, db, p)
				if err == nil {
					going, err = x.eachTyped(ctx, db, stale, yield)
				}
				return err
			})
			if err != nil {
				yield(Hit{}, err)
				return
			}
		}
		if !going || p == nil {
			return
		}
		found, err := x.scanFiles(ctx, SearchRequest{Role: RoleUser}, p.typedNames(), nil)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		slices.Reverse(found.Hits)
		for _, h := range found.Hits {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// typedNames are the paths of the files that are not in the database and whose
// prompts somebody typed.
func (p *pending) typedNames() map[string]bool {
	names := map[string]bool{}
	for _, f := range p.files() {
		if !f.file.child() {
			names[p.walk.path(f.scope, f.file.name)] = true
		}
	}
	return names
}

// eachTyped streams the prompts of the database, but for the stale files; going is false once yield
// wants no more.
func (x *Index) eachTyped(ctx context.Context, db *migrations.DB, stale []int64, yield func(Hit, error) bool) (going bool, err error) {
	rows, err := db.QueryxContext(ctx, `
		SELECT coalesce(s.id, ''), c.name, s.name, p.entry, p.line, p.time_ms, d.cwd, t.text
		FROM prompts p JOIN sessions s ON s.key = p.session JOIN scopes c ON c.id = s.scope
		JOIN prompt_cwds d ON d.id = p.cwd JOIN prompt_texts t ON t.key = p.text_at
		WHERE s.child = 0 AND p.session NOT IN (SELECT value FROM json_each(?)) ORDER BY p.id`, jsonList(stale))
	if err != nil {
		return true, err
	}
	defer rows.Close()
	for rows.Next() {
		h := Hit{Source: SourceSession, Role: string(RoleUser), Count: 1}
		var scope, name string
		var ms int64
		if err := rows.Scan(&h.SessionID, &scope, &name, &h.EntryID, &h.Line, &ms, &h.Cwd, &h.Text); err != nil {
			return true, err
		}
		h.Path = filepath.Join(x.root(), scope, filepath.FromSlash(name))
		if ms != 0 {
			h.Time = time.UnixMilli(ms).UTC()
		}
		if !yield(h, nil) {
			return false, nil
		}
	}
	return true, rows.Err()
}
