package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// UsageBy says how usage is grouped.
type UsageBy string

// The groups of usage. UsageTotal is one row for all.
const (
	UsageTotal    UsageBy = ""
	UsageDay      UsageBy = "day"
	UsageModel    UsageBy = "model"
	UsageProvider UsageBy = "provider"
	UsageProject  UsageBy = "project"
	UsageSession  UsageBy = "session"
)

// UsageFilter selects requests and says how they are summed up.
type UsageFilter struct {
	By      UsageBy
	Since   time.Time      // from this time on; a request without a time is left out then
	Zone    *time.Location // in which days begin; nil is UTC
	Path    string         // of this session file alone; "" is all
	Project string         // of the sessions of this project alone; "" is all
}

// UsageRow is the sum of one group.
type UsageRow struct {
	// Key names the group: a day as 2006-01-02, a model, a provider, the
	// directory of a project, the id of a session. A day is "" where the time
	// can't be read.
	Key  string
	Path string // of a session
	checkpoint.Sum
}

// Usage sums up what requests have used, as of the last Refresh. Forks, copies
// and imports hold the same answers: each is counted once, for the oldest
// session that holds it. What an unfinished request is known to have used
// counts, and makes the sum incomplete; a price that is not known makes none.
//
// Days come in their order, other groups by their cost, the highest first.
func (x *Index) Usage(ctx context.Context, f UsageFilter) ([]UsageRow, error) {
	var s *usageSum
	err := x.retrying(ctx, func(db *migrations.DB) error {
		packs, err := x.packs(ctx, db)
		if err != nil {
			return err
		}
		s = x.newUsageSum(f)
		return s.all(ctx, packs)
	})
	if err != nil {
		return nil, fmt.Errorf("sum up usage: %w", err)
	}
	return s.rows(), nil
}

// packs are those of the database, and for what it doesn't hold of the files.
func (x *Index) packs(ctx context.Context, db *migrations.DB) ([]sessionPack, error) {
	hidden, err := x.hiddenSources(ctx, db)
	if err != nil {
		return nil, err
	}
	p := x.unstored()
	var packs []sessionPack
	if db != nil && (p == nil || !p.all) {
		packs, err = x.storedPacks(ctx, db)
		if p != nil {
			packs = slices.DeleteFunc(packs, func(s sessionPack) bool { return p.isStale(x.fileAt(s.scope, s.name)) })
		}
	} else {
		p = &pending{all: true}
		p.walk, err = x.walk(ctx)
	}
	if err == nil && p.sessions() {
		var more []sessionPack
		more, err = x.filePacks(ctx, p)
		packs = append(packs, more...)
	}
	return withoutSources(packs, hidden, x.fileAt), err
}

// withoutSources leaves out the packs of files whose copies are among them.
func withoutSources(packs []sessionPack, hidden sources, at func(scope, name string) string) []sessionPack {
	if len(hidden) == 0 {
		return packs
	}
	ids := map[[2]string]string{}
	for i := range packs {
		ids[[2]string{packs[i].scope, packs[i].name}] = packs[i].id
	}
	return slices.DeleteFunc(packs, func(s sessionPack) bool {
		m, ok := hidden[at(s.scope, s.name)]
		return ok && (m.To == [2]string{} || ids[m.To] == m.ID)
	})
}

// sessionPack is the usage of one session file.
type sessionPack struct {
	scope, name string
	id, cwd     string
	created     millis
	pack        []byte
}

// filePacks reads the usage of the files that are not in the database.
func (x *Index) filePacks(ctx context.Context, p *pending) ([]sessionPack, error) {
	var all []sessionPack
	files := p.files()
	jobs := make([]job, len(files))
	for i, f := range files {
		jobs[i] = job{why: isNew, scope: i, file: f.file, path: p.walk.path(f.scope, f.file.name)}
	}
	err := x.pipe(ctx, nil, jobs, func(o *outcome) error {
		if o.reading == nil || o.reading.state != StateOK {
			return nil
		}
		p := sessionPack{scope: files[o.scope].scope, name: o.file.name, id: o.reading.id, cwd: o.reading.cwd,
			created: o.reading.created, pack: o.reading.spent.pack()}
		if p.pack != nil {
			all = append(all, p)
		}
		return nil
	})
	return all, err
}

// fileAt is the path of a file by its scope and its name there.
func (x *Index) fileAt(scope, name string) string {
	return filepath.Join(x.root(), scope, filepath.FromSlash(name))
}

// older orders sessions by age; what has no time comes last.
func (p *sessionPack) older(q *sessionPack) int {
	if p.created.known != q.created.known {
		if p.created.known {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(p.created.ms, q.created.ms), cmp.Compare(p.id, q.id),
		cmp.Compare(p.scope, q.scope), cmp.Compare(p.name, q.name))
}

// amount is a sum being made. Cost is in whole units of 1e-12, so that the
// order in which prices are added makes no difference.
type amount struct {
	tokens [5]float64
	cost   float64
	priced bool
	counts [3]int64 // requests, incomplete, unpriced
	path   string
}

const costUnit = 1e12

func (a *amount) sum() checkpoint.Sum {
	s := checkpoint.Sum{Input: a.tokens[0], Output: a.tokens[1], CacheRead: a.tokens[2], CacheWrite: a.tokens[3], Premium: a.tokens[4],
		Requests: a.counts[0], Incomplete: a.counts[1], Unpriced: a.counts[2]}
	if a.priced {
		cost := a.cost / costUnit
		s.Cost = &cost
	}
	return s
}

// usageSum sums up sessions, the oldest first.
type usageSum struct {
	x      *Index
	filter UsageFilter
	zone   *time.Location
	since  int64 // Unix ms
	seen   *sumSet
	warmth uint64 // of no meaning
	groups map[string]*amount
	days   map[int64]string // by quarter of an hour
	at     *sessionPack
	group  string // of the session, if that names the group
	only   bool   // the session is summed up
	last   *amount
	lastOf string
	dayAt  int64  // the quarter of an hour that was asked for last
	dayIs  string // its day
}

func (x *Index) newUsageSum(f UsageFilter) *usageSum {
	s := &usageSum{x: x, filter: f, zone: f.Zone, since: math.MinInt64,
		groups: map[string]*amount{}, days: map[int64]string{}}
	if s.zone == nil {
		s.zone = time.UTC
	}
	if !f.Since.IsZero() {
		s.since = f.Since.UnixMilli()
	}
	return s
}

// begin says whose facts come next.
func (s *usageSum) begin(p *sessionPack) {
	s.at, s.only = p, true
	if s.filter.Path != "" {
		s.only = s.x.fileAt(p.scope, p.name) == s.filter.Path
	}
	if s.filter.Project != "" {
		s.only = s.only && p.cwd != "" && s.x.opt.Project(p.cwd) == s.filter.Project
	}
	switch s.filter.By {
	case UsageSession:
		s.group = p.id
	case UsageProject:
		s.group = ""
		if p.cwd != "" {
			s.group = s.x.opt.Project(p.cwd)
		}
	}
}

// add counts what one fact says, unless it was counted before.
func (s *usageSum) add(u *usageFact) {
	covered := u.kind == factTotal && !u.known // its entries are there
	if s.seen.add(u.identity) || covered || !s.only || (s.since != math.MinInt64 && (!u.time.known || u.time.ms < s.since)) {
		return
	}
	a := s.amount(u)
	for i, n := range u.tokens {
		a.tokens[i] += n
	}
	if u.priced {
		a.cost += math.Round(u.cost * costUnit)
		a.priced = true
	}
	if u.kind == factTotal {
		for i, n := range u.counts {
			a.counts[i] += n
		}
		return
	}
	a.counts[0]++
	if !u.whole {
		a.counts[1]++
	}
	if u.known && !u.priced {
		a.counts[2]++
	}
}

// amount is the sum of the group that a fact belongs to.
func (s *usageSum) amount(u *usageFact) *amount {
	key := s.group
	switch s.filter.By {
	case UsageDay:
		key = s.day(u)
	case UsageModel:
		key = u.model
	case UsageProvider:
		key = u.provider
	case UsageTotal:
		key = ""
	}
	if s.last != nil && s.lastOf == key {
		return s.last
	}
	a := s.groups[key]
	if a == nil {
		a = &amount{}
		s.groups[key] = a
	}
	if s.filter.By == UsageSession && a.path == "" {
		a.path = s.x.fileAt(s.at.scope, s.at.name)
	}
	s.last, s.lastOf = a, key
	return a
}

// day is the day of a request in the zone asked for. Checkpoints know the day
// in UTC alone. No zone's clock differs from UTC by other than whole quarters
// of an hour nowadays.
func (s *usageSum) day(u *usageFact) string {
	if !u.time.known {
		return ""
	}
	if u.kind == factTotal {
		return time.UnixMilli(u.time.ms).UTC().Format(time.DateOnly)
	}
	const quarter = 15 * 60 * 1000
	at := u.time.ms / quarter
	if at == s.dayAt && s.dayIs != "" {
		return s.dayIs
	}
	day, ok := s.days[at]
	if !ok {
		day = time.UnixMilli(u.time.ms).In(s.zone).Format(time.DateOnly)
		s.days[at] = day
	}
	s.dayAt, s.dayIs = at, day
	return day
}

func (s *usageSum) rows() []UsageRow {
	if s.filter.By == UsageTotal && len(s.groups) == 0 {
		return []UsageRow{{}}
	}
	rows := make([]UsageRow, 0, len(s.groups))
	for key, a := range s.groups {
		rows = append(rows, UsageRow{Key: key, Path: a.path, Sum: a.sum()})
	}
	slices.SortFunc(rows, func(a, b UsageRow) int {
		if s.filter.By == UsageDay {
			return strings.Compare(a.Key, b.Key)
		}
		return cmp.Or(cmp.Compare(price(b), price(a)), cmp.Compare(b.Input+b.Output, a.Input+a.Output), strings.Compare(a.Key, b.Key))
	})
	return rows
}

func price(r UsageRow) float64 {
	if r.Cost == nil {
		return -1
	}
	return *r.Cost
}
