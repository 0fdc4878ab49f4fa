package index

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// errWhole says that what was appended changes earlier rows in a way that only
// a reading of the whole file gets right.
var errWhole = errors.New("file must be read whole")

// earlier looks up entries of a file that are in the database already.
type earlier interface {
	// byID is the last entry with this id; ok is false if there is none.
	byID(id string) (seq int, kind, role string, ok bool, err error)
	// archived reports whether an archive holds an entry of this id.
	archived(id string) (bool, error)
	// effects are the files that the session changed, and the calls that have
	// no result yet.
	effects() ([]checkpoint.Effect, []checkpoint.EffectCall, error)
	// timeOf is the time of an entry.
	timeOf(seq int) (millis, error)
}

// extractor makes rows of records, one file after the other. Not safe for
// several goroutines; its buffers are used again.
type extractor struct {
	ctx      context.Context
	file     storage.File
	before   earlier // nil for a whole file
	inMemory bool    // repeated lines were dropped already
	buf      []byte
	words    map[string]string // types and roles seen, so that each is one string

	r         *reading
	ids       map[string]int      // id: its last entry of this reading
	repeats   map[string]*repeats // ids that stand more than once
	labelled  map[string]int      // target: its last label of this reading
	waiting   map[string][]int    // missing parent: its children
	header    bool
	judged    bool // a record was seen that may not stand before the header
	some      bool // there is more than white space
	lastID    string
	lastRun   int
	lost      bool // a line was lost since the last entry
	feed      *checkpoint.Feed
	refold    bool             // what was folded can't be right
	stamps    map[int32]string // timestamps of messages as they stand, where these can't be read
	kept      []int            // checkpoints of effects: places in rows
	loose     [][]byte         // patches of entries that are not in the file
	archives  bool             // an archive lies beside the file
	ownLost   bool             // one was when the last record came, and that was no entry
	lostSince int              // malformed lines reported after the last record
	ended     bool             // the last record closed its line
	recovered bool             // the last record was taken from a damaged line
	// where the last record lies
	lastLine        int
	lastOffset, end int64
}

func newExtractor() *extractor {
	return &extractor{words: map[string]string{}, buf: make([]byte, 256<<10)}
}

// rest lets go of what was read last.
func (x *extractor) rest() { *x = extractor{buf: x.buf, words: x.words} }

func (x *extractor) begin(ctx context.Context, f storage.File, r *reading) {
	*x = extractor{ctx: ctx, file: f, buf: x.buf, words: x.words, archives: x.archives, r: r,
		ids: map[string]int{}, repeats: map[string]*repeats{}, labelled: map[string]int{}, waiting: map[string][]int{}}
	r.spent, x.stamps = newFactList(), map[int32]string{}
	r.reuse, r.patches, r.respent = map[int]usageRow{}, map[int]patchRow{}, map[int]*usageFact{}
	r.refs, r.missing, r.rerole = map[blobSum]bool{}, map[int]int{}, map[int]string{}
}

// whole reads size bytes of f from its beginning.
func (x *extractor) whole(ctx context.Context, f storage.File, size, maxLine int64) (*reading, error) {
	r := &reading{}
	x.begin(ctx, f, r)
	var end jsonl.ReadEnd
	opt := jsonl.ReadOptions{MaxLine: maxLine, Buffer: x.buf, End: &end, Report: x.report}
	for rec, err := range jsonl.Read(ctx, x.searched(io.NewSectionReader(f, 0, size)), opt) {
		if err != nil {
			return nil, err
		}
		if err := x.record(&rec); err != nil {
			return nil, err
		}
	}
	r.bytes = size
	x.settle()
	if r.state != StateOK {
		return &reading{facts: r.facts, bytes: size}, nil
	}
	if r.version < 2 || end.UTF16 {
		return x.derived(ctx, f, size, maxLine)
	}
	return r, x.mark()
}

// searched is a reader whose bytes are searched for references to blobs too:
// what nobody reads as a record may name one as well.
func (x *extractor) searched(r io.Reader) io.Reader {
	refs := x.r.refs
	return io.TeeReader(r, &session.RefSearch{Found: func(sum [32]byte) { refs[sum] = true }})
}

// mark notes where a reading of what is appended may begin: after the line end
// of the last record, if nothing that follows it became a row.
func (x *extractor) mark() error {
	if !x.ended || x.recovered || x.ownLost {
		x.r.resume = resume{}
		return nil
	}
	lines, err := linesBetween(x.file, x.lastOffset, x.end)
	if err != nil {
		return err
	}
	sum, err := sumBefore(x.file, x.end)
	x.r.resume = resume{offset: x.end, line: x.lastLine + lines, malformed: x.r.facts.malformed - x.lostSince, sum: sum}
	return err
}

// report counts a damaged line.
func (x *extractor) report(l jsonl.LineReport) {
	x.lost = true
	if l.Reason == jsonl.Recovered {
		x.r.facts.recovered++
		return
	}
	x.r.facts.malformed++
	x.lostSince++
}

// settle gives the file its state once all records have been seen.
func (x *extractor) settle() {
	r := x.r
	switch {
	case r.state != "":
	case x.header:
		r.state = StateOK
	case x.judged || x.some || r.facts.malformed > 0 || r.facts.recovered > 0:
		r.state, r.reason = StateHeader, "no session header"
	default:
		r.state, r.reason = StateEmpty, "is empty"
	}
	for i := range r.prompts {
		if r.firstPrompt != "" {
			break
		}
		r.firstPrompt = cutText(r.prompts[i].text, maxFirstPrompt)
	}
	if !x.header && r.state != StateOK {
		r.messages, r.entries = 0, 0
	}
}

// record takes one record of a file.
func (x *extractor) record(rec *jsonl.Record) error {
	defer func() {
		x.lostSince = 0
		x.ownLost = x.lost
		x.ended, x.recovered = rec.Terminated, rec.Recovered
		x.lastLine, x.lastOffset, x.end = rec.Line, rec.Offset, rec.End
	}()
	if x.r.state != "" && x.r.state != StateOK {
		return nil // refused
	}
	f := rec.Fields
	kind := x.word(f.Type)
	if !x.header {
		x.first(rec, kind)
		return nil
	}
	switch kind {
	case "header_patch":
		return x.headerPatch(rec)
	case "entry_patch":
		return x.entryPatch(rec)
	case "session":
		x.r.seconds++ // a record, and no node of the tree
		return nil
	}
	return x.entry(rec, kind)
}

// first judges records until the header has been seen.
func (x *extractor) first(rec *jsonl.Record, kind string) {
	f, r := rec.Fields, x.r
	if kind == "session" {
		if !x.version(f) {
			return
		}
		if !x.judged && f.ID.Ok() {
			x.takeHeader(f)
			return
		}
	}
	switch {
	case kind == "title" && !x.judged:
		if f.Title.Ok() {
			r.title, r.hasTitle = f.Title.Text(), true
		}
		x.some = true
		return
	case kind == "header_patch", kind == "entry_patch":
		x.some = true // it changes nothing and hides nothing
		return
	}
	x.judged = true
	if kind == "session" {
		r.state, r.reason = StateHeader, "no session header"
	}
}

// version is the gate: false if the file is refused for its version.
func (x *extractor) version(f *jsonl.Fields) bool {
	v := f.Version
	switch {
	case f.VersionKind == jsonl.Absent:
		x.r.version = 1
		return true
	case f.VersionKind == jsonl.Number && v > jsonl.CurrentVersion:
		x.r.state, x.r.reason = StateNewer, "written by a newer program"
		x.r.version = int(min(v, math.MaxInt32))
		x.name(f)
		return false
	case f.VersionKind != jsonl.Number || v != math.Trunc(v):
		x.r.state, x.r.reason = StateHeader, "version is not a version"
		return false
	}
	x.r.version = int(max(v, math.MinInt32))
	return true
}

func (x *extractor) takeHeader(f *jsonl.Fields) {
	x.header, x.judged = true, true
	x.name(f)
	x.r.last = x.r.created
	x.addRefs(f)
}

// name notes which session a header is of.
func (x *extractor) name(f *jsonl.Fields) {
	r := x.r
	r.id, r.cwd, r.parent = f.ID.Text(), f.Cwd.Text(), f.ParentSession.Text()
	r.titleSource = f.TitleSource.Text()
	if f.Title.Ok() {
		r.title, r.hasTitle = f.Title.Text(), true
	}
	r.created = timeOf(f.Timestamp)
}

func (x *extractor) headerPatch(rec *jsonl.Record) error {
	if x.r.version < 4 {
		return nil
	}
	patch, ok := jsonl.ParseHeaderPatch(rec.Raw)
	if !ok {
		return nil
	}
	r := x.r
	if s := patch.Get("title"); s.Is(jsonl.String) {
		r.title, r.hasTitle = jsonl.Display(s.Str()), true
	}
	if s := patch.Get("titleSource"); s.Is(jsonl.String) {
		r.titleSource = s.Str()
	}
	if s := patch.Get("cwd"); s.Is(jsonl.String) {
		if x.before != nil && jsonl.Display(s.Str()) != r.cwd {
			return errWhole // rows of prompts name the workspace
		}
		r.cwd = jsonl.Display(s.Str())
	}
	return nil
}

// word is the text of l, the same string for the same text.
func (x *extractor) word(l jsonl.Lit) string {
	if !l.Ok() {
		return ""
	}
	if s, ok := x.words[string(l.Raw())]; ok {
		return s
	}
	s := l.Text()
	if len(x.words) < 4096 {
		x.words[string(l.Raw())] = s
	}
	return s
}

func (x *extractor) addRefs(f *jsonl.Fields) {
	for _, l := range f.Refs {
		var sum blobSum
		text := l.Text()
		if n, err := hex.Decode(sum[:], []byte(text[strings.LastIndexByte(text, ':')+1:])); err == nil && n == len(sum) {
			x.r.refs[sum] = true
		}
	}
}
