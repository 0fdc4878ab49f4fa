package historycase

import (
	"errors"
	"os"
	"strings"
)

// doFile runs the steps that stand for what people and other programs do to
// files.
func (r *runner) doFile(s step) (any, error) {
	path := r.abs(s.File)
	switch s.Op {
	case "settle":
		return nil, nil
	case "readFile":
		data, err := os.ReadFile(path)
		return string(data), err
	case "ls":
		return names(r.abs(s.Dir))
	case "write":
		return nil, os.WriteFile(path, []byte(text(s.Text)), 0o644)
	case "append":
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(text(s.Text))
		return nil, errors.Join(err, f.Close())
	case "rm":
		return nil, os.RemoveAll(path)
	case "chmod":
		return nil, os.Chmod(path, r.mode(s.Mode))
	case "utimes":
		at := parseTime(r.t, s.At)
		return nil, os.Chtimes(path, at, at)
	}
	r.t.Fatalf("unknown operation %q", s.Op)
	return nil, nil
}

// names are the names in a directory but those of our locks.
func names(dir string) (any, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	all := []any{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			all = append(all, e.Name())
		}
	}
	return all, nil
}
