package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/storage"
)

// maxDepth bounds how deep a session's own directory is looked through.
const maxDepth = 4

// diskFile is a session file as the walk found it.
type diskFile struct {
	name    string // under the scope, with slashes
	info    storage.Info
	refused string // "" or why it is never read

	archives []diskArchive // beside it, by name
}

// child reports whether the file lies in another session's own directory.
func (f *diskFile) child() bool { return strings.IndexByte(f.name, '/') >= 0 }

// diskScope is a directory under sessions/ and the session files in it.
type diskScope struct {
	name  string // "" is sessions/ itself
	dev   uint64
	files []diskFile
}

// walk is what one look at the sessions directory gave. A scope that couldn't
// be listed is in failed and not in scopes.
type walk struct {
	again  bool // made since another one was found to be old
	root   string
	scopes []diskScope
	failed map[string]string // scope name: reason
	files  int
	bytes  int64
}

func (w *walk) path(scope, name string) string {
	return filepath.Join(w.root, scope, filepath.FromSlash(name))
}

// walkSessions lists all session files below root with one stat each. A root
// that doesn't exist holds none.
func walkSessions(ctx context.Context, fsys storage.FS, root string) (*walk, error) {
	w := &walk{root: root, failed: map[string]string{}}
	top, err := fsys.StatDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(top, func(a, b storage.DirEntry) int { return cmp.Compare(a.Name, b.Name) })
	bare := diskScope{}
	var dirs []storage.DirEntry
	for _, e := range top {
		switch {
		case strings.HasPrefix(e.Name, "."):
		case strings.HasSuffix(e.Name, ".jsonl") && e.Info.Kind != storage.Dir:
			bare.dev = e.Info.Dev
			bare.files = append(bare.files, sessionFile("", e))
		case e.Info.Kind == storage.Dir:
			dirs = append(dirs, e)
		case e.Info.Kind == storage.Symlink:
			w.failed[e.Name] = "is a symbolic link"
		}
	}
	if err := w.addScopes(ctx, fsys, dirs); err != nil {
		return nil, err
	}
	if len(bare.files) > 0 {
		w.scopes = append(w.scopes, bare)
	}
	w.count()
	return w, nil
}

// walkDir lists the session files right in an explicit directory, and those in
// the sessions' own directories. Any other directory in it is one of sessions
// too, so that a home's sessions directory may be named.
func walkDir(ctx context.Context, fsys storage.FS, dir string) (*walk, error) {
	w := &walk{root: dir, failed: map[string]string{}}
	list, err := fsys.StatDir(dir)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{} // names of sessions' own directories
	for _, e := range list {
		if stem, ok := strings.CutSuffix(e.Name, ".jsonl"); ok {
			own[stem] = true
		}
	}
	var dirs []storage.DirEntry
	isScope := func(e storage.DirEntry) bool {
		return e.Info.Kind == storage.Dir && !own[e.Name] && !strings.HasPrefix(e.Name, ".") && !strings.HasSuffix(e.Name, ".jsonl")
	}
	s := diskScope{}
	for _, e := range list {
		if isScope(e) {
			dirs = append(dirs, e)
		}
	}
	s.take(fsys, dir, "", 0, slices.DeleteFunc(list, isScope))
	w.scopes = []diskScope{s}
	if err := w.addScopes(ctx, fsys, dirs); err != nil {
		return nil, err
	}
	w.count()
	return w, nil
}

func (w *walk) count() {
	for i := range w.scopes {
		w.files += len(w.scopes[i].files)
		for j := range w.scopes[i].files {
			w.bytes += w.scopes[i].files[j].info.Size
		}
	}
}

// walkers is how many scopes are listed at once.
const walkers = 2

// addScopes lists scopes. One that vanished meanwhile holds nothing.
func (w *walk) addScopes(ctx context.Context, fsys storage.FS, dirs []storage.DirEntry) error {
	scopes, errs := make([]diskScope, len(dirs)), make([]error, len(dirs))
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(walkers, len(dirs)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(dirs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				scopes[i] = diskScope{name: dirs[i].Name, dev: dirs[i].Info.Dev}
				errs[i] = scopes[i].add(fsys, filepath.Join(w.root, dirs[i].Name), "", 0)
			}
		})
	}
	group.Wait()
	for i, err := range errs {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.failed[dirs[i].Name] = reasonOf(err)
		default:
			w.scopes = append(w.scopes, scopes[i])
		}
	}
	return ctx.Err()
}

// add lists dir, whose path under the scope is prefix, and below it. Only the
// scope itself must be readable; of a session's own directory that can't be
// read, nothing is known.
func (s *diskScope) add(fsys storage.FS, dir, prefix string, depth int) error {
	list, err := fsys.StatDir(dir)
	if err != nil {
		return err
	}
	s.take(fsys, dir, prefix, depth, list)
	return nil
}

// take adds what the list of a directory names.
func (s *diskScope) take(fsys storage.FS, dir, prefix string, depth int, list []storage.DirEntry) {
	archives := archivesIn(prefix, list)
	for _, e := range list {
		switch {
		case strings.HasPrefix(e.Name, "."):
		case strings.HasSuffix(e.Name, ".jsonl"):
			f := sessionFile(prefix, e)
			f.archives = archives[strings.TrimSuffix(e.Name, ".jsonl")]
			s.files = append(s.files, f)
		case e.Info.Kind == storage.Dir && depth < maxDepth:
			_ = s.add(fsys, filepath.Join(dir, e.Name), prefix+e.Name+"/", depth+1)
		}
	}
}

// sessionFile judges a name by its kind alone: a session file is a plain file
// of one link.
func sessionFile(prefix string, e storage.DirEntry) diskFile {
	f := diskFile{name: prefix + e.Name, info: e.Info}
	switch {
	case e.Info.Kind == storage.Symlink:
		f.refused = "is a symbolic link"
	case e.Info.Kind == storage.Dir:
		f.refused = "is a directory"
	case e.Info.Kind != storage.Regular:
		f.refused = "is not a regular file"
	case e.Info.Links > 1:
		f.refused = "has more than one link"
	}
	if f.refused != "" && e.Info.Links <= 1 || e.Info.Kind != storage.Regular {
		f.info = storage.Info{Kind: e.Info.Kind, Dev: e.Info.Dev, Inode: e.Info.Inode}
	}
	return f
}

// digest is a sum of fingerprints that doesn't depend on their order.
type digest [4]uint64

// addFile puts the fingerprints of a session file and its archives in.
func (d *digest) addFile(name string, info *storage.Info, archives []archiveRow, scopeDev uint64, refused string) {
	d.add(name, info, scopeDev, refused)
	for i := range archives {
		info := archives[i].info()
		d.add(archives[i].Name, &info, scopeDev, "")
	}
}

// rows are the archives beside a file.
func (f *diskFile) rows() []archiveRow {
	rows := make([]archiveRow, len(f.archives))
	for i := range rows {
		rows[i] = archiveRowOf(&f.archives[i])
	}
	return rows
}

// add puts one fingerprint in. The device counts only where it isn't the
// scope's, so that a remount, which changes all alike, is seen as one.
func (d *digest) add(name string, info *storage.Info, scopeDev uint64, refused string) {
	var room [256]byte
	b := append(room[:0], name...)
	b = append(b, 0)
	b = append(b, refused...)
	b = append(b, 0)
	for _, n := range [...]uint64{info.Dev - scopeDev, info.Inode, uint64(info.Size), uint64(info.ModTime), uint64(info.ChangeTime)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	for i := range d {
		d[i] += binary.LittleEndian.Uint64(sum[8*i:])
	}
}

func (d *digest) bytes() []byte {
	b := make([]byte, 0, 32)
	for _, n := range d {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

func (s *diskScope) digest() []byte {
	var d digest
	for i := range s.files {
		f := &s.files[i]
		d.addFile(f.name, &f.info, f.rows(), s.dev, f.refused)
	}
	return d.bytes()
}
