package history

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"strings"

	"github.com/jmoiron/sqlx"
)

// sameSeconds is how far apart one prompt may have been noted by two witnesses,
// say a transcript and history.db.
const sameSeconds = 60

// stageRows is how many rows one statement stages.
const stageRows = 200

// Imported says what became of the prompts given to Import.
type Imported struct {
	Added   int
	Known   int // a row of the same text is there, at most a minute away
	Deleted int // the text was deleted on purpose
}

// Import adds prompts from elsewhere with their own times, as they are (only
// the ids are new, and those without text are left out). Doing so twice changes
// nothing. All are added, or none: an error of prompts ends it.
func (s *Store) Import(ctx context.Context, prompts iter.Seq2[Prompt, error]) (Imported, error) {
	if s.readOnly != nil {
		return Imported{}, fmt.Errorf("import prompts: %w", s.readOnly)
	}
	if err := s.Flush(ctx); err != nil {
		return Imported{}, fmt.Errorf("import prompts: %w", err)
	}
	done, err := s.importAll(ctx, prompts)
	if err != nil {
		return Imported{}, fmt.Errorf("import prompts: %w", plain(err))
	}
	return done, nil
}

func (s *Store) importAll(ctx context.Context, prompts iter.Seq2[Prompt, error]) (done Imported, err error) {
	buried, err := s.Tombstones(ctx)
	if err != nil {
		return done, err
	}
	conn, err := s.db.Connx(ctx)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	st := &stage{conn: conn, seed: maphash.MakeSeed(), times: map[uint64][]staged{}, buried: buried}
	defer func() { err = errors.Join(err, st.drop(context.WithoutCancel(ctx))) }()
	if err := st.fill(ctx, prompts); err != nil {
		return done, err
	}
	// One statement adds them all: between two, FTS5 would write out what it
	// has gathered.
	err = s.db.WriteOn(ctx, conn, func(tx *sqlx.Tx) error {
		known, err := st.forgetKnown(ctx, tx)
		if err != nil {
			return err
		}
		res, err := tx.ExecContext(ctx, `
			INSERT INTO history (prompt, created_at, cwd)
			SELECT prompt, created_at, cwd FROM temp.staged ORDER BY created_at, rowid`)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		done = Imported{Added: int(n), Known: st.repeated + known, Deleted: st.deleted}
		return err
	})
	return done, err
}

// staged is one prompt in the temporary table.
type staged struct{ row, at int64 }

// stage gathers prompts in a table of one connection, where nobody waits for
// them, however slowly they come.
type stage struct {
	conn   *sqlx.Conn
	seed   maphash.Seed
	times  map[uint64][]staged // by hash of the trimmed text
	buried Tombstones

	rows              int64
	repeated, deleted int
	args              []any // of rows not staged yet
}

// fill stages what is new in itself.
func (st *stage) fill(ctx context.Context, prompts iter.Seq2[Prompt, error]) (err error) {
	for _, sql := range []string{
		`CREATE TEMP TABLE staged (prompt TEXT NOT NULL, created_at INTEGER NOT NULL, cwd TEXT)`,
		`BEGIN`, // writes to the temporary database only, so it locks nothing
	} {
		if _, err := st.conn.ExecContext(ctx, sql); err != nil {
			return err
		}
	}
	for p, err := range prompts {
		if err == nil {
			err = st.put(ctx, p)
		}
		if err != nil {
			return errors.Join(err, st.end(ctx, `ROLLBACK`))
		}
	}
	if err := st.write(ctx); err != nil {
		return errors.Join(err, st.end(ctx, `ROLLBACK`))
	}
	return st.end(ctx, `COMMIT`)
}

func (st *stage) end(ctx context.Context, how string) error {
	_, err := st.conn.ExecContext(context.WithoutCancel(ctx), how)
	return err
}

func (st *stage) put(ctx context.Context, p Prompt) error {
	text := storable(p.Text)
	core, at := Trim(text), p.Time.Unix()
	switch {
	case core == "":
		return nil
	case st.buried.Has(core):
		st.deleted++
		return nil
	}
	key := maphash.String(st.seed, core)
	for _, other := range st.times[key] {
		if other.at == at { // a fork holds what its origin holds
			st.repeated++
			return nil
		}
	}
	st.rows++
	st.times[key] = append(st.times[key], staged{st.rows, at})
	var cwd any
	if p.Cwd != nil {
		cwd = storable(*p.Cwd)
	}
	st.args = append(st.args, text, at, cwd)
	if len(st.args) < 3*stageRows {
		return nil
	}
	return st.write(ctx)
}

// write stages the rows gathered. Their rowids count up from 1, as st.rows does.
func (st *stage) write(ctx context.Context) error {
	n := len(st.args) / 3
	if n == 0 {
		return nil
	}
	_, err := st.conn.ExecContext(ctx,
		`INSERT INTO temp.staged (prompt, created_at, cwd) VALUES (?, ?, ?)`+strings.Repeat(`, (?, ?, ?)`, n-1), st.args...)
	st.args = st.args[:0]
	return err
}

// forgetKnown takes out of the stage what history has.
func (st *stage) forgetKnown(ctx context.Context, tx *sqlx.Tx) (known int, err error) {
	rows, err := tx.QueryxContext(ctx, `SELECT `+columns+` FROM history h`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var gone []int64
	for rows.Next() {
		p, err := scanPrompt(rows)
		if err != nil {
			return 0, err
		}
		key, at := maphash.String(st.seed, Trim(p.Text)), p.Time.Unix()
		left := st.times[key][:0]
		for _, c := range st.times[key] {
			if max(c.at-at, at-c.at) <= sameSeconds {
				gone = append(gone, c.row)
			} else {
				left = append(left, c)
			}
		}
		if _, ok := st.times[key]; ok {
			st.times[key] = left
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	for _, row := range gone {
		if _, err := tx.ExecContext(ctx, `DELETE FROM temp.staged WHERE rowid = ?`, row); err != nil {
			return 0, err
		}
	}
	return len(gone), nil
}

// drop gives the connection back as it was.
func (st *stage) drop(ctx context.Context) error {
	_, err := st.conn.ExecContext(ctx, `DROP TABLE IF EXISTS temp.staged`)
	return err
}
