package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// Archives have fingerprints of their own, beside that of the session file:
// one that changes alone makes the session be read anew.

// diskArchive is an archive as the walk found it.
type diskArchive struct {
	name string // under the scope, with slashes
	info storage.Info
}

// archiveRow is an archive as the database knows it.
type archiveRow struct {
	Session  int64  `db:"session"`
	Name     string `db:"name"`
	Dev      int64  `db:"dev"`
	Inode    int64  `db:"inode"`
	Size     int64  `db:"size"`
	ModTime  int64  `db:"mtime_ns"`
	Change   int64  `db:"ctime_ns"`
	Racy     []byte `db:"racy"`
	Searched bool   `db:"searched"`
	Reason   string `db:"reason"`
}

// archiveEndings end the names of archives.
var archiveEndings = [...]string{session.ArchivePath(".jsonl"), session.PackedArchivePath(".jsonl")}

// archivesIn are the archives that a directory lists, by what comes before the
// ending.
func archivesIn(prefix string, list []storage.DirEntry) map[string][]diskArchive {
	var all map[string][]diskArchive
	for _, e := range list {
		for _, end := range archiveEndings {
			stem, ok := strings.CutSuffix(e.Name, end)
			if !ok {
				continue
			}
			if all == nil {
				all = map[string][]diskArchive{}
			}
			a := diskArchive{name: prefix + e.Name, info: e.Info}
			if e.Info.Kind != storage.Regular { // never read
				a.info = storage.Info{Kind: e.Info.Kind, Dev: e.Info.Dev, Inode: e.Info.Inode}
			}
			all[stem] = append(all[stem], a)
		}
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b diskArchive) int { return strings.Compare(a.name, b.name) })
	}
	return all
}

func archiveRowOf(a *diskArchive) archiveRow {
	return archiveRow{Name: a.name, Dev: int64(a.info.Dev), Inode: int64(a.info.Inode), Size: a.info.Size, ModTime: a.info.ModTime, Change: a.info.ChangeTime}
}

func (r *archiveRow) info() storage.Info {
	return storage.Info{Dev: uint64(r.Dev), Inode: uint64(r.Inode), Size: r.Size, ModTime: r.ModTime, ChangeTime: r.Change}
}

func (r *archiveRow) values(key int64) []any {
	searched := 0
	if r.Searched {
		searched = 1
	}
	return []any{key, r.Name, r.Dev, r.Inode, r.Size, r.ModTime, r.Change, bytesOrNull(r.Racy), searched, textOrNull(r.Reason, r.Reason != "")}
}

// knownArchives are the archives of a scope, by session.
func knownArchives(ctx context.Context, db *migrations.DB, scope int64) (map[int64][]archiveRow, error) {
	var rows []archiveRow
	err := db.SelectContext(ctx, &rows, `
		SELECT a.session, a.name, a.dev, a.inode, a.size, a.mtime_ns, a.ctime_ns, a.racy, a.searched, coalesce(a.reason, '') AS reason
		FROM archives a JOIN sessions s ON s.key = a.session WHERE s.scope = ? ORDER BY a.session, a.name`, scope)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	by := map[int64][]archiveRow{}
	for _, r := range rows {
		by[r.Session] = append(by[r.Session], r)
	}
	return by, nil
}

// sameArchives compares the archives beside a file with those that are known.
// racy says that their times don't tell yet.
func sameArchives(found []diskArchive, known []archiveRow, device func(int64) int64) (same, racy bool) {
	if len(found) != len(known) {
		return false, false
	}
	for i := range found {
		k, info := &known[i], &found[i].info
		if k.Name != found[i].name || device(k.Dev) != int64(info.Dev) || uint64(k.Inode) != info.Inode ||
			k.Size != info.Size || k.ModTime != info.ModTime || k.Change != info.ChangeTime {
			return false, false
		}
		racy = racy || k.Racy != nil
	}
	return true, racy
}

// statArchives notes the archives of a file as they are before they are read,
// and with refs the blobs that they name.
func (w *worker) statArchives(ctx context.Context, j *job, now int64, refs map[blobSum]bool) ([]archiveRow, error) {
	rows := make([]archiveRow, 0, len(j.file.archives))
	for i := range j.file.archives {
		r := archiveRowOf(&j.file.archives[i])
		path := filepath.Join(filepath.Dir(j.path), filepath.Base(filepath.FromSlash(r.Name)))
		err := w.statArchive(ctx, path, &r, now, refs)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			r.Reason = reasonOf(err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func (w *worker) statArchive(ctx context.Context, path string, r *archiveRow, now int64, refs map[blobSum]bool) error {
	f, err := w.x.fsys.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r.Dev, r.Inode, r.Size, r.ModTime, r.Change = int64(info.Dev), int64(info.Inode), info.Size, info.ModTime, info.ChangeTime
	if w.x.racyAt(info, now) {
		if r.Racy, err = sumRacy(f, info.Size); err != nil {
			return err
		}
	}
	if refs == nil || strings.HasSuffix(r.Name, ".zst") {
		return nil
	}
	s := session.RefSearch{Found: func(sum [32]byte) { refs[sum] = true }}
	for at := int64(0); at < info.Size; at += racySumChunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(racySumChunk, info.Size-at)
		if _, err := io.CopyN(&s, io.NewSectionReader(f, at, n), n); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
	}
	r.Searched = true
	return nil
}

// sameRacyArchives reports whether archives are as they were, by their bytes
// where their times don't tell. young says that these still don't.
func (w *worker) sameRacyArchives(ctx context.Context, o *outcome, now int64) (same, young bool, err error) {
	rows, err := w.statArchives(ctx, &o.job, now, nil)
	if err != nil || len(rows) != len(o.known.archives) {
		return false, false, err
	}
	for i := range rows {
		r, k := &rows[i], &o.known.archives[i]
		young = young || r.Racy != nil
		if k.Racy != nil && r.Racy == nil {
			r.Racy, err = w.sumArchive(filepath.Join(filepath.Dir(o.path), filepath.Base(filepath.FromSlash(r.Name))), r.Size)
			if err != nil {
				return false, false, nil // it is read anew, which says what is wrong
			}
		}
		if r.Name != k.Name || r.Inode != k.Inode || r.Size != k.Size || r.ModTime != k.ModTime || r.Change != k.Change ||
			k.Racy != nil && !bytes.Equal(r.Racy, k.Racy) {
			return false, false, nil
		}
	}
	return true, young, nil
}

func (w *worker) sumArchive(path string, size int64) ([]byte, error) {
	f, err := w.x.fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	return sumRacy(f, size)
}

// UnreadArchives are the archives of sessions that could not be read, so that
// what they hold is missing from every answer. Where there is no index none is
// known.
func (x *Index) UnreadArchives(ctx context.Context) ([]Failure, error) {
	var all []Failure
	err := x.retrying(ctx, func(db *migrations.DB) error {
		all = nil
		if db == nil {
			return nil
		}
		rows := []struct{ Scope, Name, Reason string }{}
		err := db.SelectContext(ctx, &rows, `
			SELECT c.name AS scope, a.name, a.reason FROM archives a
			JOIN sessions s ON s.key = a.session JOIN scopes c ON c.id = s.scope
			WHERE a.reason IS NOT NULL ORDER BY c.name, a.name`)
		for _, r := range rows {
			all = append(all, Failure{Path: filepath.Join(x.root(), r.Scope, filepath.FromSlash(r.Name)), Reason: r.Reason})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list archives: %w", inWords(err))
	}
	return all, nil
}
