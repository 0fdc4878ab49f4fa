package jsonl

// Transcript is one session file as loaded: patches applied, nothing else
// changed. It holds no file open.
type Transcript struct {
	State      State
	Header     *Header  // the first session record; for bad_header nil unless one was found
	HeaderLine int      // 1-based; 0 without a header
	Leading    []*Entry // title records before the header: no entries, but kept by a rewrite
	Records    []*Entry // all records after the header but patches, in file order; second headers are among them
	Stored     int      // the header's version on disk; 1 if it has none

	Malformed []LineReport // lines that yielded nothing, in file order: the first MaxReports
	Recovered []LineReport // damaged lines that yielded records, in file order: the first MaxReports
	Warnings  []Warning    // in file order

	MalformedTotal, RecoveredTotal int // how many there are, also past MaxReports

	Size     int64 // bytes read
	TornTail bool  // the file doesn't end in a line end: an append must write one first
	UTF16    bool  // the file is UTF-16LE: readable, never appended to
	Patches  int   // patches that were applied

	lost []int // lines of which something was lost: of those between two records the first and the last
}

// Title is the session's title: the header's, after patches, else that of a
// title record before the header; ok is false if there is neither.
func (t *Transcript) Title() (title string, ok bool) {
	if t.Header == nil {
		return "", false
	}
	if title, ok = t.Header.Title(); ok {
		return title, true
	}
	for i := len(t.Leading) - 1; i >= 0; i-- {
		if v := t.Leading[i].Value().Get("title"); v.Is(String) {
			return v.Str(), true
		}
	}
	return "", false
}

// TitleSource is "auto" or "user", or "" where nothing says so: the header's if
// the title is the header's, else that of the title record.
func (t *Transcript) TitleSource() string {
	if t.Header == nil {
		return ""
	}
	if _, ok := t.Header.Title(); ok || len(t.Leading) == 0 {
		return t.Header.TitleSource()
	}
	source := t.Leading[len(t.Leading)-1].Value().Get("source").Str()
	if source != "auto" && source != "user" {
		return ""
	}
	return source
}

// Entries are the records that are nodes of the tree: Records without second
// headers.
func (t *Transcript) Entries() []*Entry {
	for i, e := range t.Records {
		if e.Type() != "session" {
			continue
		}
		entries := append([]*Entry(nil), t.Records[:i]...)
		for _, e := range t.Records[i:] {
			if e.Type() != "session" {
				entries = append(entries, e)
			}
		}
		return entries
	}
	return t.Records
}
