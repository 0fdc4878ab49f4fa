package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/gajae-code/gjc-index/jsonl"
)

// archiveSums keeps the sums in a file of archived entries true while its lines
// are redacted: the record at the end of each run has the length and the sum of
// the transcript that the run's lines make, and undoing a run compares them. The
// form of the lines is in session/archivefile.go.
type archiveSums struct {
	sum     hash.Hash // nil outside of a run
	size    int64
	changed bool
}

var recordMark = []byte(`,"record":`)

// line takes the next line and gives the one to be written.
func (a *archiveSums) line(line []byte, same bool) ([]byte, bool, error) {
	text := bytes.TrimSuffix(line, []byte("\n"))
	if at := bytes.Index(text, recordMark); at >= 0 && bytes.HasPrefix(text, []byte(`{"line":`)) && bytes.HasSuffix(text, []byte("}")) {
		a.changed = a.changed || !same
		return line, same, a.add(text[:at], text[at+len(recordMark):len(text)-1])
	}
	v, _, err := jsonl.Parse(text)
	if err != nil {
		return line, same, err
	}
	switch kind := v.Get("type").Str(); {
	case kind == "gjc-index/archive":
		*a = archiveSums{sum: sha256.New()}
	case kind == "gjc-index/archive_end" && a.sum != nil:
		if a.changed {
			a.write(v.Get("tail").Str())
			o := v.Obj().Clone()
			o.Set("size", jsonl.NumberValue(float64(a.size)))
			o.Set("sha256", jsonl.StringValue(hex.EncodeToString(a.sum.Sum(nil))))
			line, same = append(jsonl.AppendJSON(nil, jsonl.ObjectValue(o)), '\n'), false
		}
		*a = archiveSums{}
	}
	return line, same, nil
}

// add counts a record with the white space around it, which head tells.
func (a *archiveSums) add(head, record []byte) error {
	if a.sum == nil {
		return nil
	}
	v, err := jsonl.ParseString(string(head) + "}")
	if err != nil {
		return err
	}
	after := "\n"
	if v.Get("after").Is(jsonl.String) {
		after = v.Get("after").Str()
	}
	a.write(v.Get("before").Str())
	_, _ = a.sum.Write(record) // a hash never fails
	a.size += int64(len(record))
	a.write(after)
	return nil
}

func (a *archiveSums) write(text string) {
	_, _ = a.sum.Write([]byte(text)) // a hash never fails
	a.size += int64(len(text))
}
