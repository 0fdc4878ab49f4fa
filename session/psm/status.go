package psm

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// StatusPath is the status file of the transcript at path.
func StatusPath(path string) string {
	return strings.TrimSuffix(path, ".jsonl") + ".psm.status.json"
}

// Status is what the worker said last of a session.
type Status struct {
	State      string // idle, or failed if the last pass did not end well
	At         string // timestamp of the last pass
	Inputs     int    // records that were summed up, in all
	Summaries  int    // that were made, in all
	Pending    int    // units that a failure has left to be done
	Errors     []StatusError
	Summarizer string
}

// StatusError is something that went wrong. Errors outlive a pass that ends
// well: the last ones are kept.
type StatusError struct {
	At   string // timestamp
	Text string // redacted, at most maxStatusError bytes
}

// The states.
const (
	Idle   = "idle"
	Failed = "failed"
)

const (
	maxStatusErrors = 20
	maxStatusError  = 500     // bytes
	maxStatus       = 1 << 20 // bytes of the file
)

// ReadStatus reads the status of a transcript; fs.ErrNotExist if no worker has
// written one, and a zero Status for a file that is none. It only reads.
func ReadStatus(fsys storage.FS, transcript string) (Status, error) {
	var s Status
	data, err := storage.ReadFile(fsys, StatusPath(transcript), maxStatus)
	if err != nil {
		return s, err
	}
	v, _, err := jsonl.Parse(data)
	if err != nil || v.Get("v").Num() != 1 {
		return s, nil
	}
	s = Status{
		State: v.Get("state").Str(), At: v.Get("at").Str(), Summarizer: v.Get("summarizer").Str(),
		Inputs: int(v.Get("inputs").Num()), Summaries: int(v.Get("summaries").Num()), Pending: int(v.Get("pending").Num()),
	}
	for _, e := range v.Get("errors").Items() {
		s.Errors = append(s.Errors, StatusError{e.Get("at").Str(), e.Get("text").Str()})
	}
	return s, nil
}

func (s *Status) value() jsonl.Value {
	num := func(n int) jsonl.Value { return jsonl.NumberValue(float64(n)) }
	str := jsonl.StringValue
	errs := []jsonl.Value{}
	for _, e := range s.Errors {
		errs = append(errs, jsonl.ObjectValue(jsonl.NewObj(
			jsonl.Member{Key: "at", Value: str(e.At)}, jsonl.Member{Key: "text", Value: str(e.Text)})))
	}
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "v", Value: num(1)},
		jsonl.Member{Key: "state", Value: str(s.State)},
		jsonl.Member{Key: "at", Value: str(s.At)},
		jsonl.Member{Key: "summarizer", Value: str(s.Summarizer)},
		jsonl.Member{Key: "inputs", Value: num(s.Inputs)},
		jsonl.Member{Key: "summaries", Value: num(s.Summaries)},
		jsonl.Member{Key: "pending", Value: num(s.Pending)},
		jsonl.Member{Key: "errors", Value: jsonl.ArrayValue(errs...)}))
}

// addError keeps an error, without secrets and at its length, and forgets the
// oldest beyond the bound.
func (s *Status) addError(at, text string, redact jsonl.Redactor) {
	if redact != nil {
		text = redact(text)
	}
	text = strings.Join(strings.Fields(jsonl.Display(text)), " ")
	s.Errors = append(s.Errors, StatusError{at, cut(text, maxStatusError)})
	s.Errors = s.Errors[max(0, len(s.Errors)-maxStatusErrors):]
}

// write replaces the status file; its directory's owner alone can read it.
func (s *Status) write(ctx context.Context, fsys storage.FS, transcript string) error {
	return storage.Replace(context.WithoutCancel(ctx), fsys, StatusPath(transcript), 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, s.value().JSON()+"\n")
		return err
	})
}

// oldStatus is the status that a pass goes on from.
func oldStatus(fsys storage.FS, transcript string) (Status, error) {
	s, err := ReadStatus(fsys, transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	return s, err
}
