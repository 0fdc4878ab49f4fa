package jsonl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/storage"
)

// Verdict is what strict inspection says of a file.
type Verdict string

// The verdicts. A session is resumable if its context ends in something that
// is not an answer, and terminal if its turn is finished; both can be opened.
const (
	Resumable  Verdict = "resumable"
	Terminal   Verdict = "terminal"
	Missing    Verdict = "missing"     // there is no such file
	Malformed  Verdict = "malformed"   // something in it is not as the format says
	Unstable   Verdict = "unstable"    // it changed while it was read
	ReadFailed Verdict = "read-failed" // it can't be read
)

// Openable reports whether the session may be resumed, continued or switched to.
func (v Verdict) Openable() bool { return v == Resumable || v == Terminal }

// Inspection is the result of a strict inspection.
type Inspection struct {
	Verdict    Verdict
	SessionID  string
	Info       storage.Info
	SHA256     string      // of the file's bytes, lower-case hexadecimal
	Transcript *Transcript // upgraded; nil unless Openable or OnlyTail
	Warnings   []Warning   // records of unknown types, which the original refuses
	Cause      error       // why it is not Openable: *LineError for a line; nil otherwise
	OnlyTail   bool        // Malformed, but without its last line it would be Openable; Transcript and SessionID are of the rest
}

// Inspect reads the session file at path and judges it as strictly as the
// original does before it resumes a session, but for records of unknown types.
// It writes nothing. Source: behaviour part 10, decisions 11 and 17.
func Inspect(ctx context.Context, fsys storage.FS, path string, opt LoadOptions) Inspection {
	f, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Inspection{Verdict: Missing, Cause: err}
	}
	if err != nil {
		return Inspection{Verdict: ReadFailed, Cause: err}
	}
	in := inspectFile(ctx, f, opt)
	if err := f.Close(); err != nil && in.Verdict.Openable() {
		return Inspection{Verdict: ReadFailed, Cause: err}
	}
	if now, err := fsys.Lstat(path); in.Verdict.Openable() && (err != nil || !now.SameFile(in.Info)) {
		return Inspection{Verdict: Unstable, Info: in.Info, Cause: errUnstable}
	}
	return in
}

var errUnstable = errors.New("file changed while it was read")

func inspectFile(ctx context.Context, f storage.File, opt LoadOptions) Inspection {
	before, err := f.Stat()
	if err != nil {
		return Inspection{Verdict: ReadFailed, Cause: err}
	}
	if opt.MaxSize > 0 && before.Size > opt.MaxSize {
		return Inspection{Verdict: ReadFailed, Cause: ErrTooLarge}
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return Inspection{Verdict: ReadFailed, Cause: err}
	}
	after, err := f.Stat()
	if err != nil {
		return Inspection{Verdict: ReadFailed, Cause: err}
	}
	if before != after || int64(len(data)) != after.Size {
		return Inspection{Verdict: Unstable, Info: after, Cause: errUnstable}
	}
	in := InspectBytes(ctx, data, opt)
	in.Info = after
	return in
}

// InspectBytes is Inspect for the bytes of a file.
func InspectBytes(ctx context.Context, data []byte, opt LoadOptions) Inspection {
	sum := sha256.Sum256(data)
	in := inspect(ctx, data, opt)
	in.SHA256 = hex.EncodeToString(sum[:])
	var fault *LineError
	if !errors.As(in.Cause, &fault) {
		return in
	}
	// A crash leaves a torn last line; the session before it is what the user wants.
	text := bytes.TrimRight(data, "\r\n")
	start := bytes.LastIndexByte(text, '\n') + 1
	if fault.Line != bytes.Count(text, []byte("\n"))+1 {
		return in
	}
	if rest := inspect(ctx, data[:start], opt); rest.Verdict.Openable() {
		in.OnlyTail, in.Transcript, in.SessionID = true, rest.Transcript, rest.SessionID
	}
	return in
}

func inspect(ctx context.Context, data []byte, opt LoadOptions) Inspection {
	in := Inspection{Verdict: Malformed}
	if in.Cause = strictLines(data); in.Cause != nil {
		return in
	}
	t, err := ParseTranscript(ctx, bytes.NewReader(data), opt)
	if err != nil {
		in.Cause = err
		return in
	}
	if len(t.Malformed) > 0 {
		in.Cause = &LineError{Line: t.Malformed[0].Line, Reason: t.Malformed[0].Reason}
		return in
	}
	t.Upgrade(nil)
	if in.Warnings, in.Cause = t.strictRecords(); in.Cause != nil {
		return in
	}
	in.Transcript, in.SessionID = t, t.Header.ID()
	in.Verdict = t.verdict()
	return in
}

// strictLines wants valid UTF-8 whose every line is empty or one JSON value.
func strictLines(data []byte) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var f Fields
	for line := 1; len(data) > 0; line++ {
		text, rest, ended := bytes.Cut(data, []byte("\n"))
		data = rest
		if ended {
			text = bytes.TrimSuffix(text, []byte("\r"))
		}
		if len(text) == 0 || f.Scan(text) {
			continue
		}
		if _, err := parseWhole(text); err != nil || !utf8.Valid(text) {
			return &LineError{Line: line, Reason: NotJSON}
		}
	}
	return nil
}

// verdict tells a finished turn from one that waits for an answer.
func (t *Transcript) verdict() Verdict {
	messages := BuildContext(t.Tree(false).Path(LeafLast())).Messages
	if n := len(messages); n > 0 && messages[n-1].Get("role").Str() != "assistant" {
		return Resumable
	}
	return Terminal
}
