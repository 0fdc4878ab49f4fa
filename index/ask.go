package index

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
)

// SearchRequest is a question to Search. The zero value asks for the newest
// prompts, all of them.
type SearchRequest struct {
	Query        Query
	Role         Role     // "" is RoleUser
	Cwd, Project string   // only from there; "" is anywhere
	Session      string   // only in this session, by its file's path or its id; "" is any
	Sources      []Source // of what was typed; nil: any
	Since, Until time.Time
	Limit        int // 0: all
	// Repeats gives a prompt at each place where it was typed, not once; see
	// SearchFilter. What the database doesn't hold is given once all the same.
	Repeats bool
}

// wants reports whether prompts of that source are asked for.
func (r *SearchRequest) wants(s Source) bool {
	return r.Sources == nil || slices.Contains(r.Sources, s)
}

// Found is what a search gave. Failed are files that could not be searched.
// History says why prompts of history.db are left out; "" if none are, or none
// were asked for.
type Found struct {
	Hits    []Hit
	Failed  []Failure
	History string
}

// Search finds texts by the search rule, the newest first, equal texts once.
// What was typed is answered from the database; other roles, and all of them
// where there is no database, by reading the session files that the request
// leaves.
//
// A prompt that was deleted from history is not among what was typed, though a
// transcript may still hold it, unless it was typed again afterwards. Other
// roles, RoleAny too, are what the files say.
func (x *Index) Search(ctx context.Context, r SearchRequest) (Found, error) {
	x.past.again()
	found, err := x.search(ctx, r)
	if (r.Role == "" || r.Role == RoleUser) && r.wants(SourceHistory) {
		found.History = x.lostHistory()
	}
	return found, err
}

func (x *Index) search(ctx context.Context, r SearchRequest) (Found, error) {
	if r.Role != "" && r.Role != RoleUser {
		return x.scanFiles(ctx, r, nil, nil)
	}
	r.Role = RoleUser
	hidden, err := x.hidden(ctx)
	if err != nil {
		return Found{}, err
	}
	var found Found
	noIndex := false
	err = x.retrying(ctx, func(db *migrations.DB) error {
		if noIndex = db == nil; noIndex {
			return nil
		}
		f := SearchFilter{Sources: r.Sources, SessionID: r.Session, Since: r.Since, Until: r.Until,
			Repeats: r.Repeats, hidden: hidden, rows: x.past}
		p := x.unstored()
		if p != nil && p.all {
			return nil
		}
		var err error
		if f.without, err = x.unanswered(ctx, db, p); err != nil {
			return err
		}
		if filepath.IsAbs(r.Session) {
			at, err := x.place(ctx, db, r.Session)
			if errors.Is(err, fs.ErrNotExist) && p.isStale(r.Session) {
				return nil // it is in no row yet
			}
			if err != nil {
				return err
			}
			f.SessionID = at.ID
		}
		if f.Cwds, err = x.cwdsOf(ctx, db, r); err != nil {
			return err
		}
		found.Hits, err = x.searchStored(ctx, db, &r, f)
		return err
	})
	p := x.unstored()
	switch {
	case errors.Is(err, fs.ErrNotExist) || ctx.Err() != nil:
		return found, err
	case err != nil:
		x.note("index can't be read now (" + reasonOf(err) + "): what was typed is looked for in the files")
		return x.searchUnindexed(ctx, r, hidden)
	case noIndex, p != nil && p.all:
		return x.searchUnindexed(ctx, r, hidden)
	case p != nil:
		return x.addUnstored(ctx, r, p, found, hidden)
	}
	return found, nil
}

// searchStored searches the database. Another process that writes meanwhile may
// give prompts other places, so then it is searched again.
func (x *Index) searchStored(ctx context.Context, db *migrations.DB, r *SearchRequest, f SearchFilter) (hits []Hit, err error) {
	for range maxReplans {
		if f.held, err = x.held(ctx, db); err != nil {
			return nil, err
		}
		hits, err = SearchPrompts(ctx, db.DB, x.root(), r.Query, f, r.Limit)
		if err != nil {
			return nil, err
		}
		now, err := x.held(ctx, db)
		if err != nil || now == f.held {
			return hits, err
		}
	}
	return hits, nil
}

// addUnstored adds what the database doesn't hold, from the files.
func (x *Index) addUnstored(ctx context.Context, r SearchRequest, p *pending, found Found, hidden *hidden) (Found, error) {
	if len(p.new) > 0 && r.wants(SourceSession) {
		more, err := x.scanFiles(ctx, r, p.names(), hidden)
		if err != nil {
			return found, err
		}
		found.Hits = mergeHits(found.Hits, more.Hits, &r)
		found.Failed = more.Failed
	}
	if p.history && r.wants(SourceHistory) && r.Session == "" {
		rows, err := x.historyHits(ctx, &r)
		if err != nil {
			return found, err
		}
		found.Hits = mergeHits(found.Hits, rows, &r)
	}
	return found, nil
}

// cwdsOf are the directories that a request leaves; nil is any.
func (x *Index) cwdsOf(ctx context.Context, db *migrations.DB, r SearchRequest) ([]string, error) {
	if r.Project == "" {
		if r.Cwd == "" {
			return nil, nil
		}
		return []string{r.Cwd}, nil
	}
	var all []string
	if err := db.SelectContext(ctx, &all, `SELECT cwd FROM prompt_cwds`); err != nil {
		return nil, err
	}
	in := slices.DeleteFunc(all, func(cwd string) bool {
		return x.opt.Project(cwd) != r.Project || r.Cwd != "" && r.Cwd != cwd
	})
	if in == nil {
		in = []string{}
	}
	return in, nil
}

// scanFiles searches by reading files, the last active first; only those of
// some, if that is not nil.
func (x *Index) scanFiles(ctx context.Context, r SearchRequest, some map[string]bool, hidden *hidden) (Found, error) {
	files, err := x.scanned(ctx, Filter{Cwd: r.Cwd, Project: r.Project, Since: r.Since, Children: true})
	if err != nil {
		return Found{}, err
	}
	files = slices.DeleteFunc(files, func(f ScanFile) bool {
		return r.Session != "" && r.Session != f.SessionID && r.Session != f.Path || some != nil && !some[f.Path]
	})
	role := r.Role
	if role == "" {
		role = RoleUser
	}
	opt := ScanOptions{Role: role, Since: r.Since, Until: r.Until, Limit: r.Limit, MaxLine: x.opt.MaxLine, hidden: hidden}
	hits, failures, err := Scan(ctx, x.fsys, files, r.Query, opt)
	found := Found{Hits: hits}
	for _, f := range failures {
		if errors.Is(f.Err, fs.ErrNotExist) {
			continue // it went since the walk, and its session with it
		}
		found.Failed = append(found.Failed, Failure{Path: f.Path, Reason: reasonOf(f.Err)})
	}
	return found, err
}
