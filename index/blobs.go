package index

import (
	"context"
	"fmt"

	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/storage"
)

// BlobRefs are the blobs that files name, as of the last Refresh. The zero
// value knows nothing. Safe for several goroutines.
type BlobRefs struct {
	files map[string]namedBlobs
}

// namedBlobs is what a file was when it was searched, and what it names.
type namedBlobs struct {
	info storage.Info
	sums [][32]byte
}

// Of are the blobs that the file at path names, more rather than fewer; ok is
// false if the database doesn't know, or the file is not as it was.
func (b *BlobRefs) Of(path string, info storage.Info) (sums [][32]byte, ok bool) {
	known, ok := b.files[path]
	if !ok || !info.SameFile(known.info) || info.Size != known.info.Size || info.ModTime != known.info.ModTime ||
		info.ChangeTime != known.info.ChangeTime {
		return nil, false
	}
	return known.sums, true
}

// BlobRefs reads which blobs the session files name and the archives beside
// them. A file that can't be read as a session, or whose times don't tell yet
// whether it has changed, is not among them.
func (x *Index) BlobRefs(ctx context.Context) (*BlobRefs, error) {
	var refs *BlobRefs
	err := x.retrying(ctx, func(db *migrations.DB) error {
		refs = &BlobRefs{files: map[string]namedBlobs{}}
		if p := x.unstored(); db == nil || p != nil && p.all {
			return nil
		}
		return refs.load(ctx, x, db)
	})
	if err != nil {
		return nil, fmt.Errorf("read references to blobs: %w", err)
	}
	return refs, nil
}

// load reads files and references in one statement each, of one moment.
func (b *BlobRefs) load(ctx context.Context, x *Index, db *migrations.DB) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // it only reads
	sums := map[int64][][32]byte{}
	rows, err := tx.QueryContext(ctx, `SELECT session, sum FROM refs ORDER BY session`)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var key int64
		var sum []byte
		if err := rows.Scan(&key, &sum); err != nil {
			return err
		}
		if len(sum) != 32 {
			return errMeddled
		}
		sums[key] = append(sums[key], [32]byte(sum))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	p := x.unstored()
	files, err := tx.QueryContext(ctx, `
		SELECT s.key, c.name, s.name, s.dev, s.inode, s.size, s.mtime_ns, s.ctime_ns FROM sessions s JOIN scopes c ON c.id = s.scope
		WHERE s.state = 'ok' AND s.racy IS NULL
		UNION ALL
		SELECT a.session, c.name, a.name, a.dev, a.inode, a.size, a.mtime_ns, a.ctime_ns
		FROM archives a JOIN sessions s ON s.key = a.session JOIN scopes c ON c.id = s.scope
		WHERE s.state = 'ok' AND a.racy IS NULL AND a.searched = 1`)
	if err != nil {
		return err
	}
	defer func() { _ = files.Close() }()
	for files.Next() {
		var key, dev, inode int64
		var scope, name string
		var n namedBlobs
		if err := files.Scan(&key, &scope, &name, &dev, &inode, &n.info.Size, &n.info.ModTime, &n.info.ChangeTime); err != nil {
			return err
		}
		n.info.Dev, n.info.Inode, n.sums = uint64(dev), uint64(inode), sums[key]
		if path := x.fileAt(scope, name); !p.isStale(path) {
			b.files[path] = n
		}
	}
	return files.Err()
}
