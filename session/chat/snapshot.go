package chat

import (
	"fmt"
	"strconv"
	"strings"
)

// SnapshotID names the state of a chat that pages are taken from. It is
// comparable.
type SnapshotID struct {
	Session  string
	Revision int64
}

// String is the id as it goes over a wire.
func (id SnapshotID) String() string { return strconv.FormatInt(id.Revision, 10) + "@" + id.Session }

// ParseSnapshotID reads what String wrote.
func ParseSnapshotID(s string) (SnapshotID, error) {
	revision, session, ok := strings.Cut(s, "@")
	n, err := strconv.ParseInt(revision, 10, 64)
	if !ok || err != nil {
		return SnapshotID{}, fmt.Errorf("no snapshot id: %w", ErrStale)
	}
	return SnapshotID{session, n}, nil
}

// The bounds of a page.
const (
	MaxPageItems = 200
	MaxPageBytes = 1 << 20
)

// Page is some items of a snapshot.
type Page struct {
	Snapshot SnapshotID
	Items    []Item
	From     int // place of the first item
	Total    int // items of the snapshot
}

// Snapshot is the id of the chat as it is now.
func (c *Chat) Snapshot() SnapshotID { return SnapshotID{c.opt.Session, c.revision} }

// Page gives up to limit items from a place on; a negative place counts from
// the end. A page has at most MaxPageItems and about MaxPageBytes, but at least
// one item if there is one. ErrStale: the chat has changed since the snapshot.
func (c *Chat) Page(id SnapshotID, from, limit int) (Page, error) {
	if id != c.Snapshot() {
		return Page{}, ErrStale
	}
	return PageOf(id, c.Items(), from, limit), nil
}

// PageOf is the page of items that Page gives.
func PageOf(id SnapshotID, items []Item, from, limit int) Page {
	if from < 0 {
		from += len(items)
	}
	from = min(max(from, 0), len(items))
	if limit <= 0 || limit > MaxPageItems {
		limit = MaxPageItems
	}
	to, size := from, 0
	for to < len(items) && to-from < limit {
		if size += items[to].size(); size > MaxPageBytes && to > from {
			break
		}
		to++
	}
	return Page{Snapshot: id, Items: items[from:to:to], From: from, Total: len(items)}
}

// Settled reports whether there are n items and the entries so far settle what
// they say: the turn after theirs has begun, no tool of theirs is at work and no
// message of theirs is in pieces. So a page of them can be shown before the rest
// of the path is read. Previews are bounded among those that were read.
func (c *Chat) Settled(n int) bool {
	turn, seen := "", 0
	for i := range c.slots {
		s := &c.slots[i]
		live := s.stream != nil && c.streams[s.stream.display] == s.stream
		switch {
		case s.stream != nil && !live:
			continue // a final message has come
		case seen == n:
			if s.item.Turn != turn {
				return true
			}
			continue
		case live, s.item.Tool != nil && s.item.Tool.State == Running:
			return false
		}
		turn = s.item.Turn
		seen++
	}
	return false
}

// size is about how many bytes an item is worth.
func (i *Item) size() int {
	n := len(i.Text) + 256
	if i.Tool != nil && i.Tool.Preview != nil {
		for _, line := range i.Tool.Preview.Lines {
			n += len(line) + 4
		}
	}
	return n
}
