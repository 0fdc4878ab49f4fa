package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// marks are the blobs that some file refers to. Files are searched as bytes,
// whatever they are and whatever state they are in: a damaged session, a copy
// that was set aside or a half-written line keeps its blobs too.
type marks struct {
	st *Store

	known func(path string, info storage.Info) ([][32]byte, bool) // may be nil
	knew  int                                                     // files that it knew

	mu   sync.Mutex
	seen map[blob.Ref]bool
	done map[string]fileMark // searched files, by path
	errs []error
}

// fileMark tells whether a file is as it was when it was searched.
type fileMark struct{ size, mtime, ctime int64 }

func markOf(i storage.Info) fileMark { return fileMark{i.Size, i.ModTime, i.ChangeTime} }

// job is a file to be searched.
type job struct {
	path string
	info storage.Info
}

// gather searches every file under the roots that was not searched yet, or
// has changed since. It reports how many there were. A file that can't be read
// is an error: nobody knows what it refers to.
func (m *marks) gather(ctx context.Context, roots []markRoot) (files int, err error) {
	jobs := make(chan job)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			buf := make([]byte, markBuffer)
			for j := range jobs {
				if err := m.file(ctx, j, buf); err != nil {
					m.mu.Lock()
					m.errs = append(m.errs, err)
					m.mu.Unlock()
				}
			}
		})
	}
	w := &markWalk{m: m, ctx: ctx, jobs: jobs, links: map[string]bool{}}
	for _, root := range roots {
		if err = w.directory(root.dir, 0, root.shallow); err != nil {
			break
		}
	}
	close(jobs)
	workers.Wait()
	return w.files, errors.Join(append(m.errs, err)...)
}

// markRoot is a directory in which references may stand.
type markRoot struct {
	dir     string
	shallow bool // only transcripts right in it, and what belongs to them
}

// markWalk goes through directories.
type markWalk struct {
	m     *marks
	ctx   context.Context
	jobs  chan<- job
	links map[string]bool
	files int
}

// maxMarkDepth bounds how deep directories are searched; a deeper one is an
// error, since what is below it is not known.
const maxMarkDepth = 64

func (w *markWalk) directory(dir string, depth int, shallow bool) error {
	if depth > maxMarkDepth {
		return fmt.Errorf("%s: %w: deeper than %d", dir, storage.ErrTooLarge, maxMarkDepth)
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := throughLinks(dir, w.m.st.fsys.StatDir)
	if err != nil {
		return err
	}
	stems := map[string]bool{}
	for _, e := range entries {
		stems[strings.TrimSuffix(e.Name, ".jsonl")] = strings.HasSuffix(e.Name, ".jsonl")
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name)
		transcript := strings.Contains(e.Name, ".jsonl") || strings.Contains(e.Name, ".ndjson")
		switch e.Info.Kind {
		case storage.Dir:
			if strings.HasSuffix(e.Name, blobTrash) || shallow && !stems[e.Name] {
				continue
			}
			err = w.directory(path, depth+1, false)
		case storage.Regular:
			if shallow && !transcript {
				continue
			}
			w.file(path, e.Info)
		case storage.Symlink:
			if !shallow {
				err = w.link(path, depth)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link searches what a symbolic link leads to, each once.
func (w *markWalk) link(path string, depth int) error {
	real, err := storage.RealPath(path)
	if err != nil || w.links[real] {
		return nil // it leads to nothing
	}
	w.links[real] = true
	info, err := w.m.st.fsys.Lstat(real)
	switch {
	case err != nil:
		return nil
	case info.Kind == storage.Dir:
		return w.directory(real, depth+1, false)
	case info.Kind == storage.Regular:
		w.file(real, info)
	}
	return nil
}

func (w *markWalk) file(path string, info storage.Info) {
	if info.Size < int64(len(refMark)+2*32) {
		return
	}
	w.m.mu.Lock()
	known, ok := w.m.done[path]
	w.m.done[path] = markOf(info)
	w.m.mu.Unlock()
	if ok && known == markOf(info) {
		return
	}
	if w.m.knows(path, info) {
		return
	}
	w.files++
	w.jobs <- job{path, info}
}

// knows marks what a file names if that is known without a search.
func (m *marks) knows(path string, info storage.Info) bool {
	if m.known == nil {
		return false
	}
	sums, ok := m.known(path, info)
	if !ok {
		return false
	}
	m.knew++
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, sum := range sums {
		m.seen[blob.RefOfSum(sum)] = true
	}
	return true
}

const markBuffer = 1 << 20 // bytes read at once

// file searches one file.
func (m *marks) file(ctx context.Context, j job, buf []byte) error {
	f, err := m.st.fsys.Open(j.path)
	if missing(err) {
		return nil // moved or removed meanwhile; the next round finds it
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	if strings.HasSuffix(j.path, ".zst") {
		return m.compressed(ctx, f, buf)
	}
	return m.search(ctx, f, buf)
}

// compressed searches what a compressed file holds. Of an archive that is all
// of its runs, also behind one that a crash cut off.
func (m *marks) compressed(ctx context.Context, f storage.File, buf []byte) error {
	if strings.HasSuffix(f.Name(), archiveEnding+packedEnding) {
		return m.packed(ctx, f, buf)
	}
	if m.st.opt.Unzstd == nil {
		return fmt.Errorf("%s: is compressed and can't be searched", f.Name())
	}
	if r, err := m.st.opt.Unzstd(f); err == nil {
		_ = errors.Join(m.search(ctx, r, buf), r.Close()) // what can't be read refers to nothing: it is an artifact
	}
	return ctx.Err()
}

func (m *marks) packed(ctx context.Context, f storage.File, buf []byte) error {
	parts, err := packedParts(f)
	if err != nil {
		return err
	}
	text := &archiveText{a: &archiveFile{f: f, packed: true, parts: parts}}
	defer text.closePart()
	return m.search(ctx, text, buf)
}

func (m *marks) search(ctx context.Context, r io.Reader, buf []byte) error {
	found := RefSearch{Found: func(sum [32]byte) {
		ref := blob.RefOfSum(sum)
		m.mu.Lock()
		m.seen[ref] = true
		m.mu.Unlock()
	}}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf)
		_, _ = found.Write(buf[:n]) // never fails
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// markRoots are the directories in which references may stand: all sessions of
// the home, what was deleted, exports, what workspaces keep of their own, the
// directories that terminals had sessions in, and those that the caller names.
func (s *Store) markRoots(ctx context.Context, extra []string) ([]markRoot, error) {
	h := s.opt.Home
	roots := []markRoot{{dir: h.Sessions()}, {dir: h.Trash()}, {dir: filepath.Join(h.Dir(), "exports")}}
	for _, dir := range extra {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		real, err := storage.RealPath(dir)
		if err != nil {
			return nil, err // a directory that is not there was not meant
		}
		roots = append(roots, markRoot{dir: real})
	}
	for sc, err := range scope.All(ctx, s.fsys, h) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // its files are searched all the same
		}
		paths, _, err := s.projectLocal(ctx, sc.Canonical)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			roots = append(roots, markRoot{filepath.Dir(path), true})
		}
	}
	crumbs, err := s.crumbDirs()
	return append(roots, crumbs...), err
}

// crumbDirs are the directories of the sessions that terminals had last.
func (s *Store) crumbDirs() ([]markRoot, error) {
	entries, err := readDir(s.fsys, s.opt.Home.Breadcrumbs())
	if err != nil {
		return nil, err
	}
	var dirs []markRoot
	for _, e := range entries {
		if e.Info.Kind != storage.Regular {
			continue
		}
		text, err := storage.ReadFile(s.fsys, filepath.Join(s.opt.Home.Breadcrumbs(), e.Name), maxBreadcrumb)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) < 2 || !filepath.IsAbs(lines[1]) || !strings.HasSuffix(lines[1], ".jsonl") {
			continue
		}
		dirs = append(dirs, markRoot{filepath.Dir(lines[1]), true})
	}
	return dirs, nil
}
