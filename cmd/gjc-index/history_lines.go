package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/gajae-code/gjc-index/history"
)

// exportedPrompt is a line of history export; fields are only ever added.
type exportedPrompt struct {
	Prompt    string  `json:"prompt"`
	CreatedAt string  `json:"created_at"`
	Cwd       *string `json:"cwd"`
}

// importedPrompt is a line as import takes it.
type importedPrompt struct {
	Prompt    *string `json:"prompt"`
	Text      *string `json:"text"`
	Cwd       *string `json:"cwd"`
	CreatedAt any     `json:"created_at"`
	Time      any     `json:"time"`
	Timestamp any     `json:"timestamp"`
}

// badLine is a line that gave no prompt, and why; never with its text.
type badLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// readPrompts gives the prompt of each line of JSON; one without a time has the
// zero time. Lines that give none go to bad.
func readPrompts(r io.Reader, maxLine int64, bad func(badLine)) iter.Seq2[history.Prompt, error] {
	return func(yield func(history.Prompt, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for n := 1; ; n++ {
			line, long, err := readLine(in, maxLine)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(history.Prompt{}, fmt.Errorf("read line %d: %w", n, err))
				return
			}
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if line = bytes.TrimSpace(line); len(line) > 0 {
				p, reason := promptOf(line)
				if long {
					reason = fmt.Sprintf("longer than %d bytes", maxLine)
				}
				if reason != "" {
					bad(badLine{n, reason})
				} else if !yield(p, nil) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// readLine reads a line with its end; of one longer than most bytes only as
// many.
func readLine(in *bufio.Reader, most int64) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if room := most + 2 - int64(len(line)); int64(len(part)) > room {
			part = part[:max(room, 0)]
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, int64(len(bytes.TrimRight(line, "\r\n"))) > most, err
		}
	}
}

// promptOf reads one line; reason says why it gives no prompt.
func promptOf(line []byte) (p history.Prompt, reason string) {
	var in importedPrompt
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	err := dec.Decode(&in)
	if err == nil && dec.Decode(&struct{}{}) != io.EOF {
		return p, "more than one value"
	}
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind) && kind.Field == "":
		return p, "no object"
	case errors.As(err, &kind):
		return p, kind.Field + " is no text"
	case err != nil:
		return p, "no JSON"
	case in.Prompt == nil && in.Text == nil:
		return p, "neither prompt nor text"
	}
	if in.Prompt == nil {
		in.Prompt = in.Text
	}
	if history.Trim(*in.Prompt) == "" {
		return p, "the prompt is empty"
	}
	p.Text, p.Cwd = *in.Prompt, in.Cwd
	for _, t := range []struct {
		name  string
		value any
	}{{"created_at", in.CreatedAt}, {"time", in.Time}, {"timestamp", in.Timestamp}} {
		if t.value == nil {
			continue
		}
		at, ok := timeOf(t.value)
		if !ok {
			return p, t.name + " is no time"
		}
		p.Time = at
		return p, ""
	}
	return p, ""
}

// Numbers above this are milliseconds: as seconds they would lie in the year
// 5138.
const mostSeconds = 1e11

// timeOf reads a time of RFC 3339, or Unix seconds or milliseconds.
func timeOf(v any) (time.Time, bool) {
	switch v := v.(type) {
	case string:
		t, err := time.Parse(time.RFC3339Nano, v)
		return t, err == nil && t.Year() > 0
	case json.Number:
		n, err := v.Float64()
		if err != nil || math.Abs(n) > 1e15 {
			return time.Time{}, false
		}
		if math.Abs(n) > mostSeconds {
			return time.UnixMilli(int64(n)), true
		}
		return time.Unix(int64(math.Floor(n)), 0), true
	}
	return time.Time{}, false
}
