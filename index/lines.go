package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// lineAt says where an entry's line lies, and the patch that holds for it.
type lineAt struct {
	Seq         int    `db:"seq"`
	ID          string `db:"id"`
	Type        string `db:"type"`
	Role        string `db:"role"`
	Offset      int64  `db:"offset"`
	Size        int64  `db:"size"`
	PatchOffset int64  `db:"patch_offset"`
	PatchSize   int64  `db:"patch_size"`
}

const lineColumns = `
	SELECT e.seq, coalesce(e.id, '') AS id, e.type, coalesce(e.role, '') AS role, e.offset, e.size,
	       coalesce(p.offset, 0) AS patch_offset, coalesce(p.size, 0) AS patch_size
	FROM entries e LEFT JOIN patches p ON p.session = e.session AND p.seq = e.seq `

func readPlaces(ctx context.Context, db *migrations.DB, query string, args ...any) ([]lineAt, error) {
	var list []lineAt
	if err := db.SelectContext(ctx, &list, query, args...); err != nil {
		return nil, fmt.Errorf("read entries: %w", err)
	}
	return list, nil
}

// lines reads single lines of a session file.
type lines struct {
	f   storage.File
	buf []byte
}

// openLines opens a session file whose rows are to be trusted: one that is as
// it was indexed and whose lines need no upgrade. ErrStale otherwise.
func (x *Index) openLines(path string, p *placed) (*lines, error) {
	if p.State != StateOK || p.Version < 3 || p.Seconds > 0 {
		return nil, fmt.Errorf("session %s: %w", path, ErrStale)
	}
	f, err := x.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	var mark [2]byte
	if err == nil {
		_, err = f.ReadAt(mark[:], 0)
	}
	if err == nil && (!p.fresh(info) || bytes.Equal(mark[:], []byte{0xFF, 0xFE})) {
		err = fmt.Errorf("session %s: %w", path, ErrStale)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &lines{f: f}, nil
}

func (l *lines) close() { _ = l.f.Close() } // read only

// record is the whole record of an entry, patched.
func (l *lines) record(at *lineAt) (*jsonl.Obj, error) {
	o, err := l.object(at.Offset, at.Size)
	if err != nil || at.PatchSize == 0 {
		return o, err
	}
	patch, err := l.object(at.PatchOffset, at.PatchSize)
	if err != nil {
		return nil, err
	}
	o.Set("message", patch.Get("patch").Get("message"))
	return o, nil
}

func (l *lines) object(offset, size int64) (*jsonl.Obj, error) {
	if int64(cap(l.buf)) < size {
		l.buf = make([]byte, size)
	}
	buf := l.buf[:size]
	if _, err := l.f.ReadAt(buf, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	v, _, err := jsonl.Parse(buf)
	if err != nil || !v.Is(jsonl.Object) {
		return nil, fmt.Errorf("line at byte %d: %w", offset, ErrStale)
	}
	return v.Obj(), nil
}
