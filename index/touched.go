package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// TouchedRow is a session that is proven to have changed a file, or files
// below a directory.
type TouchedRow struct {
	Row   Row
	Files []jsonl.EffectPath // as the session names them
}

// Touched is what Touched found. Failed are files that could not be searched.
type Touched struct {
	Sessions []TouchedRow
	Failed   []Failure
}

// Touched finds the sessions whose tool results prove that they changed the
// file at path, or anything below it, the last active first. Of each session
// file, and its archive, only the bytes are searched for the file's name; those
// that hold it are read whole.
func (x *Index) Touched(ctx context.Context, path string) (Touched, error) {
	rows, _, err := x.Sessions(ctx, Filter{Children: true})
	if err != nil {
		return Touched{}, err
	}
	var all []TouchedRow
	for row, err := range rows {
		if err != nil {
			return Touched{}, err
		}
		all = append(all, TouchedRow{Row: row})
	}
	t := &touchSearch{x: x, path: filepath.Clean(path), store: session.NewStore(x.fsys, session.Options{Home: x.home})}
	errs := make([]error, len(all))
	jobs := make(chan int)
	var workers sync.WaitGroup
	for range max(1, x.opt.Workers) {
		workers.Go(func() {
			buf := make([]byte, 256<<10)
			for i := range jobs {
				all[i].Files, errs[i] = t.file(ctx, &all[i].Row, buf)
			}
		})
	}
	for i := range all {
		if ctx.Err() != nil {
			break
		}
		jobs <- i
	}
	close(jobs)
	workers.Wait()
	if ctx.Err() != nil {
		return Touched{}, ctx.Err()
	}
	var found Touched
	for i, err := range errs {
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			found.Failed = append(found.Failed, Failure{Path: all[i].Row.Path, Reason: reasonOf(err)})
		case len(all[i].Files) > 0:
			found.Sessions = append(found.Sessions, all[i])
		}
	}
	return found, nil
}

// touchSearch looks for changes of one file.
type touchSearch struct {
	x     *Index
	path  string
	store *session.Store
}

func (t *touchSearch) file(ctx context.Context, row *Row, buf []byte) ([]jsonl.EffectPath, error) {
	found := false
	for _, name := range []string{row.Path, session.ArchivePath(row.Path)} {
		holds, err := t.holds(ctx, name, row.Cwd, buf)
		if err != nil && (!errors.Is(err, fs.ErrNotExist) || name == row.Path) {
			return nil, err
		}
		found = found || holds
	}
	if !found {
		return nil, nil
	}
	effects, err := t.store.Effects(ctx, row.Path)
	if err != nil {
		return nil, err
	}
	var files []jsonl.EffectPath
	for _, p := range effects.Paths {
		if t.covers(session.EffectFile(row.Cwd, p.Path)) {
			files = append(files, p)
		}
	}
	return files, nil
}

// covers reports whether a file is the one looked for, or below it.
func (t *touchSearch) covers(file string) bool {
	return file == t.path || strings.HasPrefix(file, strings.TrimSuffix(t.path, string(filepath.Separator))+string(filepath.Separator))
}

// holds reports whether a file's bytes hold what a change of the file looked
// for must hold: its name, unless that has characters that JSON may write
// otherwise, or unless it is a directory above the session's own.
func (t *touchSearch) holds(ctx context.Context, name, cwd string, buf []byte) (bool, error) {
	needle := []byte(filepath.Base(t.path))
	plain := strings.IndexFunc(string(needle), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) < 0
	f, err := t.x.fsys.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // was only read
	if !plain || t.covers(filepath.Clean(cwd)) {
		return true, nil
	}
	return contains(ctx, f, needle, buf)
}

func contains(ctx context.Context, f storage.File, needle, buf []byte) (bool, error) {
	kept := 0
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		n, err := io.ReadFull(f, buf[kept:])
		if bytes.Contains(buf[:kept+n], needle) {
			return true, nil
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		kept = copy(buf, buf[len(buf)-min(len(needle), len(buf)):])
	}
}
