package jsonl

// EntryMaker makes entries of records, as a load does, with few allocations.
// The zero value is ready. For one goroutine.
type EntryMaker struct{ keep keeper }

// Entry is the entry of a record; it stays valid after the next one.
func (m *EntryMaker) Entry(rec *Record) *Entry { return m.keep.entry(rec) }
