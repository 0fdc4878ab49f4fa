package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/chat"
	"github.com/gajae-code/gjc-index/session/redact"
)

const (
	maxOneText = 32 << 10 // bytes of a text that is shown alone
	maxAnyText = 8 << 20  // bytes of it that can be reached
)

// partArgs say which part of a session is asked for.
type partArgs struct {
	Session string `json:"session"`
	From    int    `json:"from"`
	Limit   *int   `json:"limit"`
}

func (p partArgs) limit() (int, error) { return pageArgs{Limit: p.Limit}.limit() }

// start is where a part of so many begins.
func (p partArgs) start(total int) int {
	from := p.From
	if from < 0 {
		from += total
	}
	return min(max(from, 0), total)
}

func (a *app) toolShow(ctx context.Context, raw json.RawMessage) (map[string]any, error) {
	var in struct {
		partArgs
		Entry string `json:"entry"`
		Skip  int    `json:"skip"`
	}
	if err := readArgs(raw, &in); err != nil {
		return nil, err
	}
	limit, err := in.limit()
	switch {
	case err != nil:
		return nil, err
	case in.Skip < 0 || in.Skip > maxAnyText:
		return nil, usagef("skip %d: it is a number from 0 to %d", in.Skip, maxAnyText)
	case in.Skip > 0 && limit != 1:
		return nil, usagef("skip is for one item: give limit 1 with it")
	case in.Entry != "" && in.From != 0:
		return nil, usagef("entry and from exclude each other")
	}
	out := map[string]any{}
	err = a.withIndex(ctx, func(x *index.Index) error {
		row, err := a.toolRow(ctx, x, in.Session)
		if err != nil {
			return err
		}
		return a.with(ctx, x, row.Path, true, func(s found) error {
			s.ref = row.ID
			items, err := a.toolItems(ctx, &s)
			if err != nil {
				return err
			}
			from := in.start(len(items))
			if in.Entry != "" {
				if from = slices.IndexFunc(items, func(i chat.Item) bool { return i.Entry == in.Entry }); from < 0 {
					return fmt.Errorf("session %s shows no entry %q%w", row.ID, in.Entry, silent{fs.ErrNotExist})
				}
			}
			out["session"], out["total"], out["from"] = toolSession(s.row), len(items), from
			if limit == 1 && from < len(items) {
				out["items"] = []any{a.oneItem(&s, from, items[from], in.Skip)}
				if from+1 < len(items) {
					out["next"] = from + 1
				}
				return nil
			}
			list, left := []any{}, budget(maxAnswerBytes)
			for i, item := range items[from:min(from+limit, len(items))] {
				one := toolItem(from+i, item)
				if !left.takes(one, i == 0) {
					break
				}
				list = append(list, one)
			}
			out["items"] = list
			if next := from + len(list); next < len(items) {
				out["next"] = next
			}
			return nil
		})
	})
	return out, err
}

// toolItems are the items of a session's last branch, its archive included.
func (a *app) toolItems(ctx context.Context, s *found) ([]chat.Item, error) {
	whole, err := a.withArchive(ctx, *s)
	if err != nil {
		return nil, err
	}
	*s = whole
	c := chat.New(chat.Options{Session: s.row.ID, Redact: redact.Text, MaxText: maxToolText, Public: true})
	for _, e := range s.tree.Path(jsonl.LeafLast()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e, err = s.entry(e); err != nil {
			return nil, err
		}
		c.Add(e)
	}
	return c.Items(), nil
}

func toolItem(n int, i chat.Item) map[string]any {
	one := map[string]any{"n": n, "kind": string(i.Kind), "text": i.Text}
	if i.Time != "" {
		one["time"] = i.Time
	}
	if i.Entry != "" {
		one["entry"] = jsonl.Display(i.Entry)
	}
	if i.Cut {
		one["cut"] = true
	}
	if i.Images > 0 {
		one["images"] = i.Images
	}
	if i.Partial {
		one["partial"] = true
	}
	if t := i.Tool; t != nil {
		one["tool"], one["state"] = redact.Text(t.Name), string(t.State)
		if i.Text == "" {
			one["text"] = t.Summary
		}
	}
	return one
}

// oneItem is an item with as much of its text as an answer holds.
func (a *app) oneItem(s *found, n int, item chat.Item, skip int) map[string]any {
	if item.Cut {
		for _, e := range s.tree.Path(jsonl.LeafLast()) {
			if id, _ := e.ID(); id != item.Entry {
				continue
			}
			if e, err := s.entry(e); err == nil {
				opt := chat.Options{Session: s.row.ID, Redact: redact.Text, MaxText: maxAnyText, Public: true}
				for _, whole := range chat.Project([]*jsonl.Entry{e}, opt) {
					if whole.ID == item.ID {
						item.Text, item.Cut = whole.Text, whole.Cut
					}
				}
			}
			break
		}
	}
	one := toolItem(n, item)
	text := item.Text
	skip = min(skip, len(text))
	for skip < len(text) && skip > 0 && text[skip]&0xc0 == 0x80 {
		skip++
	}
	rest := text[skip:]
	end := min(len(rest), maxOneText)
	for end < len(rest) && end > 0 && rest[end]&0xc0 == 0x80 {
		end--
	}
	delete(one, "cut")
	if text != "" {
		one["text"] = rest[:end]
	}
	if end < len(rest) {
		one["cut"], one["skip"] = true, skip+end // ask with this for what follows
	} else if item.Cut {
		one["cut"] = true
	}
	return one
}

func (a *app) toolContext(ctx context.Context, raw json.RawMessage) (map[string]any, error) {
	var in struct {
		partArgs
		Leaf string `json:"leaf"`
	}
	if err := readArgs(raw, &in); err != nil {
		return nil, err
	}
	limit, err := in.limit()
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	err = a.withIndex(ctx, func(x *index.Index) error {
		row, err := a.toolRow(ctx, x, in.Session)
		if err != nil {
			return err
		}
		doc, err := x.ContextOf(ctx, row.Path, in.Leaf, false)
		switch {
		case err == nil:
		case in.Leaf != "" && errors.Is(err, fs.ErrNotExist) && a.isThere(row.Path):
			return fmt.Errorf("session %s has no entry %q%w", row.ID, in.Leaf, silent{fs.ErrNotExist})
		default:
			return loadError(row.Path, err)
		}
		if row.Damage != "" {
			a.note("%s: %s", row.ID, row.Damage)
		}
		messages := doc.Get("messages").Items()
		from := in.start(len(messages))
		out["session"], out["total"], out["from"] = toolSession(row), len(messages), from
		if level := doc.Get("thinkingLevel"); level.Is(jsonl.String) {
			out["thinkingLevel"] = level.Str()
		}
		list, left := []any{}, budget(maxAnswerBytes)
		for i, m := range messages[from:min(from+limit, len(messages))] {
			one := toolMessage(from+i, m)
			if !left.takes(one, i == 0) {
				break
			}
			list = append(list, one)
		}
		out["messages"] = list
		if next := from + len(list); next < len(messages) {
			out["next"] = next
		}
		return nil
	})
	return out, err
}

// toolMessage is a message of a context without secrets, images and ids of
// ours, its long texts cut.
func toolMessage(n int, m jsonl.Value) map[string]any {
	r := reduction{}
	reduced := r.value("", jsonl.Redactor(redact.Text).Value(m), 0)
	one := map[string]any{"n": n, "message": json.RawMessage(jsonl.AppendJSON(nil, reduced))}
	if text := jsonl.AppendJSON(nil, reduced); len(text) > maxAnswerBytes/2 { // of very many parts
		short, _ := shorten(string(text), maxOneText/2)
		one = map[string]any{"n": n, "role": m.Get("role").Str(), "text": short}
		r.cut = true
	}
	if r.cut {
		one["cut"] = true
	}
	return one
}

// reduction makes a JSON value fit to be shown.
type reduction struct{ cut bool }

const maxReduced = 32 // levels

func (r *reduction) value(key string, v jsonl.Value, depth int) jsonl.Value {
	switch {
	case depth > maxReduced:
		r.cut = true
		return jsonl.NullValue()
	case v.Is(jsonl.String):
		if isSignature(key) {
			return jsonl.StringValue("…")
		}
		short, cut := shorten(jsonl.Display(v.Str()), maxToolText)
		r.cut = r.cut || cut
		return jsonl.StringValue(short)
	case v.Is(jsonl.Array):
		var items []jsonl.Value
		for _, item := range v.Items() {
			items = append(items, r.value(key, item, depth+1))
		}
		return jsonl.ArrayValue(items...)
	case v.Is(jsonl.Object):
		image := v.Get("type").Str() == "image"
		var members []jsonl.Member
		for _, m := range v.Obj().Members() {
			switch {
			case m.Key == "event_id":
				continue
			case image && m.Key == "data":
				m.Value = jsonl.StringValue("…")
			default:
				m.Value = r.value(m.Key, m.Value, depth+1)
			}
			members = append(members, m)
		}
		return jsonl.ObjectValue(jsonl.NewObj(members...))
	}
	return v
}

// isSignature reports a property that only a provider can read.
func isSignature(key string) bool {
	return strings.HasSuffix(strings.ToLower(key), "signature") || key == "encrypted_content"
}
