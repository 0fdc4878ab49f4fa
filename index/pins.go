package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// maxPinBytes bounds what is read of a pin.
const maxPinBytes = 64 << 10

// PinFilter selects pinned sessions. The zero PinFilter is all.
type PinFilter struct {
	Project string    // of this project
	Since   time.Time // pinned at this time or later
	Limit   int       // 0 is no limit
}

// Pinned is a session that is never pruned.
type Pinned struct {
	Row Row
	At  time.Time // when it was pinned; zero if the pin doesn't say
}

// Pins are the pinned sessions, the last pinned first, and how many there are
// without the limit. Damaged sessions are among them. Whatever stands in a
// pin's place pins, also what can't be read.
func (x *Index) Pins(ctx context.Context, f PinFilter) ([]Pinned, int, error) {
	rows, _, err := x.Sessions(ctx, Filter{Project: f.Project, Damaged: DamagedToo, Children: true})
	if err != nil {
		return nil, 0, err
	}
	var all []Pinned
	for row, err := range rows {
		if err != nil {
			return nil, 0, err
		}
		at, pinned, err := x.pinOf(row.Path)
		if err != nil {
			return nil, 0, fmt.Errorf("look for pins: %w", err)
		}
		if pinned && !at.Before(f.Since) {
			all = append(all, Pinned{row, at})
		}
	}
	slices.SortStableFunc(all, func(a, b Pinned) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Row.Path, b.Row.Path))
	})
	total := len(all)
	if f.Limit > 0 {
		all = all[:min(f.Limit, total)]
	}
	return all, total, nil
}

// pinOf looks for the pin of a session file.
func (x *Index) pinOf(path string) (at time.Time, pinned bool, err error) {
	name := session.PinPath(path)
	switch _, err := x.fsys.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return at, false, nil
	case err != nil:
		return at, false, err
	}
	data, err := storage.ReadFile(x.fsys, name, maxPinBytes)
	if err != nil {
		return at, true, nil // it pins all the same
	}
	v, _, err := jsonl.Parse(data)
	if err != nil {
		return at, true, nil
	}
	if ms, ok := jsonl.ParseDate(v.Get("pinned").Str()); ok {
		at = time.UnixMilli(int64(ms)).UTC()
	}
	return at, true, nil
}
