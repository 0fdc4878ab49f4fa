package session

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// promoteBackups gives each session file of dir that is missing the newest of
// its backups, `<name>.jsonl.<x>.bak`, which a crash between two renames
// leaves. Others stay. One that can't be renamed is left out.
// Source: behaviour part 15.
func (s *Store) promoteBackups(dir string) ([]LeftOut, error) {
	all, err := throughLinks(dir, s.fsys.StatDir)
	if err != nil {
		return nil, err
	}
	present := map[string]bool{}
	newest := map[string]storage.DirEntry{}
	for _, e := range all {
		present[e.Name] = true
		primary, ok := backupOf(e.Name)
		if !ok || e.Info.Kind != storage.Regular {
			continue
		}
		best, ok := newest[primary]
		if !ok || cmp.Or(cmp.Compare(e.Info.ModTime, best.Info.ModTime), cmp.Compare(e.Name, best.Name)) > 0 {
			newest[primary] = e
		}
	}
	var left []LeftOut
	for primary, e := range newest {
		if present[primary] {
			continue
		}
		backup := filepath.Join(dir, e.Name)
		err := s.fsys.RenameNoReplace(backup, filepath.Join(dir, primary))
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, LeftOut{Path: backup, Reason: "is a backup that can't take the place of its session: " + reasonOf(err)})
		}
	}
	return left, nil
}

// backupOf is the session file that a backup's name names.
func backupOf(name string) (primary string, ok bool) {
	if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".bak") {
		return "", false
	}
	primary, x, ok := strings.Cut(strings.TrimSuffix(name, ".bak"), ".jsonl.")
	return primary + ".jsonl", ok && primary != "" && x != ""
}
