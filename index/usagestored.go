package index

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/gajae-code/gjc-index/migrations"
)

// storedPacks are the packs of the database. There are many bytes of them, so
// two connections share the work; if the database changes between the two, one
// reads all.
func (x *Index) storedPacks(ctx context.Context, db *migrations.DB) ([]sessionPack, error) {
	var first, last sql.NullInt64
	err := db.QueryRowContext(ctx, `SELECT (SELECT min(session) FROM usage_packs), (SELECT max(session) FROM usage_packs)`).Scan(&first, &last)
	if err != nil || !first.Valid {
		return nil, err
	}
	middle := first.Int64 + (last.Int64-first.Int64)/2
	var halves [2]packRange
	var errs [2]error
	var both sync.WaitGroup
	for i, span := range [2][2]int64{{first.Int64, middle}, {middle + 1, last.Int64}} {
		both.Go(func() { halves[i], errs[i] = readPacks(ctx, db, span[0], span[1]) })
	}
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	// What was added after the question for the ends is in neither half.
	if a, b := halves[0].state, halves[1].state; a != b || a.last != last.Int64 || a.first != first.Int64 {
		all, err := readPacks(ctx, db, 0, 1<<62)
		return all.packs, err
	}
	return append(halves[0].packs, halves[1].packs...), nil
}

// packState tells one state of the database from another.
type packState struct{ generation, first, last int64 }

// packRange is the packs of a range of sessions, as of one moment.
type packRange struct {
	state packState
	packs []sessionPack
}

// readPacks reads the packs of the sessions that have the given keys.
func readPacks(ctx context.Context, db *migrations.DB, from, to int64) (r packRange, err error) {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return r, err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	err = tx.QueryRowContext(ctx, `
		SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'generation'), 0),
			coalesce((SELECT min(session) FROM usage_packs), 0), coalesce((SELECT max(session) FROM usage_packs), 0)`).
		Scan(&r.state.generation, &r.state.first, &r.state.last)
	if err != nil {
		return r, err
	}
	rows, err := tx.QueryContext(ctx, `
		SELECT c.name, s.name, s.id, s.cwd, s.created_ms, p.pack
		FROM usage_packs p JOIN sessions s ON s.key = p.session JOIN scopes c ON c.id = s.scope
		WHERE p.session BETWEEN ? AND ?`, from, to)
	if err != nil {
		return r, err
	}
	defer func() { _ = rows.Close() }()
	var room []byte
	var pack sql.RawBytes
	for rows.Next() {
		var p sessionPack
		var id, cwd sql.NullString
		var created sql.NullInt64
		if err := rows.Scan(&p.scope, &p.name, &id, &cwd, &created, &pack); err != nil {
			return r, err
		}
		p.id, p.cwd, p.created = id.String, cwd.String, fromNull(created)
		p.pack, room = keepBytes(room, pack)
		r.packs = append(r.packs, p)
	}
	return r, rows.Err()
}

// roomBytes is how much memory is taken at once for packs.
const roomBytes = 1 << 20

// keepBytes copies b into room, and gives what is left of that.
func keepBytes(room, b []byte) (kept, left []byte) {
	if len(b) > roomBytes/8 {
		return append([]byte(nil), b...), room
	}
	if len(b) > len(room) {
		room = make([]byte, roomBytes)
	}
	n := copy(room, b)
	return room[:n:n], room[n:]
}
