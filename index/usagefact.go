package index

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// factKind is what a usageFact is about.
type factKind uint8

const (
	factAnswer factKind = iota // a message of the assistant
	factRecord                 // a record of a request
	factTotal                  // a group of a checkpoint's totals
	factOpen                   // an answer that a checkpoint keeps by itself
)

// usageFact is one thing that an entry says of a request and its cost. What
// entries say together is judged when sums are made, since a record may name an
// answer that comes later.
type usageFact struct {
	kind factKind
	seq  int    // of the entry, from 1; 0: it was archived
	time millis // of the answer; of a total the beginning of its day
	// identity is a sum of what tells the fact from all others, in whichever
	// file it stands: forks copy entries as they are.
	identity uint64
	name     uint64 // a sum of the answer's id; of a record of the id that it names, 0 without one; of a total the checkpoint's
	request  uint64 // a sum of the record's request

	known bool // it says what was used
	whole bool // and that is final

	provider, model string
	tokens          [5]float64 // input, output, cache read, cache write; premium requests
	cost            float64
	priced          bool
	counts          [3]int64 // of a total: requests, incomplete, unpriced
}

// identitySum sums up the parts of an identity.
func identitySum(kind factKind, parts []string, numbers ...float64) uint64 {
	h := fnv.New64a()
	var n [8]byte
	_, _ = h.Write([]byte{byte(kind)}) // a hash never fails
	for _, p := range parts {
		binary.LittleEndian.PutUint64(n[:], uint64(len(p)))
		_, _ = h.Write(n[:])
		_, _ = h.Write([]byte(p))
	}
	for _, f := range numbers {
		binary.LittleEndian.PutUint64(n[:], math.Float64bits(f))
		_, _ = h.Write(n[:])
	}
	return h.Sum64()
}

// nameSum is a sum of an id; 0 stands for none.
func nameSum(id string) uint64 {
	if id == "" {
		return 0
	}
	return max(1, identitySum(0, []string{id}))
}

// responseFact is the fact of an answer. Its identity holds its time, or its
// timestamp as it stands where that can't be read.
func responseFact(kind factKind, seq int, id, timestamp string, at millis, r checkpoint.Response) usageFact {
	u := usageFact{kind: kind, seq: seq, time: at, name: nameSum(id), known: r.Known, whole: r.Whole,
		provider: r.Provider, model: r.Model, tokens: [5]float64{r.Input, r.Output, r.CacheRead, r.CacheWrite, r.Premium}}
	priced := 0.0
	if r.Cost != nil {
		u.cost, u.priced, priced = *r.Cost, true, 1
	}
	if at.known {
		timestamp = strconv.FormatInt(at.ms, 10)
	}
	u.identity = identitySum(factAnswer, []string{id, timestamp, r.Provider, r.Model},
		r.Input, r.Output, r.CacheRead, r.CacheWrite, u.cost, priced)
	return u
}

// patchedFact is what a patch makes of a message; nil if that is no answer.
func patchedFact(e *entry, stamp string, f *jsonl.Fields) *usageFact {
	r, ok := checkpoint.ResponseOfMessage(f)
	if !ok {
		return nil
	}
	u := responseFact(factAnswer, int(e.seq)+1, e.id, stamp, e.time, r)
	return &u
}

// parseMillis reads a raw timestamp.
func parseMillis(timestamp string) millis {
	ms, ok := jsonl.ParseDate(timestamp)
	return millis{int64(ms), ok}
}

// customFacts are the facts of a custom entry of the given kind.
func customFacts(seq int, id, timestamp string, kind string, v jsonl.Value) []usageFact {
	data := v.Get("data")
	if kind == jsonl.KindUsageCheckpoint {
		return checkpointFacts(seq, id, timestamp, data)
	}
	d, ok := jsonl.ParseCustom(kind, data)
	if !ok {
		return nil
	}
	r, ok := d.(*jsonl.UsageRecord)
	if !ok {
		return nil
	}
	u := usageFact{kind: factRecord, seq: seq, time: parseMillis(timestamp), name: nameSum(r.EntryID), request: nameSum(r.Request),
		known: true, whole: r.State == jsonl.UsageFinal, provider: r.Provider, model: r.Model,
		tokens: [5]float64{r.Input, r.Output, r.CacheRead, r.CacheWrite}}
	if r.Cost != nil {
		u.cost, u.priced = *r.Cost, true
	}
	u.identity = identitySum(factRecord, []string{id, timestamp, r.Request, r.State, r.EntryID, r.Provider, r.Model},
		r.Input, r.Output, r.CacheRead, r.CacheWrite, u.cost)
	return []usageFact{u}
}

func checkpointFacts(seq int, id, timestamp string, data jsonl.Value) []usageFact {
	totals, open, _ := checkpoint.ReadUsage(data)
	var all []usageFact
	for _, t := range totals {
		u := usageFact{kind: factTotal, seq: seq, time: parseMillis(t.Day), known: true, whole: true,
			provider: t.Provider, model: t.Model, tokens: [5]float64{t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Premium},
			counts: [3]int64{t.Requests, t.Incomplete, t.Unpriced}}
		if t.Cost != nil {
			u.cost, u.priced = *t.Cost, true
		}
		u.name = nameSum(id)
		u.identity = identitySum(factTotal, []string{id, timestamp, t.Origin, t.Day, t.Provider, t.Model})
		all = append(all, u)
	}
	for _, a := range open {
		all = append(all, responseFact(factOpen, seq, a.Entry, a.Timestamp, parseMillis(a.Timestamp), a.Response))
	}
	return all
}

// noteFacts takes what an entry says of usage.
func (x *extractor) noteFacts(e *entry, rec *jsonl.Record, kind string) {
	f := rec.Fields
	switch {
	case kind == "message":
		stamp := ""
		if !e.time.known {
			stamp = f.Timestamp.Text()
			x.stamps[e.seq] = stamp
		}
		if r, ok := checkpoint.ResponseOf(f); ok {
			u := responseFact(factAnswer, int(e.seq)+1, e.id, stamp, e.time, r)
			x.r.spent.add(&u)
		}
	case kind == "custom" && (f.CustomType.Equal(jsonl.KindUsage) || f.CustomType.Equal(jsonl.KindUsageCheckpoint)):
		v, _, err := jsonl.Parse(rec.Raw)
		if err == nil {
			for _, u := range customFacts(int(e.seq)+1, e.id, f.Timestamp.Text(), f.CustomType.Text(), v) {
				x.r.spent.add(&u)
			}
		}
	}
}
