package export

import (
	"bufio"
	"bytes"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
)

// moved is a transcript that says another workspace: in its header, and at its
// end once more, for patches of the header in between could say the old one.
// All else stays byte for byte.
func moved(r io.Reader, cwd string) io.Reader {
	end := &endReader{cwd: cwd}
	in := bufio.NewReaderSize(r, 64<<10)
	return io.MultiReader(io.TeeReader(io.MultiReader(&headerReader{in: in, cwd: cwd}, in), end), end)
}

// headerReader gives the lines up to the header, whose workspace it replaces.
type headerReader struct {
	in   *bufio.Reader
	cwd  string
	out  []byte
	done bool
}

// maxHeader bounds how much is read before there is a header.
const maxHeader = jsonl.DefaultMaxLine

// Read reads.
func (h *headerReader) Read(p []byte) (int, error) {
	for len(h.out) == 0 {
		if h.done {
			return 0, io.EOF
		}
		line, err := readLine(h.in, maxHeader)
		h.out = line
		if err != nil {
			h.done = true
			if err != io.EOF {
				return 0, err
			}
		}
		v, n, perr := jsonl.Parse(line)
		if perr != nil || v.Get("type").Str() != "session" {
			h.done = h.done || v.Get("type").Str() != "title" && len(bytes.TrimSpace(line)) > 0
			continue
		}
		o := v.Obj().Clone()
		o.Set("cwd", jsonl.StringValue(h.cwd))
		h.out = append(jsonl.AppendJSON(nil, jsonl.ObjectValue(o)), line[n:]...)
		h.done = true
	}
	n := copy(p, h.out)
	h.out = h.out[n:]
	return n, nil
}

func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull || len(line) > most {
			return line, err
		}
	}
}

// endReader gives the patch at the end. It is shown what stands before, since a
// torn last line has to be closed first.
type endReader struct {
	cwd  string
	last byte
	out  []byte
	made bool
}

// Write sees what stands before.
func (e *endReader) Write(p []byte) (int, error) {
	if len(p) > 0 {
		e.last = p[len(p)-1]
	}
	return len(p), nil
}

// Read reads.
func (e *endReader) Read(p []byte) (int, error) {
	if !e.made {
		patch := jsonl.HeaderPatchRecord(jsonl.HeaderPatch{Cwd: jsonl.StringValue(e.cwd)})
		if e.last != '\n' {
			e.out = []byte("\n")
		}
		e.out, e.made = append(jsonl.AppendJSON(e.out, jsonl.ObjectValue(patch)), '\n'), true
	}
	if len(e.out) == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}
