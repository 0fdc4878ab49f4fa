package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	maxMessage   = 16 << 20     // bytes of a line
	noBatchSince = "2025-06-18" // the version of the protocol from which on a line is one message

	notJSON    = -32700 // codes of JSON-RPC
	notMessage = -32600
)

// messageLines reads messages, one a line, and passes those on that are some.
// Others are answered here: a server that ends of one odd line takes what the
// agent asks next along.
type messageLines struct {
	in      *bufio.Reader
	out     io.Writer
	version string // of the protocol, as the client asked for it
	rest    []byte // of a line that is passed on
}

// Read reads from the next message.
func (m *messageLines) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		line, long, err := m.line()
		line = bytes.TrimSpace(line)
		passed, code, why := m.messages(line)
		switch {
		case long:
			m.refuse(notMessage, fmt.Sprintf("a message is longer than %d bytes", maxMessage))
		case len(line) == 0:
		case why != "":
			m.refuse(code, why)
		default:
			m.rest = passed
		}
		if err != nil && len(m.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// line reads one line. One that is too long is passed over.
func (m *messageLines) line() (line []byte, long bool, err error) {
	for {
		part, err := m.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// messages are those of a line, one a line, or what keeps it from being passed
// on: why is "" if nothing does. Clients of older versions may give several at
// once; each is answered by itself.
func (m *messageLines) messages(line []byte) (passed []byte, code int, why string) {
	if len(line) == 0 {
		return nil, 0, ""
	}
	if !json.Valid(line) {
		return nil, notJSON, "a line is no JSON: give one message a line"
	}
	all := []json.RawMessage{line}
	if line[0] == '[' {
		if m.version == "" || m.version >= noBatchSince {
			return nil, notMessage, "several messages at once are not taken: give one a line"
		}
		if err := json.Unmarshal(line, &all); err != nil || len(all) == 0 {
			return nil, notMessage, "a line is no message of JSON-RPC 2.0"
		}
	}
	for _, one := range all {
		msg, err := jsonrpc.DecodeMessage(one)
		if err != nil {
			return nil, notMessage, "a line is no message of JSON-RPC 2.0"
		}
		if r, ok := msg.(*jsonrpc.Request); ok && r.Method == "initialize" {
			var asked struct {
				Version string `json:"protocolVersion"`
			}
			if json.Unmarshal(r.Params, &asked) == nil {
				m.version = asked.Version
			}
		}
		passed = append(append(passed, one...), '\n')
	}
	return passed, 0, ""
}

// refuse answers what is no message. It has no id that could be trusted.
func (m *messageLines) refuse(code int, why string) {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err == nil {
		_, _ = m.out.Write(append(text, '\n')) // that nobody reads is told by the next answer
	}
}
