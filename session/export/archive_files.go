package export

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// belonging is a file of a session and its name below the session's directory.
type belonging struct{ path, name string }

// besides are the endings of the files beside a transcript that say what it
// doesn't. What is made from it, or about it in its place, is left out.
var besides = [...]string{".archive.ndjson", ".archive.ndjson.zst", ".psm.ndjson"}

// belongings are the files of a session, the transcript last.
func belongings(fsys storage.FS, transcript string) ([]belonging, error) {
	base := filepath.Base(transcript)
	stem := strings.TrimSuffix(transcript, ".jsonl")
	var files []belonging
	for _, end := range besides {
		info, err := fsys.Lstat(stem + end)
		if err == nil && info.Kind == storage.Regular {
			files = append(files, belonging{stem + end, filepath.Base(stem + end)})
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	files, err := below(fsys, files, stem, filepath.Base(stem), 0)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return append(files, belonging{transcript, base}), err
}

// below adds the files under a directory. Links and devices are no session's.
func below(fsys storage.FS, files []belonging, dir, name string, depth int) ([]belonging, error) {
	if info, err := fsys.Lstat(dir); err != nil || info.Kind != storage.Dir || depth > maxNameParts/2 {
		return files, err
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return files, err
	}
	for _, e := range entries {
		if isMade(e.Name) {
			continue
		}
		path, name := filepath.Join(dir, e.Name), name+"/"+e.Name
		switch e.Info.Kind {
		case storage.Regular:
			files = append(files, belonging{path, name})
		case storage.Dir:
			if files, err = below(fsys, files, path, name, depth+1); err != nil {
				return files, err
			}
		}
	}
	return files, nil
}

// isMade tells files that are made anew where they are missing, or speak of
// their place.
func isMade(name string) bool {
	_, temporary := storage.TempOf(name)
	for _, end := range []string{".lease", ".meta.json", ".leaf.json", ".psm.status.json"} {
		temporary = temporary || strings.HasSuffix(name, end)
	}
	return temporary
}

// namer makes names without secrets, each different from the others.
type namer struct {
	redact  func(string) (string, int)
	taken   map[string]bool
	secrets *int
}

func (n *namer) text(s string) string {
	if n.redact == nil {
		return s
	}
	s, found := n.redact(s)
	*n.secrets += found
	return s
}

func (n *namer) name(s string) string {
	made := n.text(s)
	if made != s {
		made = strings.NewReplacer("[", "_", "]", "_").Replace(made)
	}
	ext := filepath.Ext(made)
	for i, base := 2, strings.TrimSuffix(made, ext); n.taken[made]; i++ {
		made = fmt.Sprintf("%s-%d%s", base, i, ext)
	}
	n.taken[made] = true
	return made
}
