package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

const greetingLine = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// A line that is no message is answered, and what follows it too.
func TestOddLinesDoNotEndTheServer(t *testing.T) {
	tests := []struct {
		name, line string
		code       float64 // 0: nothing is answered
	}{
		{"no JSON", "not json", notJSON},
		{"half of one", `{"jsonrpc":"2.0","id":1,`, notJSON},
		{"binary", "\xff\x00\xfe", notJSON},
		{"deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), notJSON},
		{"two on a line", `{"jsonrpc":"2.0","id":7,"method":"ping"} {"jsonrpc":"2.0","id":8,"method":"ping"}`, notJSON},
		{"several", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, notMessage},
		{"none of several", `[]`, notMessage},
		{"a number", `5`, notMessage},
		{"null", `null`, notMessage},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, notMessage},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, notMessage},
		{"a method that is none", `{"jsonrpc":"2.0","id":7,"method":5}`, notMessage},
		{"an error that is none", `{"jsonrpc":"2.0","id":7,"error":5}`, notMessage},
		{"too long", `{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("a", maxMessage) + `"}`, notMessage},
		{"nothing", "\r", 0},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":7,"result":{}}`, 0},
	}
	home := recallHome(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			codes, answered := served(t, home, greetingLine+tt.line+"\n")
			if !answered {
				t.Errorf("what followed was not answered")
			}
			if want := tt.code != 0; len(codes) > 1 || want != (len(codes) == 1) || want && codes[0] != tt.code {
				t.Errorf("answered with errors %v, want %v", codes, tt.code)
			}
		})
	}
}

// served gives a server lines, then a call, and tells which errors without an
// id it answers with, and whether the call is answered.
func served(t *testing.T, home, lines string) (codes []float64, answered bool) {
	t.Helper()
	in, give := io.Pipe()
	take, out := io.Pipe()
	a := newApp(in, out, io.Discard)
	a.home = home
	done := make(chan error, 1)
	go func() {
		done <- a.serveMCP(t.Context())
		_ = out.Close()
	}()
	go func() { _, _ = io.WriteString(give, lines+`{"jsonrpc":"2.0","id":99,"method":"tools/list"}`+"\n") }()
	r := bufio.NewReader(take)
	for !answered {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			ID    any `json:"id"`
			Error *struct {
				Code float64 `json:"code"`
			} `json:"error"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("said %q: %v", line, err)
		}
		if m.ID == nil && m.Error != nil {
			codes = append(codes, m.Error.Code)
		}
		answered = m.ID == 99.0
	}
	_ = give.Close()
	go func() { _, _ = io.Copy(io.Discard, r) }()
	if err := <-done; err != nil {
		t.Errorf("it ended with %v", err)
	}
	return codes, answered
}

// A client of the version in which several messages were one line may give such.
func TestSeveralMessagesAtOnceOfAnOldClient(t *testing.T) {
	old := strings.ReplaceAll(greetingLine, "2025-06-18", "2025-03-26")
	codes, answered := served(t, recallHome(t), old+`[{"jsonrpc":"2.0","id":7,"method":"ping"}]`+"\n")
	if len(codes) > 0 || !answered {
		t.Errorf("errors %v, answered %v", codes, answered)
	}
}

func FuzzMessageLines(f *testing.F) {
	f.Add(greetingLine)
	f.Add("not json\n[]\n\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}")
	f.Fuzz(func(t *testing.T, text string) {
		var out strings.Builder
		m := &messageLines{in: bufio.NewReaderSize(strings.NewReader(text), 16), out: &out}
		passed, err := io.ReadAll(m)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(passed) + out.String()) {
			if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
				t.Errorf("%q of %q", line, text)
			}
		}
	})
}
