package session

import (
	"context"
	"errors"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// What another program appends while a transcript is archived or brought back
// is carried over as it is, where that says the same behind the new file as it
// did behind the old one. Else the work starts again.

// lateFits looks at what was appended after the first size bytes of a
// transcript, and says how long that is now. ErrGrown: a record of it does not
// fit, or a line can't be read.
func lateFits(ctx context.Context, f storage.File, size int64, fits func(*jsonl.Fields) bool) (now int64, err error) {
	st, err := f.Stat()
	if err != nil || st.Size <= size {
		return st.Size, err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], max(size-1, 0)); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if last[0] != '\n' {
		return 0, jsonl.ErrGrown
	}
	odd := false
	opt := jsonl.ReadOptions{Report: func(jsonl.LineReport) { odd = true }}
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(f, size, st.Size-size), opt) {
		if err != nil {
			return 0, err
		}
		if odd || !rec.Terminated || !fits(rec.Fields) {
			return 0, jsonl.ErrGrown
		}
	}
	if odd {
		return 0, jsonl.ErrGrown
	}
	return st.Size, nil
}

// fitsBehind reports whether records may follow an archived transcript: they
// hang on a leaf whose context was kept, or on one another.
func (j *archiveJob) fitsBehind() func(*jsonl.Fields) bool {
	leaves := map[string]bool{}
	for _, at := range j.plan.Live {
		leaves[j.scan.nodes[at].ID] = true
	}
	return func(f *jsonl.Fields) bool {
		switch f.Type.Text() {
		case "session", "title", "entry_patch", "label":
			return false // it may speak of what was archived
		case "header_patch":
			return true
		}
		if f.ParentKind == jsonl.String && !leaves[f.Parent.WTF8()] {
			return false
		}
		if f.IDKind == jsonl.String {
			leaves[f.ID.WTF8()] = true
		}
		return true
	}
}

// fitsBehind reports whether a record may follow a transcript that was brought
// back: it names no entry that only stood in for others.
func (j *undoJob) fitsBehind(f *jsonl.Fields) bool {
	switch f.Type.Text() {
	case "session", "title":
		return false
	}
	return !j.isCheckpoint(f.Parent.WTF8()) && !j.isCheckpoint(f.TargetID.WTF8())
}
