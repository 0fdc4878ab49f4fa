package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

	"github.com/gajae-code/gjc-index/migrations"
)

// known is what the database says about one file.
type known struct {
	Key      int64  `db:"key"`
	Name     string `db:"name"`
	Dev      int64  `db:"dev"`
	Inode    int64  `db:"inode"`
	Size     int64  `db:"size"`
	ModTime  int64  `db:"mtime_ns"`
	Change   int64  `db:"ctime_ns"`
	Racy     []byte `db:"racy"`
	AtOffset int64  `db:"at_offset"`
	State    State  `db:"state"`
	Reason   string `db:"reason"`

	archives []archiveRow
}

// why says what is to be done with a file.
type why uint8

const (
	isNew why = iota
	hasGrown
	hasChanged
	mayHave // its stored times don't tell: it is compared by its bytes
	isGone
)

// job is one file that a refresh has to look at.
type job struct {
	why   why
	scope int // index in plan.scopes
	file  diskFile
	known *known // nil if isNew
	key   int64  // sessions.key, as soon as it is decided
	path  string
}

// plannedScope is a scope with jobs, or whose own row must change.
type plannedScope struct {
	id   int64 // scopes.id; 0: not there yet
	name string
	dev  uint64
	gone bool
	kept []diskFile // files that stay as they are
	open bool       // a file of it is looked at again at each refresh
	jobs int
}

// plan is the difference between a walk and the database.
type plan struct {
	generation int64
	scopes     []plannedScope
	jobs       []job
	devices    map[int64]int64 // device numbers that a remount has changed
	same       int
	history    *historyPlan // nil: as it was
}

// empty reports whether the database is as the files are.
func (p *plan) empty() bool {
	return len(p.jobs) == 0 && len(p.scopes) == 0 && len(p.devices) == 0 && p.history == nil
}

type scopeRow struct {
	ID     int64  `db:"id"`
	Name   string `db:"name"`
	Dev    int64  `db:"dev"`
	Digest []byte `db:"digest"`
	Files  int    `db:"files"` // rows that belong to the digest
	Rows   int    `db:"n"`     // rows there are
}

// errMeddled says that somebody else has changed rows; then all are made anew.
var errMeddled = errors.New("rows of the index are missing")

// makePlan compares a walk with the database. What another process writes
// meanwhile is noticed when the plan is carried out: its generation is read
// first.
func makePlan(ctx context.Context, db *migrations.DB, w *walk) (*plan, error) {
	p := &plan{}
	if err := db.GetContext(ctx, &p.generation, `SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'generation'), 0)`); err != nil {
		return nil, err
	}
	var rows []scopeRow
	if err := db.SelectContext(ctx, &rows, `
		SELECT id, name, dev, digest, files, (SELECT count(*) FROM sessions s WHERE s.scope = scopes.id) AS n FROM scopes`); err != nil {
		return nil, err
	}
	stored := make(map[string]*scopeRow, len(rows))
	for i := range rows {
		stored[rows[i].Name] = &rows[i]
		if len(rows[i].Digest) > 0 && rows[i].Files != rows[i].Rows {
			return nil, errMeddled
		}
	}
	p.devices = remounted(w, stored)
	for i := range w.scopes {
		s := &w.scopes[i]
		row := stored[s.name]
		delete(stored, s.name)
		if row != nil && len(row.Digest) > 0 && p.device(row.Dev) == int64(s.dev) && bytes.Equal(row.Digest, s.digest()) {
			p.same += len(s.files)
			continue
		}
		if err := p.compare(ctx, db, w, s, row); err != nil {
			return nil, err
		}
	}
	for name, row := range stored {
		if _, failed := w.failed[name]; failed {
			continue // it can't be listed now; that says nothing of its files
		}
		gone := diskScope{name: name, dev: uint64(row.Dev)}
		if err := p.compare(ctx, db, w, &gone, row); err != nil {
			return nil, err
		}
		p.scopes[len(p.scopes)-1].gone = true
	}
	return p, nil
}

// remounted finds device numbers that changed alike for all their scopes.
func remounted(w *walk, stored map[string]*scopeRow) map[int64]int64 {
	now := map[int64]int64{}
	mixed := map[int64]bool{}
	for i := range w.scopes {
		row := stored[w.scopes[i].name]
		if row == nil {
			continue
		}
		dev := int64(w.scopes[i].dev)
		if before, ok := now[row.Dev]; ok && before != dev {
			mixed[row.Dev] = true
		}
		now[row.Dev] = dev
	}
	for before, dev := range now {
		if before == dev || mixed[before] {
			delete(now, before)
		}
	}
	return now
}

// device is the present number of a device that the database names.
func (p *plan) device(stored int64) int64 {
	if dev, ok := p.devices[stored]; ok {
		return dev
	}
	return stored
}

// compare looks at each file of a scope that is not as it was.
func (p *plan) compare(ctx context.Context, db *migrations.DB, w *walk, s *diskScope, row *scopeRow) error {
	at := len(p.scopes)
	ps := plannedScope{name: s.name, dev: s.dev}
	had := map[string]*known{}
	var shift int64 // of the scope's device number
	if row != nil {
		ps.id = row.ID
		shift = int64(s.dev) - p.device(row.Dev)
		var files []known
		err := db.SelectContext(ctx, &files, `
			SELECT key, name, dev, inode, size, mtime_ns, ctime_ns, racy, at_offset, state, coalesce(reason, '') AS reason
			FROM sessions WHERE scope = ?`, row.ID)
		if err != nil {
			return err
		}
		archives, err := knownArchives(ctx, db, row.ID)
		if err != nil {
			return err
		}
		for i := range files {
			files[i].archives = archives[files[i].Key]
			had[files[i].Name] = &files[i]
		}
	}
	for _, f := range s.files {
		k := had[f.name]
		delete(had, f.name)
		j := job{scope: at, file: f, known: k, path: w.path(s.name, f.name)}
		same := shift == 0 && k != nil && p.device(k.Dev) == int64(f.info.Dev)
		if same = judgeFile(&j, same); k != nil {
			alike, racy := sameArchives(f.archives, k.archives, p.device)
			switch {
			case !alike && f.refused == "":
				same, j.why = false, hasChanged
			case same && racy:
				same, j.why = false, mayHave
			}
		}
		if same {
			p.same++
			ps.kept = append(ps.kept, f)
			continue
		}
		ps.jobs++
		p.jobs = append(p.jobs, j)
	}
	for name, k := range had {
		ps.jobs++
		p.jobs = append(p.jobs, job{why: isGone, scope: at, file: diskFile{name: name}, known: k, key: k.Key, path: w.path(s.name, name)})
	}
	p.scopes = append(p.scopes, ps)
	return nil
}

// judgeFile says what is to be done with a file, or that it is as it was.
func judgeFile(j *job, sameDevice bool) (same bool) {
	k, info := j.known, &j.file.info
	if k == nil {
		j.why = isNew
		return false
	}
	j.key = k.Key
	refused := k.State == StateRefused
	sameFile := sameDevice && uint64(k.Inode) == info.Inode && refused == (j.file.refused != "")
	switch {
	case refused && sameFile && k.Reason == j.file.refused:
		return true
	case sameFile && k.Size == info.Size && k.ModTime == info.ModTime && k.Change == info.ChangeTime:
		if k.Racy == nil {
			return true
		}
		j.why = mayHave
	case sameFile && !refused && k.AtOffset > 0 && info.Size > k.Size:
		j.why = hasGrown
	default:
		j.why = hasChanged
	}
	return false
}

// built reports whether a build was ever finished by the rules of this program.
// old is true if one was, by other rules.
func built(ctx context.Context, db queryer) (done, old bool, err error) {
	var version int
	err = db.QueryRowContext(ctx, `SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'extract'`).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	return version == extractVersion, version != extractVersion, err
}

// queryer is the reading half of a pool or a transaction.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}
