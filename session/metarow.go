package session

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// A listing reads the beginning and the end of a transcript, and most of its
// time it parses them. So a metadata sidecar keeps the row that came of it, and
// the sum of the bytes that it came of: the row is used only while these are
// the same, byte for byte, and then no row can be another one.

// metaRowVersion says by which rules rows are made: it rises with each change of
// what a listing says of the same bytes.
const metaRowVersion = 1

// metaRow is a session's row in a listing.
type metaRow struct {
	sum  string // of the beginning and the end that it was made of; "" without a row
	info Info   // without path, size and modification time
}

// ends are the parts of a transcript that a listing looks at.
type ends struct {
	head, tail []byte // tail is empty of a file that head holds whole
	st         storage.Info
}

func readHead(fsys storage.FS, path string) (e ends, err error) {
	e.head, e.st, err = storage.ReadPrefix(fsys, path, jsonl.ListingPrefix)
	return e, err
}

// cut reports whether head is not all.
func (e *ends) cut() bool { return e.st.Size > int64(len(e.head)) }

// readTail reads the tail, if that is not done.
func (e *ends) readTail(fsys storage.FS, path string) (err error) {
	if e.tail == nil && e.cut() {
		e.tail, _, err = storage.ReadTail(fsys, path, jsonl.ListingTail)
	}
	return err
}

// sum tells the ends of one file from those of any other.
func (e *ends) sum() string {
	h := sha256.New()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(e.head)))) // a hash never fails
	_, _ = h.Write(e.head)
	_, _ = h.Write(e.tail)
	return hex.EncodeToString(h.Sum(nil))
}

// keptRow is the row that the sidecar keeps of the transcript as it is. Nothing
// that is wrong with a sidecar is worth a word.
func (e *ends) keptRow(fsys storage.FS, path string) (Info, bool) {
	text, err := storage.ReadFile(fsys, MetaPath(path), maxMetaFile)
	if err != nil {
		return Info{}, false
	}
	m, ok := readMetaText(string(text))
	if !ok || m.row.sum == "" || m.Length != e.st.Size || m.ModTime != e.st.ModTime {
		return Info{}, false
	}
	if err := e.readTail(fsys, path); err != nil || e.sum() != m.row.sum {
		return Info{}, false
	}
	return m.row.info, true
}

// writeMetaFile writes the sidecar of a transcript, with its row.
func (s *Store) writeMetaFile(ctx context.Context, path string, m Meta) error {
	row, err := s.rowOf(ctx, path, &m)
	if err != nil {
		return err
	}
	m.row = row
	return storage.Replace(ctx, s.fsys, MetaPath(path), newFileMode, func(w io.Writer) error {
		_, err := io.WriteString(w, m.text())
		return err
	})
}

// rowOf makes the row that goes with m; none if the file is another one now, or
// so short that its row costs no more than the sidecar.
func (s *Store) rowOf(ctx context.Context, path string, m *Meta) (metaRow, error) {
	e, err := readHead(s.fsys, path)
	if err != nil || !e.cut() || e.st.Size != m.Length || e.st.ModTime != m.ModTime {
		return metaRow{}, err
	}
	if err := e.readTail(s.fsys, path); err != nil {
		return metaRow{}, err
	}
	info, err := e.row(ctx, s.fsys, path)
	if errors.Is(err, jsonl.ErrNotTranscript) {
		return metaRow{}, nil // no listing has it
	}
	return metaRow{sum: e.sum(), info: info}, err
}

func (r *metaRow) value() jsonl.Value {
	if r.sum == "" {
		return jsonl.Value{}
	}
	in := &r.info
	o := jsonl.NewObj()
	text := func(key, s string) { o.Set(key, jsonl.StringValue(s)) }
	o.Set("v", jsonl.NumberValue(metaRowVersion))
	text("sha256", r.sum)
	text("id", in.ID)
	text("cwd", in.Cwd)
	if in.HasTitle {
		text("title", in.Title)
	}
	text("parentSession", in.ParentSession)
	if in.HasCreated {
		o.Set("createdMs", int64Text(in.Created.UnixMilli()))
	}
	o.Set("messages", jsonl.NumberValue(float64(in.MessageCount)))
	text("firstMessage", in.FirstMessage)
	text("allText", in.AllText)
	o.Set("titleIsSummary", jsonl.BoolValue(in.titleIsSummary))
	text("firstBlock", in.firstBlock)
	return jsonl.ObjectValue(o)
}

func metaRowOf(v jsonl.Value) (r metaRow) {
	if v.Get("v").Num() != metaRowVersion {
		return metaRow{}
	}
	text := func(key string) string { return v.Get(key).Str() }
	r.sum = text("sha256")
	r.info = Info{
		ID: text("id"), Cwd: text("cwd"), Title: text("title"), HasTitle: v.Get("title").Is(jsonl.String),
		ParentSession: text("parentSession"), MessageCount: int(v.Get("messages").Num()), Estimated: true,
		FirstMessage: text("firstMessage"), AllText: text("allText"),
		titleIsSummary: v.Get("titleIsSummary").Bool(), firstBlock: text("firstBlock"),
	}
	if ms, ok := wholeNumber(text("createdMs")); ok {
		r.info.Created, r.info.HasCreated = time.UnixMilli(ms).UTC(), true
	}
	return r
}
