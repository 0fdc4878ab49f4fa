package session

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

// RecentSession is a row of Recent.
type RecentSession struct {
	Path     string
	Modified time.Time
	Name     string // the first line of the title, or of the first prompt; "" if there is neither
	Created  time.Time
}

// RecentListing is what Recent found and what it passed over on the way.
type RecentListing struct {
	Sessions []RecentSession
	LeftOut  []LeftOut
}

// Label is the name, or "Untitled · hh:mm AM" in the created time's zone.
func (r RecentSession) Label(zone *time.Location) string {
	if r.Name != "" {
		return r.Name
	}
	return "Untitled · " + r.Created.In(zone).Format("03:04 PM")
}

// Recent lists at most limit sessions of dir by file time, the newest first,
// ties by path, and reads no more files than it must. Orphaned backups are
// promoted first. A missing directory is an empty list.
// Source: behaviour part 15, decisions 9 and 12.
func (s *Store) Recent(ctx context.Context, dir string, limit int) (RecentListing, error) {
	if limit <= 0 {
		return RecentListing{}, nil
	}
	stuck, err := s.promoteBackups(dir)
	if err != nil {
		return RecentListing{}, err
	}
	files, left, err := s.transcriptFiles(dir)
	if err != nil {
		return RecentListing{}, err
	}
	sortNewest(files)
	l := RecentListing{LeftOut: append(left, stuck...)}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		in, err := readInfo(ctx, s.fsys, path)
		if ctx.Err() != nil {
			return RecentListing{}, ctx.Err()
		}
		if err != nil {
			l.LeftOut = append(l.LeftOut, leftOut(path, err))
			continue
		}
		l.Sessions = append(l.Sessions, RecentSession{Path: in.Path, Modified: in.Modified, Name: in.recentName(), Created: in.Created})
		if len(l.Sessions) == limit {
			break
		}
	}
	return l, nil
}

// sortNewest sorts by file time, the newest first, ties by name.
func sortNewest(files []storage.DirEntry) {
	slices.SortFunc(files, func(a, b storage.DirEntry) int {
		return cmp.Or(cmp.Compare(b.Info.ModTime, a.Info.ModTime), cmp.Compare(a.Name, b.Name))
	})
}

// MostRecent is the path of the session of dir with the newest file time; ""
// if there is none.
func (s *Store) MostRecent(ctx context.Context, dir string) (string, error) {
	l, err := s.Recent(ctx, dir, 1)
	if err != nil || len(l.Sessions) == 0 {
		return "", err
	}
	return l.Sessions[0].Path, nil
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
