package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// recover finds what the next free event id is where the sequence file is
// missing: 1 in a store without ids, else well above the highest one in any
// file that may hold one. Source: ARCHITECTURE, "Writing".
func (q *sequence) recover(ctx context.Context, dir string) (uint64, error) {
	var highest uint64
	for _, root := range []string{q.home.Sessions(), q.home.Trash(), dir} {
		if root == "" {
			continue
		}
		h, err := highestUnder(ctx, q.fsys, root, 0)
		if err != nil {
			return 0, err
		}
		highest = max(highest, h)
	}
	if highest == 0 {
		return 1, nil
	}
	return highest + eventGap, nil
}

// searchDepth bounds how deep below a directory event ids are looked for.
const searchDepth = 16

func highestUnder(ctx context.Context, fsys storage.FS, dir string, depth int) (uint64, error) {
	list, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrUnsafe) || depth > searchDepth {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var highest uint64
	for _, e := range list {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		at := filepath.Join(dir, e.Name)
		var h uint64
		switch {
		case e.Info.Kind == storage.Dir:
			h, err = highestUnder(ctx, fsys, at, depth+1)
		case e.Info.Kind == storage.Regular && mayHoldEventIDs(e.Name):
			h, err = highestIn(ctx, fsys, at)
		}
		if err != nil {
			return 0, err
		}
		highest = max(highest, h)
	}
	return highest, nil
}

// mayHoldEventIDs tells transcripts, archives, psm logs and metadata, also
// those that were set aside, from artifacts.
func mayHoldEventIDs(name string) bool {
	for _, mark := range []string{".jsonl", ".ndjson", ".meta.json"} {
		if strings.Contains(name, mark) {
			return true
		}
	}
	return false
}

// eventMarks are how an event id and the highest one of a metadata sidecar
// begin.
var eventMarks = [][]byte{[]byte(`"event_id":"`), []byte(`"highestEventId":"`)}

// highestIn looks for event ids as bytes, so that a damaged line hides none.
func highestIn(ctx context.Context, fsys storage.FS, path string) (uint64, error) {
	f, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrUnsafe) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // was only read
	const keep = 64                  // more than a mark and its number
	buf := make([]byte, 0, 256<<10)
	var highest uint64
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for _, mark := range eventMarks {
			highest = max(highest, highestAfter(buf, mark))
		}
		if errors.Is(err, io.EOF) || (n == 0 && err == nil) {
			return highest, nil
		}
		if err != nil {
			return 0, err
		}
		if len(buf) > keep {
			buf = buf[:copy(buf, buf[len(buf)-keep:])]
		}
	}
}

func highestAfter(data, mark []byte) uint64 {
	var highest uint64
	f := jsonl.NewFinder(mark)
	for {
		i := f.Index(data)
		if i < 0 {
			return highest
		}
		data = data[i+len(mark):]
		if len(data) < eventWidth {
			return highest
		}
		if id, ok := jsonl.ParseEventID(string(data[:eventWidth])); ok {
			highest = max(highest, uint64(id))
		}
	}
}
