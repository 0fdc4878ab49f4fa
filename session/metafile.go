package session

import (
	"context"
	"strconv"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// metaSumKey is the last key of a sidecar: the SHA-256 of all bytes before it, so
// that one that was damaged is not believed.
const metaSumKey = `,"sha256":"`

// text is the sidecar's text.
func (m Meta) text() string {
	text := strings.TrimSuffix(m.value().JSON(), "}")
	return text + metaSumKey + sumOf([]byte(text)) + "\"}\n"
}

// readMetaText reads what text wrote; ok is false for anything else.
func readMetaText(text string) (m Meta, ok bool) {
	at := strings.LastIndex(text, metaSumKey)
	if at < 0 || text[at+len(metaSumKey):] != sumOf([]byte(text[:at]))+"\"}\n" {
		return Meta{}, false
	}
	v, err := jsonl.ParseString(text)
	if err != nil || v.Get("schema").Num() != metaSchema {
		return Meta{}, false
	}
	return metaOf(v), true
}

// value is the sidecar's JSON object, without its sum.
func (m Meta) value() jsonl.Value {
	var title jsonl.Value
	if m.HasTitle {
		title = jsonl.StringValue(m.Title)
	}
	o := jsonl.NewObj()
	set := func(key string, v jsonl.Value) {
		if !v.Is(jsonl.Absent) {
			o.Set(key, v)
		}
	}
	set("schema", jsonl.NumberValue(metaSchema))
	set("session", jsonl.StringValue(m.Session))
	set("length", int64Text(m.Length))
	set("mtimeNs", int64Text(m.ModTime))
	set("tailSha256", jsonl.StringValue(m.TailSum))
	set("title", title)
	set("titleSource", jsonl.StringValue(m.TitleSource))
	set("cwd", jsonl.StringValue(m.Cwd))
	set("parentSession", jsonl.StringValue(m.Parent))
	set("created", jsonl.StringValue(m.Created))
	set("firstPrompt", jsonl.StringValue(m.FirstPrompt))
	set("lastTime", jsonl.StringValue(m.LastTime))
	set("entries", jsonl.NumberValue(float64(m.Entries)))
	set("messages", jsonl.NumberValue(float64(m.Messages)))
	set("malformed", jsonl.NumberValue(float64(m.Malformed)))
	set("highestEventId", jsonl.StringValue(m.HighestEvent.String()))
	rows := make([]jsonl.Value, len(m.Usage))
	for i, u := range m.Usage {
		rows[i] = u.value()
	}
	set("usage", jsonl.ArrayValue(rows...))
	set("row", m.row.value())
	return jsonl.ObjectValue(o)
}

func (u MetaUsage) value() jsonl.Value {
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "day", Value: jsonl.StringValue(u.Day)},
		jsonl.Member{Key: "provider", Value: jsonl.StringValue(u.Provider)},
		jsonl.Member{Key: "model", Value: jsonl.StringValue(u.Model)},
		jsonl.Member{Key: "input", Value: jsonl.NumberValue(u.Input)},
		jsonl.Member{Key: "output", Value: jsonl.NumberValue(u.Output)},
		jsonl.Member{Key: "cacheRead", Value: jsonl.NumberValue(u.CacheRead)},
		jsonl.Member{Key: "cacheWrite", Value: jsonl.NumberValue(u.CacheWrite)},
		jsonl.Member{Key: "cost", Value: jsonl.NumberValue(u.Cost)},
		jsonl.Member{Key: "requests", Value: jsonl.NumberValue(float64(u.Requests))},
	))
}

// metaOf reads a sidecar's object.
func metaOf(v jsonl.Value) Meta {
	text := func(key string) string { return v.Get(key).Str() }
	whole := func(key string) int64 {
		n, ok := wholeNumber(text(key))
		if !ok {
			return -1 // fits no file
		}
		return n
	}
	m := Meta{
		Session: text("session"), Length: whole("length"), ModTime: whole("mtimeNs"), TailSum: text("tailSha256"),
		Title: text("title"), HasTitle: v.Get("title").Is(jsonl.String), TitleSource: text("titleSource"),
		Cwd: text("cwd"), Parent: text("parentSession"), Created: text("created"),
		FirstPrompt: text("firstPrompt"), LastTime: text("lastTime"),
		Entries: int(v.Get("entries").Num()), Messages: int(v.Get("messages").Num()), Malformed: int(v.Get("malformed").Num()),
	}
	m.HighestEvent, _ = jsonl.ParseEventID(text("highestEventId"))
	for _, row := range v.Get("usage").Items() {
		m.Usage = append(m.Usage, MetaUsage{
			Day: row.Get("day").Str(), Provider: row.Get("provider").Str(), Model: row.Get("model").Str(),
			Input: row.Get("input").Num(), Output: row.Get("output").Num(),
			CacheRead: row.Get("cacheRead").Num(), CacheWrite: row.Get("cacheWrite").Num(),
			Cost: row.Get("cost").Num(), Requests: int64(row.Get("requests").Num()),
		})
	}
	m.row = metaRowOf(v.Get("row"))
	return m
}

func wholeNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// resumeMeta takes up the metadata of a transcript that was opened.
func (c *core) resumeMeta() {
	c.meta = nil
	m, ok, err := ReadMeta(c.st.fsys, c.path)
	if err != nil || !ok {
		return // made anew on Close
	}
	b := newMetaState()
	b.m, b.head = m, true
	for _, row := range m.Usage {
		u := row
		b.usage[MetaUsage{Day: row.Day, Provider: row.Provider, Model: row.Model}] = &u
	}
	c.meta = b
}

// take adds entries that were appended.
func (b *metaState) take(entries []*jsonl.Entry) {
	if b == nil {
		return
	}
	for _, e := range entries {
		if e.Role() == "user" && b.m.FirstPrompt == "" {
			var f jsonl.Fields
			f.Of(nil, jsonl.ObjectValue(e.Value()))
			b.record(&f)
			continue
		}
		b.takeEntry(e)
	}
}

// takeEntry adds an entry as record does, without looking at its text.
func (b *metaState) takeEntry(e *jsonl.Entry) {
	time := jsonl.Display(e.Timestamp())
	event, _ := e.EventID()
	b.count(time, event)
	if e.Type() != "message" {
		return
	}
	b.m.Messages++
	message := e.Value().Get("message")
	if u := jsonl.MessageUsage(message); u.Has && u.Whole {
		b.spend(time, jsonl.Display(message.Get("provider").Str()), jsonl.Display(message.Get("model").Str()), &u)
	}
}

// metaScanLimit is the length up to which Close reads a transcript to make its
// metadata; of a longer one whoever lists it makes them, once.
const metaScanLimit = 64 << 20

// writeMetaLocked writes the metadata sidecar, best effort: without it the next
// listing reads the transcript.
func (c *core) writeMetaLocked(ctx context.Context) {
	if c.memory || !c.onDisk || c.latched != nil {
		return
	}
	m, err := c.metaLocked(ctx)
	if err == nil && m.Session == "" {
		return
	}
	if err == nil {
		err = c.st.writeMetaFile(ctx, c.path, m)
	}
	if err != nil {
		c.st.opt.Log.Warn("write metadata", "path", MetaPath(c.path), "cause", err)
	}
}

// metaLocked is the metadata as the session knows it; empty if they would take
// too long to make.
func (c *core) metaLocked(ctx context.Context) (Meta, error) {
	st, err := c.st.fsys.Lstat(c.path)
	if err != nil {
		return Meta{}, err
	}
	strangers := c.strangers || (c.app != nil && c.app.Foreign())
	if c.meta != nil && st.Size == c.size && !strangers {
		if !c.partial { // else nobody has changed them
			c.meta.m.Title, c.meta.m.HasTitle = c.titleText()
			c.meta.m.TitleSource, c.meta.m.Cwd = c.header.TitleSource(), c.header.Cwd()
		}
		return c.meta.finish(c.st.fsys, c.path)
	}
	if st.Size > metaScanLimit {
		return Meta{}, nil
	}
	return BuildMeta(ctx, c.st.fsys, c.path)
}

// titleText is the session's own title for people.
func (c *core) titleText() (string, bool) {
	t := jsonl.Transcript{Header: c.header, Leading: c.leading}
	title, ok := t.Title()
	return jsonl.Display(title), ok
}
