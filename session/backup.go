package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// promoteBackups gives each primary that is missing the newest of its backups,
// `<primary>.jsonl.<x>.bak`, which a crash between two renames leaves. Others
// stay. Source: behaviour part 15.
func (s *Store) promoteBackups(dir string) error {
	all, err := throughLinks(dir, s.fsys.StatDir)
	if err != nil {
		return err
	}
	present := map[string]bool{}
	newest := map[string]storage.DirEntry{}
	for _, e := range all {
		present[e.Name] = true
		primary, ok := backupOf(e.Name)
		if !ok || e.Info.Kind != storage.Regular {
			continue
		}
		if best, ok := newest[primary]; !ok || e.Info.ModTime > best.Info.ModTime {
			newest[primary] = e
		}
	}
	for primary, e := range newest {
		if present[primary] {
			continue
		}
		err := s.fsys.RenameNoReplace(filepath.Join(dir, e.Name), filepath.Join(dir, primary))
		if err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("promote backup %s: %w", e.Name, err)
		}
	}
	return nil
}

// backupOf is the session file that a backup's name names.
func backupOf(name string) (primary string, ok bool) {
	if strings.HasPrefix(name, ".") || !strings.HasSuffix(name, ".bak") {
		return "", false
	}
	primary, x, ok := strings.Cut(strings.TrimSuffix(name, ".bak"), ".jsonl.")
	return primary + ".jsonl", ok && primary != "" && x != ""
}
