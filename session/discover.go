package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// IsTranscriptName reports whether a file of this name can be a session file:
// *.jsonl and no dotfile. Decision 9.
func IsTranscriptName(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// transcriptFiles are the session files directly in dir, in the directory's
// order. A missing directory has none.
func transcriptFiles(fsys storage.FS, dir string) ([]storage.DirEntry, error) {
	all, err := fsys.StatDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(e storage.DirEntry) bool {
		return !IsTranscriptName(e.Name) || e.Info.Kind != storage.Regular || e.Info.Links > 1
	}), nil
}

// ListDir lists the sessions of one directory, the latest modified first,
// from the beginnings and ends of its files. Orphaned backups are promoted
// first. A missing directory is an empty list. Source: behaviour part 15.
func (s *Store) ListDir(ctx context.Context, dir string) (Listing, error) {
	if err := s.promoteBackups(dir); err != nil {
		return Listing{}, err
	}
	return s.ScanDir(ctx, dir)
}

// ScanDir is ListDir that changes nothing on disk: orphaned backups stay.
func (s *Store) ScanDir(ctx context.Context, dir string) (Listing, error) {
	files, err := transcriptFiles(s.fsys, dir)
	if err != nil {
		return Listing{}, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = filepath.Join(dir, f.Name)
	}
	return s.listPaths(ctx, paths)
}

// listPaths reads the rows of files and sorts them, the latest modified first.
func (s *Store) listPaths(ctx context.Context, paths []string) (Listing, error) {
	var l Listing
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return Listing{}, err
		}
		in, err := readInfo(ctx, s.fsys, path)
		if err != nil {
			l.LeftOut = append(l.LeftOut, LeftOut{Path: path, Reason: err.Error()})
			continue
		}
		l.Sessions = append(l.Sessions, in)
	}
	sortByModified(l.Sessions)
	return l, nil
}

func sortByModified(rows []Info) {
	slices.SortStableFunc(rows, func(a, b Info) int {
		return cmp.Compare(b.Modified.UnixMilli(), a.Modified.UnixMilli())
	})
}

// RecentSession is a row of Recent.
type RecentSession struct {
	Path     string
	Modified time.Time
	Name     string // the first line of the title, or of the first prompt; "" if there is neither
	Created  time.Time
}

// Label is the name, or "Untitled · hh:mm AM" in the created time's zone.
func (r RecentSession) Label(zone *time.Location) string {
	if r.Name != "" {
		return r.Name
	}
	return "Untitled · " + r.Created.In(zone).Format("03:04 PM")
}

// Recent lists at most limit sessions of dir by file time, the newest first,
// ties by path, and reads no more files than it must.
// Source: behaviour part 15, decisions 9 and 12.
func (s *Store) Recent(ctx context.Context, dir string, limit int) ([]RecentSession, error) {
	if limit <= 0 {
		return nil, nil
	}
	if err := s.promoteBackups(dir); err != nil {
		return nil, err
	}
	files, err := transcriptFiles(s.fsys, dir)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b storage.DirEntry) int {
		return cmp.Or(cmp.Compare(b.Info.ModTime, a.Info.ModTime), cmp.Compare(a.Name, b.Name))
	})
	var rows []RecentSession
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, err := readInfo(ctx, s.fsys, filepath.Join(dir, f.Name))
		if err != nil {
			continue // damaged or newer: List names it
		}
		rows = append(rows, RecentSession{Path: in.Path, Modified: in.Modified, Name: in.recentName(), Created: in.Created})
		if len(rows) == limit {
			break
		}
	}
	return rows, nil
}

// MostRecent is the path of the session of dir with the newest file time; ""
// if there is none.
func (s *Store) MostRecent(ctx context.Context, dir string) (string, error) {
	rows, err := s.Recent(ctx, dir, 1)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0].Path, nil
}

// displayLine is the first line of text without control characters and the
// white space around.
func displayLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.Map(func(r rune) rune {
			if r < 0x20 || (r >= 0x7f && r <= 0x9f) {
				return -1
			}
			return r
		}, line)
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
