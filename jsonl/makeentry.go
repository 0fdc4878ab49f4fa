package jsonl

// EntryMaker makes entries of records, as a load does, with few allocations.
// The zero value is ready. For one goroutine.
type EntryMaker struct{ keep keeper }

// Entry is the entry of a record; it stays valid after the next one.
func (m *EntryMaker) Entry(rec *Record) *Entry { return m.keep.entry(rec) }

// ParseEntryPatch gives the id of the message that a line patches, and what it
// is then; message is Absent if the patch changes nothing. ok is false unless
// the line is one valid entry_patch.
func ParseEntryPatch(line []byte) (id string, message Value, ok bool) {
	v, err := parseWhole(line)
	if err != nil || !validEntryPatch(v.Obj()) {
		return "", Value{}, false
	}
	return v.Get("entryId").Str(), v.Get("patch").Get("message"), true
}
