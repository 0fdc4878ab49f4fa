package jsonl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// MendOptions say what Mend may take for granted.
type MendOptions struct {
	MaxLine int64 // longest line in original bytes; 0 is DefaultMaxLine

	// Rebuild allows a header to be made where the file has no valid one.
	Rebuild bool
	// What is known of the header from elsewhere, for what the file doesn't say.
	ID, Cwd, Timestamp string
}

// Mending is one thing that Mend did to a record or a line.
type Mending string

// What Mend does.
const (
	MendHeader    Mending = "header"    // was missing or invalid and was made anew
	MendCompleted Mending = "completed" // lacked a value that every record has
	MendMoved     Mending = "moved"     // the header was not the first record
	MendRecovered Mending = "recovered" // was taken from a damaged line
	MendRelinked  Mending = "relinked"  // its parent was missing: follows the record before it
	MendUncycled  Mending = "uncycled"  // was its own ancestor
	MendRenamed   Mending = "renamed"   // a later record has its id: it has a new one
	MendKept      Mending = "kept"      // a compaction that kept entries from one on that is not there
	MendWrapped   Mending = "wrapped"   // the format doesn't know it: kept inside a custom entry
	MendRecoded   Mending = "recoded"   // broken UTF-8, or stood on several lines
	MendDropped   Mending = "dropped"   // is not in the copy; Reason says why
)

// The reasons of MendDropped beside those of a LineReport.
const (
	Repeated     Reason = "repeated"      // byte for byte a record that stands before it
	SecondHeader Reason = "second_header" // a further header that is invalid
	TitleFolded  Reason = "title_folded"  // the title is in the header now
)

// MendNote is one thing that was done, and where.
type MendNote struct {
	Line   int // 1-based, physical, in the damaged file; 0: the header that was made
	What   Mending
	Reason Reason // of what was dropped
}

// Mended is a sound copy of a damaged file.
type Mended struct {
	ID      string
	Text    []byte          // the copy; nil if there was nothing to mend
	Records int             // in the copy, without the header
	Notes   []MendNote      // by line
	Counts  map[Mending]int // of all notes, also of those beyond MaxReports
}

// Sound reports whether there was nothing to mend.
func (m *Mended) Sound() bool { return m.Text == nil }

// ErrNoHeader is a file whose header must be made anew, or lacks something that
// nobody has said: see MendOptions.
var ErrNoHeader = fmt.Errorf("%w: no valid header", ErrNotTranscript)

// Mend makes a sound copy of the size bytes of a session file: one that the
// strict reader opens, and the lenient one without a warning. Every record that
// can be read is in it, in the file's order. An entry whose parent is missing
// follows the one before it; of entries with one id the last keeps it, and what
// named the others names them still; a record that the format doesn't know is
// kept inside a custom entry. What could not be read is in the notes, by its
// line. The copy is of the current version. The whole is held in memory, more
// than once.
//
// Errors: ErrNoHeader, ErrNotTranscript for an empty file, ErrTooNew, those of r
// and ctx.
func Mend(ctx context.Context, r io.ReaderAt, size int64, opt MendOptions) (*Mended, error) {
	m := &mender{opt: opt, out: &Mended{Counts: map[Mending]int{}}}
	if m.sound(ctx, r, size) {
		m.out.ID = m.t.Header.ID()
		m.out.Records = len(m.t.Records)
		return m.out, nil
	}
	if err := m.load(ctx, r, size); err != nil {
		return nil, err
	}
	m.t.Upgrade(nil)
	m.reports()
	m.shapes()
	m.rename()
	m.relink()
	m.keepFirst()
	m.write()
	slices.SortStableFunc(m.out.Notes, func(a, b MendNote) int { return cmp.Compare(a.Line, b.Line) })
	in := InspectBytes(ctx, m.out.Text, LoadOptions{MaxLine: int64(len(m.out.Text)) + 1})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !soundInspection(&in) {
		return nil, fmt.Errorf("mended copy is not sound: %w", errors.Join(in.Cause, errUnsound))
	}
	return m.out, nil
}

var errUnsound = errors.New("it still has what a reader warns of")

// mender is one mending. The slices over nodes go by position: the records that
// are entries, in the file's order.
type mender struct {
	opt MendOptions
	out *Mended
	t   *Transcript

	tree   *Tree
	ids    []string       // by position: what the entry is called in the copy
	parent []int32        // by position: -1 for a root
	named  map[int]string // by position: the first entry that a compaction keeps, if the copy names another
}

func (m *mender) note(line int, what Mending, why Reason) {
	m.out.Counts[what]++
	if len(m.out.Notes) < MaxReports {
		m.out.Notes = append(m.out.Notes, MendNote{line, what, why})
	}
}

// sound reports whether the file needs no mending, and loads it.
func (m *mender) sound(ctx context.Context, r io.ReaderAt, size int64) bool {
	data := make([]byte, size)
	if n, err := r.ReadAt(data, 0); int64(n) != size || err != nil && !errors.Is(err, io.EOF) {
		return false // load meets the same error
	}
	in := InspectBytes(ctx, data, LoadOptions{MaxLine: m.opt.MaxLine})
	m.t = in.Transcript
	return soundInspection(&in)
}

// soundInspection reports whether both readers take a file without a word.
func soundInspection(in *Inspection) bool {
	t := in.Transcript
	if !in.Verdict.Openable() || len(in.Warnings)+len(t.Warnings)+len(t.Leading)+t.RecoveredTotal > 0 {
		return false
	}
	tree := t.Tree(false)
	for i, e := range tree.entries {
		if said, _ := e.Parent(); said != "" && tree.ParentAt(i) < 0 {
			return false // missing, or its own descendant
		}
	}
	return len(tree.firstKeptMissing()) == 0
}

// reports takes over what the reading said of lines.
func (m *mender) reports() {
	for _, r := range m.t.Malformed {
		m.note(r.Line, MendDropped, r.Reason)
	}
	m.out.Counts[MendDropped] += m.t.MalformedTotal - len(m.t.Malformed)
	for _, r := range m.t.Recovered {
		m.note(r.Line, MendRecovered, "")
	}
	more := m.t.RecoveredTotal - len(m.t.Recovered)
	if more > 0 {
		m.out.Counts[MendRecovered] += more
	}
	here := map[int]bool{}
	for _, e := range m.t.Records {
		here[e.Line] = true
	}
	for _, w := range m.t.Warnings {
		if w.Kind == DuplicateID && !here[w.Line] {
			m.note(w.Line, MendDropped, Repeated)
		}
	}
	if m.out.Counts[MendDropped] == 0 {
		delete(m.out.Counts, MendDropped)
	}
}

// write makes the text of the copy.
func (m *mender) write() {
	text := make([]byte, 0, m.t.Size+m.t.Size/16+256)
	header := m.t.Header.Value().Clone()
	if title, ok := m.t.Title(); ok && !header.Has("title") {
		header.Set("title", StringValue(title))
		if source := m.t.TitleSource(); source != "" {
			header.Set("titleSource", StringValue(source))
		}
	}
	for _, e := range m.t.Leading {
		m.note(e.Line, MendDropped, TitleFolded)
	}
	text = append(AppendJSON(text, ObjectValue(header)), '\n')
	at := 0
	for _, e := range m.t.Records {
		if e.kind != "session" {
			m.settle(at, e)
			at++
		}
		raw := e.Raw()
		torn := raw != nil && (bytes.IndexByte(raw, '\n') >= 0 || !utf8.Valid(raw))
		if torn {
			m.note(e.Line, MendRecoded, "")
		}
		text = append(e.AppendJSON(text, torn), '\n')
		m.out.Records++
	}
	m.out.ID, m.out.Text = header.Get("id").Str(), text
}

// settle gives an entry the id, the parent and the first kept entry that it has
// in the copy.
func (m *mender) settle(at int, e *Entry) {
	parent := NullValue()
	if p := m.parent[at]; p >= 0 {
		parent = StringValue(m.ids[p])
	}
	id, _ := e.ID()
	said, kind := e.Parent()
	sameParent := kind == parent.Kind() && said == parent.Str() || kind == String && said == "" && parent.Is(Null)
	kept, hasKept := m.named[at]
	if e.idKind == String && id == m.ids[at] && sameParent && !hasKept {
		return
	}
	o := e.Value().Clone()
	event := o.Get("event_id")
	o.Delete("event_id")
	o.Set("id", StringValue(m.ids[at]))
	if !sameParent {
		o.Set("parentId", parent)
	}
	if hasKept {
		o.Set("firstKeptEntryId", StringValue(kept))
	}
	if !event.Is(Absent) {
		o.Set("event_id", event)
	}
	e.SetValue(o)
}
