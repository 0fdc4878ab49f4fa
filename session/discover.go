package session

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// transcriptFiles are the session files directly in dir, in the directory's
// order, and what has a session's name and is none. A missing directory has
// none. Decision 9.
func (s *Store) transcriptFiles(dir string) ([]storage.DirEntry, []LeftOut, error) {
	all, err := throughLinks(dir, s.fsys.StatDir)
	if err != nil {
		return nil, nil, err
	}
	var left []LeftOut
	files := slices.DeleteFunc(all, func(e storage.DirEntry) bool {
		if !scope.IsTranscriptName(e.Name) {
			return true
		}
		reason := notPlain(e.Info)
		if reason != "" {
			left = append(left, LeftOut{Path: filepath.Join(dir, e.Name), Reason: reason})
		}
		return reason != ""
	})
	return files, left, nil
}

// ListDir lists the sessions of one directory, the latest modified first,
// from the beginnings and ends of its files. Orphaned backups are promoted
// first. A missing directory is an empty list. Source: behaviour part 15.
func (s *Store) ListDir(ctx context.Context, dir string) (Listing, error) {
	stuck, err := s.promoteBackups(dir)
	if err != nil {
		return Listing{}, err
	}
	l, err := s.ScanDir(ctx, dir)
	l.LeftOut = append(l.LeftOut, stuck...)
	return l, err
}

// ScanDir is ListDir that changes nothing on disk: orphaned backups stay.
func (s *Store) ScanDir(ctx context.Context, dir string) (Listing, error) {
	files, left, err := s.transcriptFiles(dir)
	if err != nil {
		return Listing{}, err
	}
	l := Listing{LeftOut: left}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, f.Name)
	}
	if err := s.addRows(ctx, &l, paths); err != nil {
		return Listing{}, err
	}
	sortByModified(l.Sessions)
	return l, nil
}

// addRows reads the rows of files, in their order, several at once.
func (s *Store) addRows(ctx context.Context, l *Listing, paths []string) error {
	rows, errs := make([]Info, len(paths)), make([]error, len(paths))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(paths)/rowsPerWorker+1, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(paths) || ctx.Err() != nil {
					return
				}
				rows[i], errs[i] = readInfo(ctx, s.fsys, paths[i])
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i, path := range paths {
		if errs[i] != nil {
			l.LeftOut = append(l.LeftOut, leftOut(path, errs[i]))
			continue
		}
		l.Sessions = append(l.Sessions, rows[i])
	}
	return nil
}

// rowsPerWorker is how many rows are worth a goroutine of their own.
const rowsPerWorker = 16

func sortByModified(rows []Info) {
	slices.SortStableFunc(rows, func(a, b Info) int {
		return cmp.Compare(b.Modified.UnixMilli(), a.Modified.UnixMilli())
	})
}
