package checkpoint

import (
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Response is what one answer of a model says of its cost.
type Response struct {
	Provider, Model                      string
	Input, Output, CacheRead, CacheWrite float64 // tokens
	Premium                              float64 // premium requests
	Cost                                 *float64
	Known                                bool // it says what was used
	Whole                                bool // it says so, and the answer was not cut off by an abort or an error
}

// ResponseOf reads an answer of the assistant; ok is false for any other
// record. A usage with a token count that is no number, or negative, says
// nothing, and so does one of zeros on an answer that was aborted or failed.
func ResponseOf(f *jsonl.Fields) (r Response, ok bool) {
	if !f.Type.Equal("message") {
		return Response{}, false
	}
	return ResponseOfMessage(f)
}

// ResponseOfMessage is ResponseOf for the fields of a message in whatever record
// it stands, such as a patch.
func ResponseOfMessage(f *jsonl.Fields) (r Response, ok bool) {
	if !f.Role.Equal("assistant") {
		return Response{}, false
	}
	r = Response{Provider: f.Provider.Text(), Model: f.Model.Text()}
	u := &f.Usage
	cut := f.StopReason.Equal("aborted") || f.StopReason.Equal("error")
	none := u.Input == 0 && u.Output == 0 && u.CacheRead == 0 && u.CacheWrite == 0
	if !u.Has || !u.Whole || (cut && none) ||
		!amount(u.Input) || !amount(u.Output) || !amount(u.CacheRead) || !amount(u.CacheWrite) {
		return r, true
	}
	r.Known, r.Whole = true, !cut
	r.Input, r.Output, r.CacheRead, r.CacheWrite = u.Input, u.Output, u.CacheRead, u.CacheWrite
	if amount(u.PremiumRequests) {
		r.Premium = u.PremiumRequests
	}
	if u.HasCost && amount(u.Cost) {
		cost := u.Cost
		r.Cost = &cost
	}
	return r, true
}

// Identity tells an answer from every other, in whichever session it stands:
// forks copy entries as they are, so an answer can stand in several files and
// must be counted once. It is comparable.
type Identity struct {
	Entry, Timestamp                     string
	Provider, Model                      string
	Input, Output, CacheRead, CacheWrite float64
	Cost                                 float64
	Priced                               bool
}

// IdentityOf is the identity of an answer with an entry id and a raw timestamp.
func IdentityOf(entry, timestamp string, r Response) Identity {
	id := Identity{Entry: entry, Timestamp: timestamp, Provider: r.Provider, Model: r.Model,
		Input: r.Input, Output: r.Output, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite}
	if r.Cost != nil {
		id.Cost, id.Priced = *r.Cost, true
	}
	return id
}

// DayOf is the day of a raw timestamp in a zone (nil is UTC) as 2006-01-02; ""
// if the timestamp can't be read. Days in which the clock is set are the days
// of the zone's calendar, 23 or 25 hours long.
func DayOf(timestamp string, zone *time.Location) string {
	ms, ok := jsonl.ParseDate(timestamp)
	if !ok {
		return ""
	}
	if zone == nil {
		zone = time.UTC
	}
	return time.UnixMilli(int64(ms)).In(zone).Format(time.DateOnly)
}

// fieldsOf reads an entry's fields without keeping its parsed value.
func fieldsOf(f *jsonl.Fields, e *jsonl.Entry) {
	raw := e.Raw()
	if raw == nil {
		raw = e.AppendJSON(nil, false)
	}
	if f.Scan(raw) {
		return
	}
	if v, _, err := jsonl.Parse(raw); err == nil {
		f.Of(raw, v)
	}
}

// customOf reads a custom entry without keeping its parsed value.
func customOf(e *jsonl.Entry) (customType string, data jsonl.Value) {
	var v jsonl.Value
	if raw := e.Raw(); raw != nil {
		v, _, _ = jsonl.Parse(raw)
	} else {
		v = jsonl.ObjectValue(e.Value())
	}
	return v.Get("customType").Str(), v.Get("data")
}
