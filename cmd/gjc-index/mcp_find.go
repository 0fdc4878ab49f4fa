package main

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session/redact"
)

// The widths of what is shown of a session, in columns.
const (
	toolTitle  = 200
	toolPrompt = 300
)

func (a *app) toolList(ctx context.Context, raw json.RawMessage) (map[string]any, error) {
	var in struct {
		Sort string `json:"sort"`
		placeArgs
		pageArgs
	}
	if err := readArgs(raw, &in); err != nil {
		return nil, err
	}
	limit, err := in.limit()
	if err != nil {
		return nil, err
	}
	filter := index.Filter{Sort: index.Sort(in.Sort), Limit: limit, Offset: in.Offset}
	if in.Sort != "" && !slices.Contains(sorts, filter.Sort) {
		return nil, usagef("can't sort by %q: active, created, modified, title, messages or size", in.Sort)
	}
	p, err := a.place(in.flags())
	if err != nil {
		return nil, err
	}
	filter.Cwd, filter.Project, filter.Since, filter.Until = p.cwd, p.project, p.since, p.until
	out := map[string]any{}
	err = a.withIndex(ctx, func(x *index.Index) error {
		rows, total, err := x.Sessions(ctx, filter)
		if real := realPath(filter.Cwd); err == nil && total == 0 && filter.Cwd != "" && real != filter.Cwd {
			filter.Cwd = real
			rows, total, err = x.Sessions(ctx, filter)
		}
		if err != nil {
			return err
		}
		list, left := []any{}, budget(maxAnswerBytes)
		for row, err := range rows {
			if err != nil {
				return err
			}
			if one := toolSession(row); left.takes(one, len(list) == 0) {
				list = append(list, one)
				continue
			}
			break
		}
		out["sessions"], out["total"], out["offset"] = list, total, in.Offset
		if next := in.Offset + len(list); next < total && len(list) > 0 {
			out["next"] = next
		}
		return a.noteBad(ctx, x)
	})
	return out, err
}

// noteBad notes what no answer can tell of.
func (a *app) noteBad(ctx context.Context, x *index.Index) error {
	bad, err := a.badFiles(ctx, x)
	if err == nil {
		a.sayLeftOut(bad)
	}
	return err
}

func toolSession(r index.Row) map[string]any {
	one := map[string]any{
		"id": r.ID, "cwd": redact.Text(r.Cwd), "active": jsonTime(r.Active), "created": jsonTime(r.Created),
		"messages": r.Messages, "bytes": r.Size, "title": preview(redact.Text(r.Title), toolTitle),
		"firstPrompt": preview(redact.Text(r.FirstPrompt), toolPrompt),
	}
	if r.Damage != "" {
		one["damage"] = r.Damage
	}
	if r.Project != r.Cwd {
		one["project"] = redact.Text(r.Project)
	}
	return one
}

func (a *app) toolSearch(ctx context.Context, raw json.RawMessage) (map[string]any, error) {
	var in struct {
		Query   string `json:"query"`
		Role    string `json:"role"`
		Session string `json:"session"`
		placeArgs
		pageArgs
	}
	if err := readArgs(raw, &in); err != nil {
		return nil, err
	}
	limit, err := in.limit()
	if err != nil {
		return nil, err
	}
	req := index.SearchRequest{Query: index.ParseQuery(in.Query), Role: index.Role(in.Role), Limit: in.Offset + limit + 1}
	if in.Role != "" && !slices.Contains(roles, req.Role) {
		return nil, usagef("no role %q: user, assistant, tool or any", in.Role)
	}
	p, err := a.place(in.flags())
	if err != nil {
		return nil, err
	}
	req.Cwd, req.Project, req.Since, req.Until = p.cwd, p.project, p.since, p.until
	out := map[string]any{}
	err = a.withIndex(ctx, func(x *index.Index) error {
		only := ""
		if in.Session != "" {
			row, err := a.toolRow(ctx, x, in.Session)
			if err != nil {
				return err
			}
			req.Session, only = row.ID, row.Path
		}
		found, err := x.Search(ctx, req)
		if real := realPath(p.cwd); err == nil && len(found.Hits) == 0 && p.cwd != "" && real != p.cwd {
			req.Cwd = real
			found, err = x.Search(ctx, req)
		}
		if err != nil {
			return err
		}
		hits := found.Hits[min(in.Offset, len(found.Hits)):]
		list, left := []any{}, budget(maxAnswerBytes)
		for _, h := range hits[:min(limit, len(hits))] {
			one := toolHit(h)
			if !left.takes(one, len(list) == 0) {
				break
			}
			list = append(list, one)
		}
		out["hits"], out["offset"] = list, in.Offset
		if len(list) < len(hits) {
			out["next"] = in.Offset + len(list)
		}
		if len(list) == 0 && in.Offset > 0 {
			a.note("there are only %s", count(len(found.Hits), "hit"))
		}
		return a.noteUnsearched(ctx, x, found.Failed, only)
	})
	return out, err
}

// noteUnsearched notes which files a search could not look into.
func (a *app) noteUnsearched(ctx context.Context, x *index.Index, failed []index.Failure, only string) error {
	files, err := a.badFiles(ctx, x)
	if err != nil {
		return err
	}
	for _, f := range failed {
		if !slices.ContainsFunc(files, func(l leftOutFile) bool { return l.Path == f.Path }) {
			files = append(files, leftOutFile{f.Path, f.Reason, index.StateUnreadable})
		}
	}
	a.sayLeftOut(slices.DeleteFunc(files, func(f leftOutFile) bool { return only != "" && f.Path != only }))
	return nil
}

// toolRow finds a session by its id; paths are no business of an agent's.
func (a *app) toolRow(ctx context.Context, x *index.Index, ref string) (index.Row, error) {
	if strings.TrimSpace(ref) == "" {
		return index.Row{}, usagef("which session? give its id; the tool list shows all")
	}
	if isPath(ref) || strings.Contains(ref, "/") {
		return index.Row{}, usagef("a session is named by its id, or a beginning of it, and not by a path; the tool list shows all")
	}
	return a.row(ctx, x, ref)
}

func toolHit(h index.Hit) map[string]any {
	text, cut := shorten(h.Text, maxToolText)
	one := map[string]any{"time": jsonTime(h.Time), "cwd": redact.Text(h.Cwd), "text": text}
	if cut {
		one["cut"] = true
		if snippet := preview(redact.Text(h.Snippet), toolPrompt); !strings.Contains(text, snippet) {
			one["snippet"] = snippet
		}
	}
	if h.SessionID != "" {
		one["session"], one["entry"] = h.SessionID, h.EntryID
	}
	if h.Role != "" && h.Role != string(index.RoleUser) {
		one["role"] = h.Role
	}
	if h.Count > 1 {
		one["count"] = h.Count
	}
	return one
}

func (a *app) toolUsage(ctx context.Context, raw json.RawMessage) (map[string]any, error) {
	var in struct {
		By    string `json:"by"`
		Since string `json:"since"`
		TZ    string `json:"tz"`
		pageArgs
	}
	if err := readArgs(raw, &in); err != nil {
		return nil, err
	}
	limit, err := in.limit()
	if err != nil {
		return nil, err
	}
	filter := index.UsageFilter{By: index.UsageBy(in.By), Zone: a.now().Location()}
	if in.By != "" && !slices.Contains(usageGroups, in.By) {
		return nil, usagef("can't group by %q: %s", in.By, strings.Join(usageGroups, ", "))
	}
	if in.TZ != "" {
		if filter.Zone, err = time.LoadLocation(in.TZ); err != nil {
			return nil, usagef("tz %q is no time zone: give a name such as Europe/Berlin, or UTC", in.TZ)
		}
	} else if set, err := a.settings(); err != nil {
		return nil, err
	} else if set.Zone != nil {
		filter.Zone = set.Zone
	}
	if filter.Since, err = parseWhen(in.Since, a.now().In(filter.Zone)); err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = a.withIndex(ctx, func(x *index.Index) error {
		rows, err := x.Usage(ctx, filter)
		if err != nil {
			return err
		}
		list := []any{}
		for _, r := range rows[min(in.Offset, len(rows)):min(in.Offset+limit, len(rows))] {
			list = append(list, toolUsageRow{redact.Text(r.Key), numbersOf(r)})
		}
		out["rows"], out["total"], out["offset"] = list, len(rows), in.Offset
		if next := in.Offset + len(list); next < len(rows) && next < math.MaxInt32 {
			out["next"] = next
		}
		return a.noteBad(ctx, x)
	})
	return out, err
}

// toolUsageRow is a group and its sums.
type toolUsageRow struct {
	Key string `json:"key"`
	usageNumbers
}
