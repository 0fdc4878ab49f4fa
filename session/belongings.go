package session

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// belongingEndings are what stands beside a transcript and goes with it, by
// exact name: nothing is found by a pattern, so a neighbour whose name begins
// alike is never touched. The artifacts come first.
func belongingEndings() []string {
	ends := []string{""}
	for _, end := range movedEndings {
		if end != "" && end != ".jsonl" {
			ends = append(ends, end)
		}
	}
	return append(ends, ".leaf.json", ".meta.json")
}

// belonging is one thing that belongs to a transcript, or the transcript.
type belonging struct {
	name  string // in the transcript's directory
	dir   bool
	bytes int64
}

// belongings are the transcript at path and what belongs to it and is there.
// The transcript comes first.
func (s *Store) belongings(ctx context.Context, path string) ([]belonging, error) {
	var all []belonging
	stem := filepath.Base(stemOf(path))
	for _, end := range append([]string{".jsonl"}, belongingEndings()...) {
		name := stem + end
		at := filepath.Join(filepath.Dir(path), name)
		info, err := s.fsys.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		b := belonging{name: name, dir: info.Kind == storage.Dir, bytes: info.Size}
		if b.dir {
			if b.bytes, err = s.treeBytes(ctx, at, 0); err != nil {
				return nil, err
			}
		}
		if b.dir && end != "" {
			continue // not of ours, whatever it is
		}
		all = append(all, b)
	}
	return all, nil
}

func bytesOf(all []belonging) int64 {
	var sum int64
	for _, b := range all {
		sum += b.bytes
	}
	return sum
}

// treeBytes is the length of all files below a directory. No link is followed.
func (s *Store) treeBytes(ctx context.Context, dir string, depth int) (int64, error) {
	if depth > scope.MaxArtifactDepth || ctx.Err() != nil {
		return 0, ctx.Err()
	}
	entries, err := s.fsys.StatDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	var sum int64
	for _, e := range entries {
		switch {
		case err != nil:
		case e.Info.Kind == storage.Dir:
			var n int64
			n, err = s.treeBytes(ctx, filepath.Join(dir, e.Name), depth+1)
			sum += n
		case e.Info.Kind == storage.Regular:
			sum += e.Info.Size
		}
	}
	return sum, err
}

// childInUse reports whether somebody writes a transcript of a subagent, in
// the session's own directory.
func (s *Store) childInUse(path string) error {
	dir := stemOf(path)
	entries, err := s.fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrUnsafe) {
		return nil // none, or a link, which is moved as the link it is
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		child, ok := strings.CutSuffix(strings.TrimPrefix(e.Name, "."), ".lease")
		if !ok || e.Info.Kind != storage.Regular {
			continue
		}
		err := s.inUse(filepath.Join(dir, child+".jsonl"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
