package jsonl

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// LoadOptions says how a transcript is loaded. The zero value is right for
// most callers.
type LoadOptions struct {
	MaxLine int64 // longest line in original bytes; 0 is DefaultMaxLine
	MaxSize int64 // longest file in bytes; 0 is no limit
}

// Load reads the session file at path, applies its patches and checks its
// header. Nothing is written. Malformed lines are no error: the transcript
// tells of them.
//
// Errors: fs.ErrNotExist, storage.ErrUnsafe, ErrTooLarge, ErrNotTranscript,
// ErrTooNew. With the last two the transcript is not nil and says what is
// known (State, Malformed, the header of a newer version).
func Load(ctx context.Context, fsys storage.FS, path string, opt LoadOptions) (*Transcript, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open session: %w", err)
	}
	t, err := loadFile(ctx, f, opt)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if err != nil {
		return t, fmt.Errorf("load session %s: %w", path, err)
	}
	return t, nil
}

func loadFile(ctx context.Context, f storage.File, opt LoadOptions) (*Transcript, error) {
	if opt.MaxSize > 0 {
		info, err := f.Stat()
		if err != nil {
			return nil, err
		}
		if info.Size > opt.MaxSize {
			return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLarge, info.Size, opt.MaxSize)
		}
	}
	return ParseTranscript(ctx, io.NewSectionReader(f, 0, math.MaxInt64), opt)
}

// ParseTranscript is Load for what r yields.
func ParseTranscript(ctx context.Context, r io.Reader, opt LoadOptions) (*Transcript, error) {
	if opt.MaxSize > 0 {
		r = &bounded{src: r, left: opt.MaxSize}
	}
	l := &loader{t: &Transcript{State: StateEmpty}, seed: maphash.MakeSeed()}
	var end ReadEnd
	for rec, err := range Read(ctx, r, ReadOptions{MaxLine: opt.MaxLine, Report: l.report, End: &end}) {
		if err != nil {
			return nil, err
		}
		if !l.add(&rec) {
			break
		}
	}
	return l.finish(end)
}

// bounded is a reader that fails when there is more than the limit.
type bounded struct {
	src  io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.src.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// loader builds a transcript record by record.
type loader struct {
	t                   *Transcript
	keep                keeper
	latest              map[string]*Entry   // the last entry of an id
	messages            map[string]*Entry   // the last message entry of an id, once it is not the last entry
	repeats             map[uint64][]*Entry // entries whose id stands more than once, by hash of their bytes
	seed                maphash.Seed
	version             Value // the header's, if it can be none
	some                bool  // there is more than white space
	patches             bool  // the header's version has patches
	lostAfter, lostHere int   // lines lost since so many records were there
	end                 ReadEnd
	mend                bool // keep what a reading passes over: see Mend
	bad                 bool // a record before the header that may not be there, or a bad header
}

func (l *loader) report(r LineReport) {
	l.some = true
	l.lose(r.Line)
	kept, total := &l.t.Malformed, &l.t.MalformedTotal
	if r.Reason == Recovered {
		kept, total = &l.t.Recovered, &l.t.RecoveredTotal
	}
	if *total++; *total <= MaxReports {
		*kept = append(*kept, r)
	}
}

// lose remembers that something of a line was lost. What matters is between
// which records lines were lost: the first and the last of them tell.
func (l *loader) lose(line int) {
	t := l.t
	if l.lostAfter != len(t.Records) {
		l.lostAfter, l.lostHere = len(t.Records), 0
	}
	if l.lostHere++; l.lostHere > 2 {
		t.lost[len(t.lost)-1] = line
		return
	}
	t.lost = append(t.lost, line)
}

func (l *loader) warn(line int, kind WarningKind) {
	l.t.Warnings = append(l.t.Warnings, Warning{Line: line, Kind: kind})
}

// add takes one record; false ends the reading.
func (l *loader) add(rec *Record) bool {
	l.some = true
	f := rec.Fields
	patch := f.Type.Equal(headerPatch) || f.Type.Equal(entryPatch)
	switch {
	case l.t.Header == nil && f.Type.Equal("session"):
		return l.header(rec)
	case l.t.Header == nil && patch:
		// A patch before the header changes nothing and hides nothing.
	case l.t.Header == nil && f.Type.Equal("title") && !l.bad:
		l.t.Leading = append(l.t.Leading, l.keep.entry(rec))
	case l.t.Header == nil || l.bad:
		l.bad = true
	case patch:
		l.patch(rec)
	default:
		l.entry(rec)
	}
	return true
}

// header takes the first session record, wherever it is. Its version is
// checked before anything else, as the original does.
func (l *loader) header(rec *Record) bool {
	v, _, err := Parse(rec.Raw)
	if err != nil {
		l.bad = true
		return true
	}
	l.t.Header = NewHeader(v.obj)
	l.t.HeaderLine = rec.Line
	version, kind := rec.Fields.Version, rec.Fields.VersionKind
	switch {
	case kind == Absent:
		l.t.Stored = 1
	case kind == Number && version > CurrentVersion:
		l.t.State = StateNewerVersion
		l.t.Stored = versionInt(version)
		return false
	case kind != Number || version != math.Trunc(version):
		l.bad, l.version = true, v.Get("version")
	default:
		l.t.Stored = versionInt(version)
	}
	l.patches = kind == Number && version >= 4
	l.bad = l.bad || !v.Get("id").Is(String)
	if !l.bad {
		l.t.State = StateOK
	}
	return true
}

func versionInt(v float64) int { return int(max(min(v, math.MaxInt32), math.MinInt32)) }

func (l *loader) finish(end ReadEnd) (*Transcript, error) {
	t := l.t
	t.Size, t.UTF16, t.TornTail = end.Size, end.UTF16, !end.Terminated && end.Size > 0
	switch {
	case t.State == StateOK:
		return t, nil
	case t.State == StateNewerVersion:
		return t, &VersionError{Version: t.Header.obj.Get("version")}
	case l.some:
		t.State = StateBadHeader
		t.Header, t.HeaderLine, t.Stored, t.Leading = nil, 0, 0, nil
		if l.version.Kind() != Absent {
			return t, &VersionError{Version: l.version}
		}
		return t, fmt.Errorf("%w: no valid header", ErrNotTranscript)
	}
	return t, fmt.Errorf("%w: empty", ErrNotTranscript)
}

// ParseText gives the records of session text, leniently, as they stand:
// without a check of the header and without applying patches.
func ParseText(text string) []*Entry {
	var k keeper
	var entries []*Entry
	for rec, err := range Read(context.Background(), strings.NewReader(text), ReadOptions{}) {
		if err != nil {
			return entries // text in memory has no read errors
		}
		entries = append(entries, k.entry(&rec))
	}
	return entries
}
