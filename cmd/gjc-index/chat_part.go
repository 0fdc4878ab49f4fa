package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/chat"
)

// How a page of a huge session is read: from the beginning as far as it is
// settled, or from some way before the end.
const (
	partEntries = 64   // read at a time
	partAhead   = 2000 // are read at most to settle a page
	partBefore  = 64   // before a page from the end, since a result may be of a call there
)

// pageInPart is a page of a huge session, of which no more is read than that
// page needs. ok is false where the index can't tell the path, or the session
// has archived entries: all of it must be read.
func (a *app) pageInPart(ctx context.Context, x *index.Index, row index.Row, f chatFlags) (p chat.Page, ok bool, err error) {
	if row.Size < a.huge || row.State != index.StateOK || row.Damage != "" || row.Estimated || row.Version < 3 || row.Entries == 0 {
		return p, false, nil
	}
	if _, _, archived, err := session.FindArchive(a.fsys, row.Path); err != nil || archived {
		return p, false, nil
	}
	opt, err := a.chatOptions(row, f)
	if err != nil {
		return p, false, err
	}
	path, err := x.Path(ctx, row.Path, f.leaf)
	if err != nil {
		return p, false, ctx.Err()
	}
	defer func() { err = errors.Join(err, path.Close()) }()
	limit := f.limit
	if limit <= 0 || limit > chat.MaxPageItems {
		limit = chat.MaxPageItems
	}
	part := chatPart{path: path, opt: opt}
	if f.from < 0 {
		p, err = part.last(ctx, -f.from, limit)
	} else {
		p, err = part.first(ctx, f.from, limit)
	}
	if err != nil {
		return p, false, a.partError(ctx, row, err)
	}
	p.Snapshot = chat.SnapshotID{Session: row.ID, Revision: opt.Revision + int64(path.Len())} // as of the whole path
	return p, true, nil
}

// partError is nil for a file that was written anew meanwhile: it is read whole.
func (a *app) partError(ctx context.Context, row index.Row, err error) error {
	if ctx.Err() != nil || errors.Is(err, index.ErrStale) {
		return ctx.Err()
	}
	return fmt.Errorf("read %s: %s%w", row.Path, cause(err), silent{err})
}

// chatPart makes pages of a part of a path.
type chatPart struct {
	path *index.Path
	opt  chat.Options
}

// first is a page that begins at a place counted from the beginning.
func (p chatPart) first(ctx context.Context, from, limit int) (chat.Page, error) {
	c := chat.New(p.opt)
	at, enough, look := 0, 0, 0
	for at < p.path.Len() {
		if at >= look { // not after each part: the items are gone over each time
			look = at + max(partEntries, at/4)
			if enough == 0 && len(c.Items()) > from+limit {
				enough = at
			}
			if c.Settled(from+limit) || enough > 0 && at-enough > partAhead {
				break
			}
		}
		entries, err := p.path.Entries(ctx, at, min(at+partEntries, p.path.Len()))
		if err != nil {
			return chat.Page{}, err
		}
		for _, e := range entries {
			c.Add(e)
		}
		at += len(entries)
	}
	page, err := c.Page(c.Snapshot(), from, limit)
	if at < p.path.Len() {
		page.Total = -1
	}
	return page, err
}

// last is a page that begins n items before the end.
func (p chatPart) last(ctx context.Context, n, limit int) (chat.Page, error) {
	for back := 2*n + partEntries; ; back *= 2 {
		start, err := p.path.Before(ctx, max(0, p.path.Len()-back), "user")
		if err != nil {
			return chat.Page{}, err
		}
		items, err := p.from(ctx, start)
		if err != nil {
			return chat.Page{}, err
		}
		if start > 0 && (len(items) < n || items[len(items)-n].Turn == "") {
			continue
		}
		page := chat.PageOf(chat.SnapshotID{}, items, -n, limit)
		if start > 0 {
			page.From, page.Total = -n, -1
		}
		return page, nil
	}
}

// from are the items of the entries from a place on.
func (p chatPart) from(ctx context.Context, start int) ([]chat.Item, error) {
	c := chat.New(p.opt)
	before := 0
	for at := max(0, start-partBefore); at < p.path.Len(); {
		to := min(at+partEntries, p.path.Len())
		if at < start {
			to = start
		}
		entries, err := p.path.Entries(ctx, at, to)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			c.Add(e)
		}
		if at = to; at == start {
			before = len(c.Items())
		}
	}
	items := c.Items()
	return items[min(before, len(items)):], nil
}
