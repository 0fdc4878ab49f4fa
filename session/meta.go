package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// metaSchema is the version of the metadata sidecar.
const metaSchema = 2

const (
	maxMetaFile = 4 << 20 // bytes of a sidecar
	metaTail    = 4 << 10 // bytes of the transcript's end whose sum is kept
)

// Meta is what a metadata sidecar says of a transcript: what a listing needs,
// without reading the whole. It is made from the transcript alone, and counts
// only as long as Session, Length, ModTime and TailSum are those of the
// transcript.
type Meta struct {
	Session string // id
	Length  int64  // bytes
	ModTime int64  // Unix ns
	TailSum string // SHA-256 of the last 4 KiB, hexadecimal

	Title       string
	HasTitle    bool
	TitleSource string
	Cwd         string
	Parent      string // parentSession
	Created     string // the header's timestamp
	FirstPrompt string // the first message of a user
	LastTime    string // the latest timestamp of an entry, as it stands

	Entries, Messages, Malformed int

	HighestEvent jsonl.EventID // 0 without one
	Usage        []MetaUsage   // by day, provider and model

	row metaRow
}

// MetaUsage sums up the usage of one model on one day.
type MetaUsage struct {
	Day, Provider, Model string // the day as 2006-01-02 in UTC, "" if unknown

	Input, Output, CacheRead, CacheWrite float64 // tokens

	Cost     float64 // of the known prices
	Requests int64
}

// MetaPath is the metadata sidecar of the transcript at path.
func MetaPath(path string) string { return stemOf(path) + ".meta.json" }

// ReadMeta reads the sidecar of the transcript at path. ok is false if there is
// none that speaks of the transcript as it is.
func ReadMeta(fsys storage.FS, path string) (m Meta, ok bool, err error) {
	text, err := storage.ReadFile(fsys, MetaPath(path), maxMetaFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrTooLarge) || errors.Is(err, storage.ErrUnsafe) {
		return Meta{}, false, nil
	}
	if err != nil {
		return Meta{}, false, err
	}
	if m, ok = readMetaText(string(text)); !ok {
		return Meta{}, false, nil
	}
	tail, st, err := storage.ReadTail(fsys, path, metaTail)
	if err != nil {
		return Meta{}, false, err
	}
	if st.Size != m.Length || st.ModTime != m.ModTime || sumOf(tail) != m.TailSum {
		return Meta{}, false, nil
	}
	// A copy of the session under another id can end in the same bytes.
	head, st, err := storage.ReadPrefix(fsys, path, jsonl.ListingPrefix)
	if err != nil || st.Size != m.Length || st.ModTime != m.ModTime || headID(head) != m.Session {
		return Meta{}, false, err
	}
	return m, true, nil
}

// headID is the session's id, from the beginning of its file; "" if it doesn't
// stand there plainly.
func headID(head []byte) string {
	var f jsonl.Fields
	for {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		if !ended || !f.Scan(line) {
			return ""
		}
		if f.Type.Equal("session") {
			return f.ID.Text()
		}
		head = rest
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// BuildMeta makes the metadata of the transcript at path by reading it.
//
// Errors: those of jsonl.Read, fs.ErrNotExist, jsonl.ErrNotTranscript.
func BuildMeta(ctx context.Context, fsys storage.FS, path string) (Meta, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return Meta{}, err
	}
	defer func() { _ = f.Close() }() // was only read
	st, err := f.Stat()
	if err != nil {
		return Meta{}, err
	}
	b := newMetaState()
	opt := jsonl.ReadOptions{Report: func(r jsonl.LineReport) { b.m.Malformed++ }}
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(f, 0, st.Size), opt) {
		if err != nil {
			return Meta{}, err
		}
		b.record(rec.Fields)
	}
	if b.m.Session == "" {
		return Meta{}, jsonl.ErrNotTranscript
	}
	return b.finish(fsys, path)
}

// Metadata is that of a transcript: its sidecar's, or made anew if that does
// not fit. Nothing is written.
func (s *Store) Metadata(ctx context.Context, path string) (Meta, error) {
	m, ok, err := ReadMeta(s.fsys, path)
	if err != nil || ok {
		return m, err
	}
	return BuildMeta(ctx, s.fsys, path)
}

// metaState gathers metadata from records in file order.
type metaState struct {
	m     Meta
	head  bool // a header was seen
	usage map[MetaUsage]*MetaUsage
	last  *MetaUsage // of usage
}

func newMetaState() *metaState { return &metaState{usage: map[MetaUsage]*MetaUsage{}} }

func (b *metaState) record(f *jsonl.Fields) {
	switch f.Type.Text() {
	case "session":
		if !b.head {
			b.head = true
			b.m.Session, b.m.Created, b.m.Parent = f.ID.Text(), f.Timestamp.Text(), f.ParentSession.Text()
			b.names(f)
		}
	case "title":
		if !b.head {
			b.names(f)
		}
	case "header_patch":
		b.names(f)
	case "entry_patch":
	default:
		b.entry(f)
	}
}

func (b *metaState) names(f *jsonl.Fields) {
	if f.Title.Ok() {
		b.m.Title, b.m.HasTitle = f.Title.Text(), true
	}
	if f.TitleSource.Ok() {
		b.m.TitleSource = f.TitleSource.Text()
	}
	if f.Cwd.Ok() {
		b.m.Cwd = f.Cwd.Text()
	}
}

func (b *metaState) entry(f *jsonl.Fields) {
	event, _ := jsonl.ParseEventID(f.EventID.Text())
	b.count(f.Timestamp.Text(), event)
	if !f.Type.Equal("message") {
		return
	}
	b.m.Messages++
	if b.m.FirstPrompt == "" && f.Role.Equal("user") {
		for i, t := range f.Texts {
			if i > 0 {
				b.m.FirstPrompt += " "
			}
			b.m.FirstPrompt += t.Text()
		}
	}
	if f.Usage.Has && f.Usage.Whole {
		b.spend(f.Timestamp.Text(), f.Provider.Text(), f.Model.Text(), &f.Usage)
	}
}

// count takes an entry of any type; event is 0 without an event id.
func (b *metaState) count(time string, event jsonl.EventID) {
	b.m.Entries++
	b.m.LastTime = max(b.m.LastTime, time)
	b.m.HighestEvent = max(b.m.HighestEvent, event)
}

func (b *metaState) spend(time, provider, model string, u *jsonl.UsageFields) {
	row := b.usageRow(time[:min(len(time), len("2006-01-02"))], provider, model)
	row.Input += u.Input
	row.Output += u.Output
	row.CacheRead += u.CacheRead
	row.CacheWrite += u.CacheWrite
	row.Cost += u.Cost
	row.Requests++
}

// usageRow is the row of a model's day, most often the one asked for last.
func (b *metaState) usageRow(day, provider, model string) *MetaUsage {
	if len(day) < len("2006-01-02") {
		day = ""
	}
	if r := b.last; r != nil && r.Day == day && r.Provider == provider && r.Model == model {
		return r
	}
	key := MetaUsage{Day: day, Provider: provider, Model: model}
	row := b.usage[key]
	if row == nil {
		row = &MetaUsage{Day: day, Provider: provider, Model: model}
		b.usage[key] = row
	}
	b.last = row
	return row
}

// finish puts in what the file itself says.
func (b *metaState) finish(fsys storage.FS, path string) (Meta, error) {
	tail, st, err := storage.ReadTail(fsys, path, metaTail)
	if err != nil {
		return Meta{}, err
	}
	m := b.m
	m.Length, m.ModTime, m.TailSum = st.Size, st.ModTime, sumOf(tail)
	m.Usage = nil
	for _, row := range b.usage {
		m.Usage = append(m.Usage, *row)
	}
	slices.SortFunc(m.Usage, func(a, c MetaUsage) int {
		return cmp.Or(cmp.Compare(a.Day, c.Day), cmp.Compare(a.Provider, c.Provider), cmp.Compare(a.Model, c.Model))
	})
	return m, nil
}

// int64Text keeps all digits of a number that a double would round.
func int64Text(n int64) jsonl.Value { return jsonl.StringValue(strconv.FormatInt(n, 10)) }
