package export

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// refFinder finds the references to blobs in what is written through it.
type refFinder struct {
	found map[string]bool
	tail  []byte
}

const (
	refStart = "blob:sha256:"
	refBytes = len(refStart) + 64
)

// Write looks through p.
func (r *refFinder) Write(p []byte) (int, error) {
	if len(r.tail) > 0 {
		more := min(len(p), refBytes-1)
		r.look(append(r.tail, p[:more]...))
	}
	r.look(p)
	if keep := refBytes - 1; len(p) >= keep {
		r.tail = append(r.tail[:0], p[len(p)-keep:]...)
	} else {
		r.tail = append(r.tail, p...)
		r.tail = append(r.tail[:0], r.tail[max(0, len(r.tail)-keep):]...)
	}
	return len(p), nil
}

func (r *refFinder) look(p []byte) {
	for {
		i := bytes.Index(p, []byte(refStart))
		if i < 0 || len(p) < i+refBytes {
			return
		}
		digits := string(p[i+len(refStart) : i+refBytes])
		if _, err := hex.DecodeString(digits); err == nil && strings.ToLower(digits) == digits {
			r.found[digits] = true
		}
		p = p[i+len(refStart):]
	}
}

// idFinder finds the highest event id in what is written through it, as bytes,
// so that a damaged line hides none.
type idFinder struct {
	highest jsonl.EventID
	tail    []byte
}

var idStart = []byte(`"event_id":"`)

const (
	idDigits = 16
	idBytes  = len(`"event_id":"`) + idDigits
)

// Write looks through p.
func (f *idFinder) Write(p []byte) (int, error) {
	if len(f.tail) > 0 {
		f.look(append(f.tail, p[:min(len(p), idBytes-1)]...))
	}
	f.look(p)
	keep := idBytes - 1
	if len(p) >= keep {
		f.tail = append(f.tail[:0], p[len(p)-keep:]...)
		return len(p), nil
	}
	f.tail = append(f.tail, p...)
	f.tail = append(f.tail[:0], f.tail[max(0, len(f.tail)-keep):]...)
	return len(p), nil
}

func (f *idFinder) look(p []byte) {
	for {
		i := bytes.Index(p, idStart)
		if i < 0 || len(p) < i+idBytes {
			return
		}
		if id, ok := jsonl.ParseEventID(string(p[i+len(idStart) : i+idBytes])); ok {
			f.highest = max(f.highest, id)
		}
		p = p[i+len(idStart):]
	}
}
