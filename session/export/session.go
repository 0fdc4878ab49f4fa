package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
)

// Session is what is written: the facts of its header, its tree, and how to
// read an entry.
type Session struct {
	ID, Title, Cwd string
	Path           string // of the transcript; JSONL reads it
	Created        time.Time
	Tree           *jsonl.Tree

	// Entry gives the whole entry for one of the tree, which may hold its place
	// only; nil if the tree's entries are whole.
	Entry func(*jsonl.Entry) (*jsonl.Entry, error)

	Blobs jsonl.BlobGetter // nil: images can't be had
}

// Options say what of a session is written. The zero value is the path to the
// last entry, as it is.
type Options struct {
	Leaf        string // entry id where the path ends; "" is the last entry
	AllBranches bool

	// Redact takes secrets out of a text and counts them; nil takes none out.
	Redact func(text string) (clean string, secrets int)

	// Suspect reports whether a record's JSON may hold a secret; see LinesOptions.
	Suspect func(json []byte) bool
}

// Report says what was written.
type Report struct {
	Entries int // of the session
	Shown   int // of them in the output
	Secrets int // taken out
	Missing int // images and texts whose blob could not be read
}

// Write writes a session in any format but Archive and JSONL, which are made
// from files (see WriteLines, WriteArchive).
//
// Errors: fs.ErrNotExist through Options.Leaf, those of Session.Entry, w's.
func Write(ctx context.Context, w io.Writer, s Session, f Format, opt Options) (Report, error) {
	if s.Entry == nil {
		s.Entry = func(e *jsonl.Entry) (*jsonl.Entry, error) { return e, nil }
	}
	leaf := jsonl.LeafLast()
	if opt.Leaf != "" {
		if s.Tree.Entry(opt.Leaf) == nil {
			return Report{}, fmt.Errorf("export %s: %w", s.ID, noEntry(opt.Leaf))
		}
		leaf = jsonl.LeafAt(opt.Leaf)
	}
	d := &document{ctx: ctx, w: bufio.NewWriterSize(w, 64<<10), s: s, opt: opt, leaf: leaf}
	d.report.Entries = s.Tree.Len()
	d.clean = newCleaner(opt.Redact)
	d.s.ID, d.s.Title, d.s.Cwd = d.clean.line(s.ID), d.clean.line(s.Title), d.clean.line(s.Cwd)
	var err error
	switch f {
	case HTML:
		err = d.html()
	case Markdown:
		err = d.markdown()
	case Text:
		err = d.text()
	case JSON:
		err = d.json()
	default:
		return Report{}, fmt.Errorf("format %q: %w for one session's entries", f, ErrFormat)
	}
	if err == nil {
		err = d.w.Flush()
	}
	d.report.Secrets = d.clean.secrets
	return d.report, err
}

// document is a session on its way out.
type document struct {
	ctx    context.Context
	w      *bufio.Writer
	s      Session
	opt    Options
	leaf   jsonl.Leaf
	clean  *cleaner
	report Report
	paths  map[string]string // by tool call id: the file that a call is about
}

// load reads an entry whole: blobs in their places, secrets out.
func (d *document) load(e *jsonl.Entry) (*jsonl.Entry, error) {
	if err := d.ctx.Err(); err != nil {
		return nil, err
	}
	whole, err := d.s.Entry(e)
	if err != nil {
		return nil, err
	}
	v, missing, err := resolve(d.ctx, d.s.Blobs, whole.Value())
	if err != nil {
		return nil, err
	}
	d.report.Missing += missing
	if raw := whole.Raw(); raw != nil && v.Obj() == whole.Value() && d.opt.Suspect != nil && !d.opt.Suspect(raw) {
		return whole, nil
	}
	made := jsonl.NewEntry(d.clean.value(v).Obj())
	made.Line = whole.Line
	return made, nil
}

// resolve puts images and evicted content back in their places.
func resolve(ctx context.Context, blobs jsonl.BlobGetter, o *jsonl.Obj) (v jsonl.Value, missing int, err error) {
	if blobs == nil {
		blobs = noBlobs{}
	}
	v, gone, err := jsonl.Resolve(ctx, blobs, jsonl.ObjectValue(o))
	if err != nil {
		return v, 0, err
	}
	made, lost, err := jsonl.Rehydrate(ctx, blobs, v.Obj())
	return jsonl.ObjectValue(made), len(gone) + len(lost), err
}

// noBlobs is a store that holds nothing.
type noBlobs struct{}

func (noBlobs) Get(_ context.Context, ref blob.Ref) ([]byte, error) { return nil, noEntry(ref.Hex()) }

// shown says in words which entries the output holds.
func (d *document) shown(shown int) string {
	if d.opt.AllBranches {
		return fmt.Sprintf("all branches, %s", count(d.s.Tree.Len(), "entry", "entries"))
	}
	end := "no entry"
	if e := d.s.Tree.LeafEntry(d.leaf); e != nil {
		id, _ := e.ID()
		end = "entry " + d.clean.line(id)
	}
	text := fmt.Sprintf("the branch that ends at %s, %d of %s", end, shown, count(d.s.Tree.Len(), "entry", "entries"))
	if shown < d.s.Tree.Len() {
		text += " (--all-branches shows the rest)"
	}
	return text
}

// redaction says whether secrets were taken out, before their number is known.
func (d *document) redaction() string {
	if d.opt.Redact == nil {
		return "nothing was taken out"
	}
	return "known forms of secrets were taken out; their number is at the end"
}

// ending is the number of secrets, and what is missing, for the document's end.
func (d *document) ending() []string {
	var lines []string
	if d.opt.Redact != nil {
		lines = append(lines, count(d.clean.secrets, "secret", "secrets")+" redacted.")
	}
	if d.report.Missing > 0 {
		lines = append(lines, count(d.report.Missing, "image or text", "images and texts")+" could not be found.")
	}
	return lines
}

// title is the session's title, else its id.
func (d *document) title() string {
	if d.s.Title != "" {
		return d.s.Title
	}
	return "Session " + d.s.ID
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
