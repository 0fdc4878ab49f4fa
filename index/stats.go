package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
)

// StatsFilter selects what Stats counts. The zero StatsFilter is everything,
// in UTC.
type StatsFilter struct {
	Project string         // of the sessions of this project
	Since   time.Time      // from this time on
	Zone    *time.Location // in which hours and days are told; nil is UTC
}

// Stats is how much was asked when and where, and what answered. Prompts are
// those of sessions, not of subagents; one that several sessions hold, since
// one was forked from another, counts once; one whose time can't be read, or
// lies more than a day after now, does not. Models and tools are those of
// subagents too.
type Stats struct {
	Prompts  int
	Sessions int         // in which something was asked
	Hours    [7][24]int  // prompts by day of the week, Monday first, and hour
	Days     []CountOf   // prompts by day as 2006-01-02, in order; days without are left out
	Projects []ProjectOf // by prompts, the most first
	Models   []UsageRow  // as Usage gives them by model
	Tools    []CountOf   // results by the tool's name, the most first
	Failed   []Failure   // files whose tools could not be counted
}

// CountOf is a name and how often it was met.
type CountOf struct {
	Name  string
	Count int
}

// ProjectOf is a project and what was asked in it.
type ProjectOf struct {
	Project           string // its directory; "" for sessions without one
	Prompts, Sessions int
}

// Stats counts prompts, models and tools, as of the last Refresh.
func (x *Index) Stats(ctx context.Context, f StatsFilter) (Stats, error) {
	s := &statsCount{x: x, filter: f, zone: f.Zone, seen: map[askedOnce]bool{}, days: map[string]int{}, projects: map[string]*ProjectOf{}}
	if s.zone == nil {
		s.zone = time.UTC
	}
	err := x.retrying(ctx, func(db *migrations.DB) error { return s.prompts(ctx, db) })
	if err != nil {
		return Stats{}, fmt.Errorf("count prompts: %w", inWords(err))
	}
	out := s.sum()
	if out.Models, err = x.Usage(ctx, UsageFilter{By: UsageModel, Since: f.Since, Project: f.Project}); err != nil {
		return Stats{}, err
	}
	if out.Tools, out.Failed, err = x.toolCounts(ctx, f); err != nil {
		return Stats{}, fmt.Errorf("count tools: %w", inWords(err))
	}
	return out, nil
}

// askedOnce tells a prompt from all others, in whichever session it stands.
type askedOnce struct{ ms, sum int64 }

// statsCount counts prompts.
type statsCount struct {
	x        *Index
	filter   StatsFilter
	zone     *time.Location
	seen     map[askedOnce]bool
	stats    Stats
	days     map[string]int
	projects map[string]*ProjectOf
}

// askedRow is a prompt as it is counted.
type askedRow struct {
	ms, sum int64
	session string // tells sessions apart
	cwd     string
}

func (s *statsCount) prompts(ctx context.Context, db *migrations.DB) error {
	rows, err := s.stored(ctx, db)
	if err != nil {
		return err
	}
	err = s.x.eachUnstored(ctx, db, func(path string, r *reading) {
		if s.x.isChild(path) {
			return
		}
		for _, p := range r.prompts {
			if p.time.known {
				rows = append(rows, askedRow{p.time.ms, textSum(p.text), path, r.cwd})
			}
		}
	})
	if err != nil {
		return err
	}
	s.add(rows)
	return nil
}

// stored are the prompts of the database.
func (s *statsCount) stored(ctx context.Context, db *migrations.DB) ([]askedRow, error) {
	p := s.x.unstored()
	if db == nil || p != nil && p.all {
		return nil, nil
	}
	without, err := s.x.unanswered(ctx, db, p)
	if err != nil {
		return nil, err
	}
	since := int64(-1 << 62)
	if !s.filter.Since.IsZero() {
		since = s.filter.Since.UnixMilli()
	}
	found, err := db.QueryContext(ctx, `
		SELECT p.time_ms, p.sum, p.session, coalesce(s.cwd, '')
		FROM prompts p JOIN sessions s ON s.key = p.session
		WHERE s.child = 0 AND p.time_ms >= ? AND p.session NOT IN (SELECT value FROM json_each(?))`,
		since, jsonList(without))
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	var rows []askedRow
	for found.Next() {
		var r askedRow
		if err := found.Scan(&r.ms, &r.sum, &r.session, &r.cwd); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, found.Err()
}

// isChild reports a session file in another session's own directory.
func (x *Index) isChild(path string) bool {
	_, name, err := x.locate(path)
	return err == nil && strings.Contains(name, "/")
}

// add counts prompts, each once.
func (s *statsCount) add(rows []askedRow) {
	s.stats, s.days, s.projects = Stats{}, map[string]int{}, map[string]*ProjectOf{}
	clear(s.seen)
	sessions := map[string]bool{}
	latest := s.x.opt.Now().Add(futureAfter).UnixMilli()
	for _, r := range rows {
		if r.ms == 0 || r.ms > latest || !s.filter.Since.IsZero() && r.ms < s.filter.Since.UnixMilli() {
			continue
		}
		project := ""
		if r.cwd != "" {
			project = s.x.opt.Project(r.cwd)
		}
		if s.filter.Project != "" && project != s.filter.Project {
			continue
		}
		in := s.projects[project]
		if in == nil {
			in = &ProjectOf{Project: project}
			s.projects[project] = in
		}
		if !sessions[r.session] {
			sessions[r.session] = true
			in.Sessions++
			s.stats.Sessions++
		}
		once := askedOnce{r.ms, r.sum}
		if s.seen[once] {
			continue
		}
		s.seen[once] = true
		in.Prompts++
		at := time.UnixMilli(r.ms).In(s.zone)
		s.stats.Prompts++
		s.stats.Hours[(int(at.Weekday())+6)%7][at.Hour()]++
		s.days[at.Format(time.DateOnly)]++
	}
}

// sum is what was counted, in order.
func (s *statsCount) sum() Stats {
	out := s.stats
	for day, n := range s.days {
		out.Days = append(out.Days, CountOf{day, n})
	}
	slices.SortFunc(out.Days, func(a, b CountOf) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range s.projects {
		out.Projects = append(out.Projects, *p)
	}
	slices.SortFunc(out.Projects, func(a, b ProjectOf) int {
		return cmp.Or(cmp.Compare(b.Prompts, a.Prompts), strings.Compare(a.Project, b.Project))
	})
	return out
}
