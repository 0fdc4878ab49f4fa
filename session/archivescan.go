package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// archiveScan is what is known of a transcript that is to be archived, without
// its texts: it may be far larger than memory.
type archiveScan struct {
	header  *jsonl.Header // patches applied
	lines   []scanLine    // each record, in file order
	nodes   []checkpoint.Node
	at      []int32               // by node: its place in lines
	patches map[int32]jsonl.Value // by node: the message that holds now
	ids     *idTable
	size    int64
	sum     string // SHA-256, hexadecimal
	crc     uint32
	version float64
	tree    *jsonl.Tree // of the labels alone
}

// scanLine is where a record lies and what it is.
type scanLine struct {
	offset int64
	size   int32
	node   int32 // place in nodes; below 0 one of the following

	textAt, textLen int32 // the longest text of its message, if that is long: where it lies in the line
}

// What a line is that is no entry.
const (
	lineHeader = -1 - iota
	lineOther  // a second header, or a title before the header: it stays as it is
	linePatch  // it is folded in
	lineRepeat // it repeats an earlier entry's line: it counts for nothing
)

// notArchivable refuses a transcript.
func notArchivable(why string) error { return fmt.Errorf("%w: %s", checkpoint.ErrNotArchivable, why) }

// scanArchive reads the transcript once.
func scanArchive(ctx context.Context, f storage.File) (*archiveScan, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	s := &scanner{archiveScan: &archiveScan{patches: map[int32]jsonl.Value{}, ids: newIDTable(), size: st.Size},
		waiting: map[string][]int32{}, twice: map[string][]int32{}, file: f}
	sum := newSums()
	end, err := s.read(ctx, io.TeeReader(io.NewSectionReader(f, 0, st.Size), sum))
	sum.End()
	if err != nil {
		return nil, err
	}
	if s.header == nil {
		return nil, jsonl.ErrNotTranscript
	}
	if end.UTF16 {
		s.version = 0 // it has to be written anew first
	}
	s.sum, s.crc = sum.sha256(), sum.crc
	s.tree = jsonl.NewTree(s.labels)
	if s.refused == nil {
		s.finish()
	}
	return s.archiveScan, s.refused
}

func (s *scanner) read(ctx context.Context, r io.Reader) (end jsonl.ReadEnd, err error) {
	opt := jsonl.ReadOptions{End: &end, Report: func(jsonl.LineReport) { s.refuse("it has lines that can't be read") }}
	for rec, err := range jsonl.Read(ctx, r, opt) {
		if err == nil {
			err = s.record(&rec)
		}
		if err == nil {
			err = s.refused
		}
		if err != nil {
			return end, err
		}
	}
	return end, nil
}

// scanner fills an archiveScan.
type scanner struct {
	*archiveScan
	maker   checkpoint.NodeMaker
	waiting map[string][]int32 // by id that is missing so far: the nodes that name it
	twice   map[string][]int32 // by id that stands more than once: its earlier nodes
	labels  []*jsonl.Entry
	file    io.ReaderAt
	refused error
}

func (s *scanner) refuse(why string) {
	if s.refused == nil {
		s.refused = notArchivable(why)
	}
}

func (s *scanner) record(rec *jsonl.Record) error {
	if rec.Line != rec.EndLine || !rec.Terminated && rec.End != s.size || len(rec.Raw) > math.MaxInt32 {
		s.refuse("a record stands over several lines, or several on one")
		return nil
	}
	l := scanLine{offset: rec.Offset, size: int32(len(rec.Raw))}
	f := rec.Fields
	switch {
	case f.Type.Equal("session") && s.header == nil:
		if err := s.takeHeader(rec); err != nil {
			return err
		}
		l.node = lineHeader
	case s.header == nil && !f.Type.Equal("title"):
		return jsonl.ErrNotTranscript
	case f.Type.Equal("session"), s.header == nil:
		l.node = lineOther
	case f.Type.Equal("header_patch"), f.Type.Equal("entry_patch"):
		s.patch(rec.Raw)
		l.node = linePatch
	default:
		repeats, err := s.repeats(rec)
		if err != nil {
			return err
		}
		if l.node = lineRepeat; !repeats {
			l.node = int32(len(s.nodes))
			l.textAt, l.textLen = longText(rec)
			s.at = append(s.at, int32(len(s.lines)))
			s.entry(rec)
		}
	}
	s.lines = append(s.lines, l)
	return nil
}

func (s *scanner) takeHeader(rec *jsonl.Record) error {
	v, _, err := jsonl.Parse(rec.Raw)
	if err != nil || !v.Get("id").Is(jsonl.String) {
		return jsonl.ErrNotTranscript
	}
	s.header = jsonl.NewHeader(v.Obj())
	s.version, _ = s.header.Version()
	if s.version > jsonl.CurrentVersion {
		return jsonl.ErrTooNew
	}
	return nil
}

func (s *scanner) patch(raw []byte) {
	if s.version < 4 {
		return
	}
	if patch, ok := jsonl.ParseHeaderPatch(raw); ok {
		for _, m := range patch.Members() {
			s.header.Set(m.Key, m.Value)
		}
		return
	}
	id, message, ok := jsonl.ParseEntryPatch(raw)
	if !ok {
		return
	}
	if len(s.twice[id]) > 0 {
		s.refuse("a patch names an id that stands more than once")
	}
	if at, known := s.ids.at(s.nodes, id); known && message.Is(jsonl.Object) && s.nodes[at].Type() == "message" {
		if s.nodes[at].Role() != message.Get("role").Str() {
			s.refuse("a patch gives a message another role")
		}
		s.patches[at] = message
	}
}

// repeats reports whether a record repeats an earlier line of its id byte for
// byte.
func (s *scanner) repeats(rec *jsonl.Record) (bool, error) {
	id := rec.Fields.ID.WTF8()
	last, known := s.ids.at(s.nodes, id)
	if !known || rec.Fields.IDKind != jsonl.String {
		return false, nil
	}
	for _, node := range append(s.twice[id], last) {
		l := s.lines[s.at[node]]
		if int(l.size) != len(rec.Raw) {
			continue
		}
		raw := make([]byte, l.size)
		if _, err := s.file.ReadAt(raw, l.offset); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if bytes.Equal(raw, rec.Raw) {
			return true, nil
		}
	}
	return false, nil
}

func (s *scanner) entry(rec *jsonl.Record) {
	n, e := s.maker.Node(rec)
	at := int32(len(s.nodes))
	if rec.Fields.ParentKind == jsonl.String {
		if parent := rec.Fields.Parent.WTF8(); parent != "" {
			if p, ok := s.ids.at(s.nodes, parent); ok {
				n.Parent = int(p)
			} else {
				s.waiting[parent] = append(s.waiting[parent], at)
			}
		}
	}
	if e != nil && e.Type() == "label" {
		s.labels = append(s.labels, e)
	}
	s.room(rec.End)
	s.nodes = append(s.nodes, n)
	if n.ID == "" {
		return
	}
	if last, known := s.ids.at(s.nodes[:at], n.ID); known {
		s.twice[n.ID] = append(s.twice[n.ID], last)
	}
	s.ids.put(s.nodes, at)
	for _, child := range s.waiting[n.ID] {
		if child == at {
			s.refuse("parents form a cycle")
		}
		s.nodes[child].Parent = int(at)
	}
	delete(s.waiting, n.ID)
}

// longLine is from how many bytes on it pays to remember where a text lies.
const longLine = 256

// longText is where the longest text of a record's message lies in it; n is 0
// if none is long.
func longText(rec *jsonl.Record) (at, n int32) {
	if len(rec.Raw) < longLine || !rec.Fields.Type.Equal("message") {
		return 0, 0
	}
	var long jsonl.Lit
	for _, t := range rec.Fields.Texts {
		if len(t.Raw()) > len(long.Raw()) {
			long = t
		}
	}
	if len(long.Raw()) < longLine/2 {
		return 0, 0
	}
	from, ok := long.In(rec.Raw)
	if !ok {
		return 0, 0
	}
	return int32(from), int32(len(long.Raw()))
}

// roomAfter is how many entries tell how many there will be.
const roomAfter = 1000

// room makes room for all entries at once, as far as the first ones tell how
// many there will be: growing would hold them twice.
func (s *scanner) room(read int64) {
	if len(s.nodes) != roomAfter || read <= 0 {
		return
	}
	n := int(float64(s.size) / float64(read) * roomAfter * 1.05)
	s.nodes = append(make([]checkpoint.Node, 0, n+roomAfter), s.nodes...)
	s.lines = append(make([]scanLine, 0, n+roomAfter), s.lines...)
	s.at = append(make([]int32, 0, n+roomAfter), s.at...)
}

// finish puts in what is known at the end only.
func (s *scanner) finish() {
	for i := range s.nodes {
		_, s.nodes[i].Labeled = s.tree.Label(s.nodes[i].ID)
		if s.nodes[i].Parent > i && s.cycle(i) {
			s.refuse("parents form a cycle")
			return
		}
	}
}

// cycle reports whether an entry is its own ancestor. Only an entry whose
// parent comes later can be on a cycle.
func (s *scanner) cycle(i int) bool {
	for at, steps := s.nodes[i].Parent, 0; at >= 0; at, steps = s.nodes[at].Parent, steps+1 {
		if at == i || steps > len(s.nodes) {
			return true
		}
	}
	return false
}

// leaf is the position of the chosen leaf: the last entry, if none was chosen;
// -1 before all entries.
func (s *archiveScan) leaf(fsys storage.FS, path string) (int, error) {
	leaf, ok, err := ReadLeaf(fsys, path, s.header.ID(), s.size)
	if err != nil {
		return 0, err
	}
	if ok && leaf.IsRoot() {
		return -1, nil
	}
	if id, named := leaf.ID(); ok && named {
		if at, known := s.ids.at(s.nodes, id); known {
			return int(at), nil
		}
	}
	return len(s.nodes) - 1, nil
}
