package jsonl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Content that a compaction has summed up may be evicted: long texts of a
// message go to blobs, and the entry says under evictedContent what stood
// where. The context shows such an entry as it is; an export puts the content
// back. Source: behaviour part 12.

const (
	minEvicted    = 1024 // UTF-16 units from which a text is evicted
	evictedText   = "[Compacted history content evicted to durable cold storage]"
	evictedKey    = "evictedContent"
	eventKey      = "event_id" // stays an entry's last key
	encodingUTF8  = "utf8"
	encodingJSON  = "json"
	coldArguments = "__gjcColdSpillArguments"
)

// Eviction says why and when content is evicted.
type Eviction struct {
	At           float64 // Unix ms
	CompactionID string
	FirstKeptID  string
}

// EvictionStats counts what evictions did. Add sums them up over entries.
type EvictionStats struct {
	Entries        int   // entries that lost content
	AlreadyEvicted int   // entries that had lost theirs before
	Payloads       int   // texts and arguments moved
	Bytes          int64 // of the blobs they moved to
}

// Add adds another entry's numbers to s.
func (s *EvictionStats) Add(t EvictionStats) {
	s.Entries += t.Entries
	s.AlreadyEvicted += t.AlreadyEvicted
	s.Payloads += t.Payloads
	s.Bytes += t.Bytes
}

// Evict moves the long texts of a message or custom_message to blobs: those of
// the text blocks of its content, and those inside of tool calls' arguments
// (or the arguments as a whole, if they are long but no text of theirs is). It
// returns the entry's new record, or o itself if there is nothing to move or
// it was evicted before. o isn't changed.
func Evict(ctx context.Context, blobs BlobPutter, o *Obj, why Eviction) (*Obj, EvictionStats, error) {
	var stats EvictionStats
	path := contentPath(o)
	if path == nil {
		return o, stats, nil
	}
	if o.Has(evictedKey) {
		stats.AlreadyEvicted = 1
		return o, stats, nil
	}
	e := evictor{blobs: blobs, payloads: &Obj{}, stats: &stats}
	v := ObjectValue(o)
	for _, key := range path {
		v = v.Get(key)
	}
	made, err := e.content(ctx, v, strings.Join(path, "."))
	if err != nil || e.payloads.Len() == 0 {
		return o, EvictionStats{}, err
	}
	stats.Entries = 1
	out := setAt(ObjectValue(o), path, made).obj
	out.Set(evictedKey, ObjectValue(NewObj(
		Member{"evictedAt", NumberValue(why.At)},
		Member{"reason", StringValue("compacted_history")},
		Member{"compactionEntryId", StringValue(why.CompactionID)},
		Member{"firstKeptEntryId", StringValue(why.FirstKeptID)},
		Member{"payloads", ObjectValue(e.payloads)},
	)))
	if id := out.Get(eventKey); id.Is(String) {
		out.Delete(eventKey)
		out.Set(eventKey, id)
	}
	return out, stats, nil
}

// contentPath leads to the content that may be evicted; nil if o holds none.
func contentPath(o *Obj) []string {
	switch o.Get("type").Str() {
	case "message":
		return []string{"message", "content"}
	case "custom_message":
		return []string{"content"}
	}
	return nil
}

// evictor gathers the payloads of one entry.
type evictor struct {
	blobs    BlobPutter
	payloads *Obj
	stats    *EvictionStats
}

// content evicts from an array of blocks; any other content stays.
func (e *evictor) content(ctx context.Context, v Value, path string) (Value, error) {
	if !v.Is(Array) {
		return v, nil
	}
	out := append([]Value(nil), v.Items()...)
	for i, block := range out {
		key, at := "", path+"."+strconv.Itoa(i)
		var made Value
		var err error
		switch block.Get("type").Str() {
		case "text":
			key = "text"
			made, err = e.text(ctx, block.Get(key), at+"."+key)
		case "toolCall":
			key = "arguments"
			made, err = e.arguments(ctx, block.Get(key), at+"."+key)
		default:
			continue
		}
		if err != nil {
			return v, err
		}
		if !made.Is(Absent) {
			o := block.obj.Clone()
			o.Set(key, made)
			out[i] = ObjectValue(o)
		}
	}
	return ArrayValue(out...), nil
}

// text evicts one string and returns what stands in its place; Absent if it
// stays.
func (e *evictor) text(ctx context.Context, v Value, path string) (Value, error) {
	if !v.Is(String) || !longer16(v.str, minEvicted-1) {
		return Value{}, nil
	}
	data, encoding := []byte(v.str), encodingUTF8
	if hasSurrogate(v.str) {
		data, encoding = appendString(nil, v.str), encodingJSON
	}
	if err := e.put(ctx, path, data, encoding, Len16(v.str)); err != nil {
		return Value{}, err
	}
	return StringValue(evictedText), nil
}

// arguments evicts the long strings of a tool call's arguments, or all of them
// as one payload; Absent if they stay.
func (e *evictor) arguments(ctx context.Context, v Value, path string) (Value, error) {
	if !v.Is(Object) {
		return Value{}, nil
	}
	before := e.payloads.Len()
	made, err := e.nested(ctx, v, path)
	if err != nil {
		return Value{}, err
	}
	if e.payloads.Len() > before {
		return made, nil
	}
	text := v.JSON()
	if !longer16(text, minEvicted-1) {
		return Value{}, nil
	}
	if err := e.put(ctx, path, []byte(text), encodingJSON, Len16(text)); err != nil {
		return Value{}, err
	}
	return ObjectValue(NewObj(
		Member{coldArguments, BoolValue(true)},
		Member{"refPath", StringValue(path)},
		Member{"notice", StringValue(evictedText)},
	)), nil
}

// nested evicts the long strings below v and returns v with their stand-ins.
// A key with a dot would make paths ambiguous; what is below it stays.
func (e *evictor) nested(ctx context.Context, v Value, path string) (Value, error) {
	switch v.kind {
	case String:
		made, err := e.text(ctx, v, path)
		if made.Is(Absent) {
			return v, err
		}
		return made, err
	case Array:
		out := append([]Value(nil), v.Items()...)
		for i := range out {
			made, err := e.nested(ctx, out[i], path+"."+strconv.Itoa(i))
			if err != nil {
				return v, err
			}
			out[i] = made
		}
		return ArrayValue(out...), nil
	case Object:
		out := v.obj.Clone()
		for _, m := range v.obj.Members() {
			if strings.Contains(m.Key, ".") || m.Key == "" {
				continue
			}
			made, err := e.nested(ctx, m.Value, path+"."+m.Key)
			if err != nil {
				return v, err
			}
			out.Set(m.Key, made)
		}
		return ObjectValue(out), nil
	}
	return v, nil
}

func (e *evictor) put(ctx context.Context, path string, data []byte, encoding string, chars int) error {
	ref, err := e.blobs.Put(ctx, data)
	if err != nil {
		return fmt.Errorf("evict content: %w", err)
	}
	e.payloads.Set(path, ObjectValue(NewObj(
		Member{"kind", StringValue("cold_spill")},
		Member{"ref", StringValue(ref.String())},
		Member{"encoding", StringValue(encoding)},
		Member{"originalChars", NumberValue(float64(chars))},
		Member{"sha256", StringValue(ref.Hex())},
		Member{"bytes", NumberValue(float64(len(data)))},
	)))
	e.stats.Payloads++
	e.stats.Bytes += int64(len(data))
	return nil
}
