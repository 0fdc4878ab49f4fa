package jsonl

// keeper makes entries of records with few allocations: bytes go into shared
// chunks, entries into slabs, names of kinds and roles are kept once.
type keeper struct {
	chunk []byte
	slab  []Entry
	names map[string]string
	buf   []byte
}

const (
	minChunk = 16 << 10
	maxChunk = 1 << 20
	slabLen  = 64
)

// bytes copies b to memory that stays.
func (k *keeper) bytes(b []byte) []byte {
	if len(b) > cap(k.chunk)-len(k.chunk) {
		if len(b) > maxChunk/4 {
			return append(make([]byte, 0, len(b)), b...)
		}
		size := min(max(2*cap(k.chunk), minChunk), maxChunk)
		k.chunk = make([]byte, 0, max(size, len(b)))
	}
	at := len(k.chunk)
	k.chunk = append(k.chunk, b...)
	return k.chunk[at:len(k.chunk):len(k.chunk)]
}

// name is the literal's text, kept once.
func (k *keeper) name(l Lit) string {
	if !l.Ok() {
		return ""
	}
	if s, ok := k.names[string(l.Raw())]; ok {
		return s
	}
	if k.names == nil {
		k.names = map[string]string{}
	}
	s := l.WTF8()
	if len(k.names) < 1000 && len(s) < 100 {
		k.names[string(l.Raw())] = s
	}
	return s
}

// entry makes an entry of a record; it is valid for good.
func (k *keeper) entry(rec *Record) *Entry {
	if len(k.slab) == 0 {
		k.slab = make([]Entry, slabLen)
	}
	e := &k.slab[0]
	k.slab = k.slab[1:]
	f := rec.Fields
	e.Line, e.Offset, e.Size = rec.Line, rec.Offset, rec.End-rec.Offset
	e.raw = k.bytes(rec.Raw)
	e.kind = k.name(f.Type)
	e.idKind, e.parentKind = f.IDKind, f.ParentKind

	// One string holds all three; most ids and timestamps are short.
	b, _ := f.ID.unescape(k.buf[:0])
	id := len(b)
	b, _ = f.Parent.unescape(b)
	parent := len(b)
	b, _ = f.Timestamp.unescape(b)
	s := string(b)
	k.buf = b
	e.id, e.parent, e.timestamp = s[:id], s[id:parent], s[parent:]

	if e.kind == "message" {
		e.role = k.name(f.Role)
	}
	e.event, e.hasEvent = parseEventID(f.EventID.Raw()) // with escapes it is none of ours
	return e
}
