package session

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// logLine is one line of the prune log.
type logLine struct {
	action string // trashed, deleted or restored
	said   jsonl.Value
	dir    string // the name in the trash
}

// lineOf is the log line of a removal that a manifest tells of.
func lineOf(manifest jsonl.Value, dir string) logLine {
	l := logLine{action: "trashed", said: manifest, dir: filepath.Base(dir)}
	if manifest.Get("permanent").Bool() {
		l.action = "deleted"
	}
	return l
}

// appendLog writes lines to the prune log and syncs it.
func (s *Store) appendLog(lines []logLine) error {
	if len(lines) == 0 {
		return nil
	}
	var text []byte
	for _, l := range lines {
		o := jsonl.NewObj(
			jsonl.Member{Key: "time", Value: jsonl.StringValue(s.timestamp())},
			jsonl.Member{Key: "action", Value: jsonl.StringValue(l.action)},
		)
		for _, key := range []string{"session", "title", "path", "lastActive", "reason", "bytes"} {
			name := key
			if key == "session" {
				name = "id"
			}
			value := l.said.Get(key)
			if key == "path" {
				value = jsonl.StringValue(s.fromHome(value.Str()))
			}
			o.Set(name, value)
		}
		o.Set("trash", jsonl.StringValue(l.dir))
		text = append(jsonl.AppendJSON(text, jsonl.ObjectValue(o)), '\n')
	}
	name := s.opt.Home.PruneLog()
	f, err := s.fsys.Append(name)
	made := missing(err)
	if made {
		if f, err = s.fsys.Create(name); err == nil {
			if err = f.Close(); err == nil {
				f, err = s.fsys.Append(name)
			}
		}
	}
	if err != nil {
		return err
	}
	tail, _, err := storage.ReadTail(s.fsys, name, 1)
	if err == nil && len(tail) > 0 && tail[0] != '\n' {
		text = append([]byte{'\n'}, text...) // law 4: a line that a crash cut off
	}
	if err == nil {
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && made {
		err = s.fsys.SyncDir(filepath.Dir(name))
	}
	return err
}

// logTail is how much of the prune log is looked through for what was logged.
const logTail = 4 << 20

// logged reports whether the prune log tells of a removal.
func (s *Store) logged(l logLine) (bool, error) {
	tail, _, err := storage.ReadTail(s.fsys, s.opt.Home.PruneLog(), logTail)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	mark := []byte(`"trash":"` + l.dir + `"`)
	for line := range bytes.Lines(tail) {
		if bytes.HasSuffix(line, []byte("}\n")) && bytes.Contains(line, mark) && bytes.Contains(line, []byte(`"action":"`+l.action+`"`)) {
			return true, err
		}
	}
	return false, err
}
