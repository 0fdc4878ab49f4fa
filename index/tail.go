package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// stored is what the database knows of a file whose tail is to be read.
type stored struct {
	facts
	resume
	key     int64
	lastRun int
	lastID  string
	missing map[string][]int // a parent that is not there: its children
}

// tail reads what was appended to f since s was stored, up to size. errWhole
// if the file must be read whole instead.
func (x *extractor) tail(ctx context.Context, f storage.File, s *stored, before earlier, size, maxLine int64) (*reading, error) {
	sum, err := sumBefore(f, s.offset)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(sum, s.sum) {
		return nil, errWhole
	}
	r := &reading{facts: s.facts, tail: true, first: s.entries}
	r.facts.malformed = s.resume.malformed
	x.begin(ctx, f, r)
	x.before, x.header, x.judged = before, true, true
	x.lastID, x.lastRun = s.lastID, s.lastRun
	for parent, children := range s.missing {
		x.waiting[parent] = children
	}
	// If no record follows, the next reading begins where this one did.
	x.ended, x.lastLine, x.lastOffset, x.end = true, s.line, s.offset, s.offset
	opt := jsonl.ReadOptions{MaxLine: maxLine, Offset: s.offset, FirstLine: s.line, Buffer: x.buf, Report: x.report}
	for rec, err := range jsonl.Read(ctx, x.searched(io.NewSectionReader(f, s.offset, size-s.offset)), opt) {
		if err != nil {
			return nil, err
		}
		if err := x.record(&rec); err != nil {
			return nil, err
		}
	}
	r.bytes = size - s.offset
	x.settle()
	x.settleEffects()
	return r, x.mark()
}

// dbEarlier looks entries of one session up in the database.
type dbEarlier struct {
	ctx context.Context
	db  *migrations.DB
	key int64
}

func (d dbEarlier) byID(id string) (seq int, kind, role string, ok bool, err error) {
	stmt, err := d.db.Prepared(d.ctx, `
		SELECT seq, type, coalesce(role, '') FROM entries INDEXED BY entries_id
		WHERE session = ? AND id = ? ORDER BY seq DESC LIMIT 1`)
	if err != nil {
		return 0, "", "", false, err
	}
	err = stmt.QueryRowContext(d.ctx, d.key, id).Scan(&seq, &kind, &role)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, "", "", false, nil
	}
	return seq, kind, role, err == nil, err
}

func (d dbEarlier) archived(id string) (there bool, err error) {
	if id == "" {
		return false, nil
	}
	stmt, err := d.db.Prepared(d.ctx, `SELECT EXISTS (SELECT 1 FROM archived WHERE session = ? AND id = ?)`)
	if err != nil {
		return false, err
	}
	return there, stmt.GetContext(d.ctx, &there, d.key, id)
}

func (d dbEarlier) effects() ([]checkpoint.Effect, []checkpoint.EffectCall, error) {
	effects, err := storedEffects(d.ctx, d.db, d.key)
	if err != nil {
		return nil, nil, err
	}
	var calls []checkpoint.EffectCall
	err = d.db.SelectContext(d.ctx, &calls, `SELECT id, tool, path FROM open_calls WHERE session = ? ORDER BY seq`, d.key)
	return effects, calls, err
}

func (d dbEarlier) timeOf(seq int) (millis, error) {
	var ms sql.NullInt64
	err := d.db.GetContext(d.ctx, &ms, `SELECT time_ms FROM entries WHERE session = ? AND seq = ?`, d.key, seq)
	return millis{ms.Int64, ms.Valid}, err
}

// loadStored reads what tail needs. ok is false if the file must be read whole.
func loadStored(ctx context.Context, db *migrations.DB, key int64) (s *stored, ok bool, err error) {
	var row struct {
		Offset    int64          `db:"at_offset"`
		Line      int            `db:"at_line"`
		AtBad     int            `db:"at_malformed"`
		Sum       []byte         `db:"at_sum"`
		ID        sql.NullString `db:"id"`
		Version   int            `db:"version"`
		Cwd       sql.NullString `db:"cwd"`
		Parent    sql.NullString `db:"parent"`
		Created   sql.NullInt64  `db:"created_ms"`
		Last      sql.NullInt64  `db:"last_ms"`
		Messages  int            `db:"messages"`
		Entries   int            `db:"entries"`
		Seconds   int            `db:"seconds"`
		Recovered int            `db:"recovered"`
		Title     sql.NullString `db:"title"`
		Source    sql.NullString `db:"title_source"`
		Prompt    sql.NullString `db:"first_prompt"`
		LastID    sql.NullString `db:"last_id"`
		LastRun   sql.NullInt64  `db:"last_run"`
	}
	err = db.GetContext(ctx, &row, `
		SELECT s.at_offset, s.at_line, s.at_malformed, s.at_sum, s.id, s.version, s.cwd, s.parent, s.created_ms, s.last_ms,
		       s.messages, s.entries, s.seconds, s.recovered, s.title, s.title_source, s.first_prompt,
		       e.id AS last_id, e.run AS last_run
		FROM sessions s LEFT JOIN entries e ON e.session = s.key AND e.seq = s.entries - 1
		WHERE s.key = ? AND s.state = 'ok' AND s.at_offset > 0`, key)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if row.Entries > 0 && !row.LastRun.Valid {
		return nil, false, nil // rows are missing; a whole reading mends that
	}
	s = &stored{
		facts: facts{state: StateOK, id: row.ID.String, version: row.Version, cwd: row.Cwd.String, parent: row.Parent.String,
			created: millis(fromNull(row.Created)), last: millis(fromNull(row.Last)), messages: row.Messages, entries: row.Entries, seconds: row.Seconds,
			recovered: row.Recovered, title: row.Title.String, hasTitle: row.Title.Valid, titleSource: row.Source.String,
			firstPrompt: row.Prompt.String},
		resume: resume{offset: row.Offset, line: row.Line, malformed: row.AtBad, sum: row.Sum},
		key:    key, lastID: row.LastID.String, lastRun: int(row.LastRun.Int64), missing: map[string][]int{},
	}
	rows, err := db.QueryContext(ctx, `
		SELECT seq, parent FROM entries INDEXED BY entries_missing WHERE session = ? AND parent_seq IS NULL ORDER BY seq`, key)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var seq int
		var parent string
		if err := rows.Scan(&seq, &parent); err != nil {
			return nil, false, err
		}
		s.missing[parent] = append(s.missing[parent], seq)
	}
	return s, true, rows.Err()
}

func fromNull(n sql.NullInt64) millis { return millis{n.Int64, n.Valid} }
