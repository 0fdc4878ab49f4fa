package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/jmoiron/sqlx"
)

// Rows streams the rows with an id above sinceID, in the order of their ids. It
// sees one state of the table; what is added meanwhile is for the next call.
// An error ends it.
func (s *Store) Rows(ctx context.Context, sinceID int64) iter.Seq2[Prompt, error] {
	return func(yield func(Prompt, error) bool) {
		if !s.have.has("history") {
			return
		}
		for p, err := range s.each(ctx, `SELECT `+columns+` FROM history h WHERE h.id > ? ORDER BY h.id`, sinceID) {
			if err != nil {
				yield(Prompt{}, fmt.Errorf("read history: %w", plain(err)))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// each streams what query gives. An error comes last.
func (s *Store) each(ctx context.Context, query string, args ...any) iter.Seq2[Prompt, error] {
	return func(yield func(Prompt, error) bool) {
		rows, err := s.query(ctx, query, args)
		if err != nil {
			yield(Prompt{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			p, err := scanPrompt(rows)
			if !yield(p, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Prompt{}, err)
		}
	}
}

// keptArgs bounds the queries that are kept prepared: their text grows with the
// number of words searched for.
const keptArgs = 10

func (s *Store) query(ctx context.Context, query string, args []any) (*sqlx.Rows, error) {
	if len(args) > keptArgs {
		return s.db.QueryxContext(ctx, query, args...)
	}
	stmt, err := s.db.Prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryxContext(ctx, args...)
}

// Texts gives the texts of the rows with these ids, as far as they are there. At
// most some thousands should be asked for at once.
func (s *Store) Texts(ctx context.Context, ids []int64) (map[int64]string, error) {
	texts := make(map[int64]string, len(ids))
	if !s.have.has("history") || len(ids) == 0 {
		return texts, nil
	}
	list := append(make([]byte, 0, 8*len(ids)), '[')
	for i, id := range ids {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, id, 10)
	}
	rows, err := s.query(ctx, `
		SELECT h.id, CAST(h.prompt AS TEXT) FROM history h
		WHERE h.id IN (SELECT value FROM json_each(?))`, []any{string(append(list, ']'))})
	if err != nil {
		return nil, fmt.Errorf("read history: %w", plain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		texts[id] = text
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read history: %w", plain(err))
	}
	return texts, nil
}

// Joined calls use with the texts of the rows whose ids are first … last, joined
// by joint, and their number: a row costs more than the text in it. They hold
// until use returns.
func (s *Store) Joined(ctx context.Context, first, last int64, joint string, use func(n int, texts []byte)) error {
	if !s.have.has("history") {
		return nil
	}
	// Bytes are handed over without one more copy.
	rows, err := s.query(ctx, `
		SELECT count(*), CAST(group_concat(h.prompt, CAST(? AS TEXT)) AS BLOB) FROM history h
		WHERE h.id BETWEEN ? AND ?`, []any{[]byte(joint), first, last})
	if err != nil {
		return fmt.Errorf("read history: %w", plain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var texts sql.RawBytes
		if err := rows.Scan(&n, &texts); err != nil {
			return fmt.Errorf("read history: %w", plain(err))
		}
		use(n, texts)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read history: %w", plain(err))
	}
	return nil
}

// Fingerprint says what the table held. Ids are never given twice, so if Count
// has grown by as many rows as there are above the old MaxID, then these are
// all that changed; else rows went, and everything is to be read again. Only a
// text that somebody changed in place, which no program does, goes unseen.
type Fingerprint struct {
	MaxID int64
	Count int64
}

// Fingerprint counts the rows without reading them.
func (s *Store) Fingerprint(ctx context.Context) (Fingerprint, error) {
	var f Fingerprint
	if !s.have.has("history") {
		return f, nil
	}
	stmt, err := s.db.Prepared(ctx, `
		SELECT coalesce((SELECT max(id) FROM history), 0), (SELECT count(*) FROM history)`)
	if err == nil {
		err = stmt.QueryRowxContext(ctx).Scan(&f.MaxID, &f.Count)
	}
	if err != nil {
		return Fingerprint{}, fmt.Errorf("read history: %w", plain(err))
	}
	return f, nil
}

// Stamp says what the database's files looked like. As long as it stays equal,
// and is older than the clock tick of the file system, nobody wrote to them, so
// the database need not even be opened. Another stamp need not mean other rows.
type Stamp struct {
	Inode, LogInode           uint64
	Size, ModTime             int64 // bytes, Unix ns
	LogSize, LogTime          int64 // of the write-ahead log; 0 if there is none, or an empty one
	ChangeTime, LogChangeTime int64 // Unix ns
}

// Newest is the latest time of the stamp, in Unix nanoseconds.
func (t Stamp) Newest() int64 {
	return max(t.ModTime, t.ChangeTime, t.LogTime, t.LogChangeTime)
}

// StampOf looks at the files of the history.db at path, without opening them. A
// missing file has the zero Stamp.
func StampOf(fsys storage.FS, path string) (Stamp, error) {
	db, err := lstat(fsys, path)
	if err != nil {
		return Stamp{}, err
	}
	log, err := lstat(fsys, path+"-wal")
	if err != nil {
		return Stamp{}, err
	}
	if log.Size == 0 {
		log = storage.Info{} // an empty one comes and goes with those that read
	}
	return Stamp{
		Inode: db.Inode, Size: db.Size, ModTime: db.ModTime, ChangeTime: db.ChangeTime,
		LogInode: log.Inode, LogSize: log.Size, LogTime: log.ModTime, LogChangeTime: log.ChangeTime,
	}, nil
}

// lstat gives the zero Info for a file that is not there.
func lstat(fsys storage.FS, path string) (storage.Info, error) {
	info, err := fsys.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return storage.Info{}, nil
	}
	return info, err
}
