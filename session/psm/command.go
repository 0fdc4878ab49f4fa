package psm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Command is a Summarizer that asks a command. It is started for each batch
// and gets one JSON object a line, one for each unit:
//
//	{"n":1,"inputs":[{"role":"user","text":"…"},{"role":"toolResult","tool":"bash","error":false,"text":"…"},…]}
//
// and prints, in any order, one for each:
//
//	{"n":1,"summary":"…"}
//
// The numbers stand for nothing but this run's units; no id of the session is
// told. Texts are redacted.
type Command struct {
	Shell string        // what the system's shell runs
	Limit time.Duration // how long a run may take; 0 is CommandLimit
}

// CommandLimit is how long a command may take over a batch.
const CommandLimit = 2 * time.Minute

const (
	maxCommandOutput = 4 << 20 // bytes
	maxCommandErrors = 2 << 10
	maxSummary       = 16 << 10
)

// Name is "command".
func (Command) Name() string { return "command" }

// Summarize runs the command.
func (c Command) Summarize(ctx context.Context, units []Unit) ([]string, error) {
	limit := c.Limit
	if limit == 0 {
		limit = CommandLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took more than %v", limit))
	defer cancel()
	cmd := shell(ctx, c.Shell)
	cmd.WaitDelay = time.Second
	cmd.Stdin = bytes.NewReader(request(units))
	out, errs := &bounded{most: maxCommandOutput}, &bounded{most: maxCommandErrors, rest: true}
	cmd.Stdout, cmd.Stderr = out, errs
	err := cmd.Run()
	switch {
	case context.Cause(ctx) != nil:
		return nil, fmt.Errorf("run the summarizer: %w", context.Cause(ctx))
	case out.over:
		return nil, fmt.Errorf("%w: it printed more than %d bytes", ErrSummary, maxCommandOutput)
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("run the summarizer: %w: %s", err, strings.TrimSpace(errs.buf.String()))
	}
	return answers(out.buf.Bytes(), len(units))
}

func request(units []Unit) []byte {
	str := jsonl.StringValue
	var out []byte
	for i, u := range units {
		var inputs []jsonl.Value
		for _, in := range u.Inputs {
			o := jsonl.NewObj(jsonl.Member{Key: "role", Value: str(in.Role)})
			if in.Role == "toolResult" {
				o.Set("tool", str(in.Tool))
				o.Set("error", jsonl.BoolValue(in.Error))
			}
			o.Set("text", str(in.Text))
			inputs = append(inputs, jsonl.ObjectValue(o))
		}
		out = append(jsonl.AppendJSON(out, jsonl.ObjectValue(jsonl.NewObj(
			jsonl.Member{Key: "n", Value: jsonl.NumberValue(float64(i + 1))},
			jsonl.Member{Key: "inputs", Value: jsonl.ArrayValue(inputs...)}))), '\n')
	}
	return out
}

// answers reads what a command printed: a summary for each of n units.
func answers(out []byte, n int) ([]string, error) {
	texts := make([]string, n)
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, maxCommandOutput+1)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		v, _, err := jsonl.Parse(line)
		if err != nil || !v.Is(jsonl.Object) {
			return nil, fmt.Errorf("%w: a line of it is no JSON object", ErrSummary)
		}
		at := v.Get("n").Num()
		i := int(at)
		switch {
		case float64(i) != at || i < 1 || i > n:
			return nil, fmt.Errorf("%w: it has a number that was not asked for", ErrSummary)
		case texts[i-1] != "":
			return nil, fmt.Errorf("%w: it has the number %d twice", ErrSummary, i)
		}
		texts[i-1] = v.Get("summary").Str()
		if strings.TrimSpace(texts[i-1]) == "" {
			return nil, fmt.Errorf("%w: the summary with the number %d is empty", ErrSummary, i)
		}
	}
	for i, text := range texts {
		if text == "" {
			return nil, fmt.Errorf("%w: there is none with the number %d", ErrSummary, i+1)
		}
	}
	return texts, lines.Err()
}

// bounded keeps what is written up to a bound. Past it writing fails, or with
// rest goes nowhere.
type bounded struct {
	buf  bytes.Buffer
	most int
	rest bool
	over bool
}

var errBound = errors.New("too much output")

// Write keeps p.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	b.buf.Write(p[:room])
	b.over = true
	if b.rest {
		return len(p), nil
	}
	return room, errBound
}
