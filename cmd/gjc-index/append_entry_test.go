package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
)

func TestReadEntriesIsBounded(t *testing.T) {
	line := strings.TrimSuffix(user("x"), "\n")
	n := int64(len(line))
	for _, tt := range []struct {
		name          string
		in            string
		longest, most int64
		entries       int
		err           string
	}{
		{"a line of the limit", line + "\n", n, 1 << 20, 1, ""},
		{"without a line end", line, n, 1 << 20, 1, ""},
		{"with CR LF", line + "\r\n", n, 1 << 20, 1, ""},
		{"one byte more", line + " \n", n, 1 << 20, 0, "line 1: more than 58 bytes; nothing was done"},
		{"the second line", line + "\n" + line + " ", n, 1 << 20, 0, "line 2: more than 58 bytes; nothing was done"},
		{"input of the limit", line + "\n" + line + "\n", n, 2*n + 2, 2, ""},
		{"input of one byte more", line + "\n" + line + "\n\n", n, 2*n + 2, 0, "more than 118 bytes at once; nothing was done"},
		{"a line beyond the input's limit", line, 1 << 20, n - 1, 0, "more than 57 bytes at once; nothing was done"},
		{"a byte order mark", "\ufeff" + line, 1 << 20, 1 << 20, 1, ""},
		{"invalid UTF-8", strings.Replace(line, "x", "\xff", 1), 1 << 20, 1 << 20, 0, "line 1: is not UTF-8; nothing was done"},
		{"two values", line + line, 1 << 20, 1 << 20, 0, "line 1: is not JSON; nothing was done"},
		{"nested too deeply", strings.Repeat("[", 200_000) + strings.Repeat("]", 200_000), 1 << 20, 1 << 20, 0, "line 1: is not JSON, or nested too deeply; nothing was done"},
		{"nothing", " \n\t\n", 1 << 20, 1 << 20, 0, "stdin holds no entry: give one JSON object a line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, _, err := readEntries(strings.NewReader(tt.in), tt.longest, tt.most)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if len(entries) != tt.entries || got != tt.err {
				t.Errorf("readEntries: %d entries, %q, want %d, %q", len(entries), got, tt.entries, tt.err)
			}
		})
	}
}

// What a line says beside its type is kept, and what the session gives is the
// session's.
func TestEntriesAreMadeAsTheLibraryMakesThem(t *testing.T) {
	base := jsonl.Base{ID: "i", Parent: "p", Timestamp: "t"}
	for _, tt := range []struct{ in, want string }{
		{`{"type":"message","id":"x","message":{"role":"user","content":"c"},"more":1}`,
			`{"type":"message","id":"i","parentId":"p","timestamp":"t","message":{"role":"user","content":"c"},"more":1}`},
		{`{"type":"custom","data":{"a":1},"customType":"x/y","timestamp":1,"event_id":"0"}`,
			`{"type":"custom","customType":"x/y","data":{"a":1},"id":"i","parentId":"p","timestamp":"t"}`},
		{`{"type":"custom","customType":"context_clear"}`,
			`{"type":"custom","customType":"context_clear","id":"i","parentId":null,"timestamp":"t"}`},
		{`{"type":"custom_message","customType":"irc:x","content":"c","display":true,"details":{}}`,
			`{"type":"custom_message","customType":"irc:x","content":"c","display":true,"details":{"observationId":"session:s:entry:i"},"attribution":"agent","id":"i","parentId":"p","timestamp":"t"}`},
		{`{"type":"branch_summary","summary":"s"}`,
			`{"type":"branch_summary","id":"i","parentId":"p","timestamp":"t","fromId":"p","summary":"s"}`},
		{`{"type":"thinking_level_change"}`,
			`{"type":"thinking_level_change","id":"i","parentId":"p","timestamp":"t"}`},
	} {
		entry, _, reason := parseEntry([]byte(tt.in))
		if reason != "" {
			t.Errorf("parseEntry(%s): %s", tt.in, reason)
			continue
		}
		if got := jsonl.ObjectValue(entry(base, "s")).JSON(); got != tt.want {
			t.Errorf("parseEntry(%s) makes\n%s, want\n%s", tt.in, got, tt.want)
		}
	}
}

// An interrupt ends an append whose input has not come yet.
func TestAppendInterruptedWhileItReads(t *testing.T) {
	home, _, id, path := begun(t)
	before := readFile(t, path)
	in, feed := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	var out, errs bytes.Buffer
	go func() {
		_, _ = feed.Write([]byte(user("x"))) // it is read, and more is waited for
		cancel()
	}()
	status := run(ctx, []string{"append", id, "--home", home}, in, &out, &errs)
	_ = feed.CloseWithError(errors.New("ended"))
	if status != exitInterrupted || out.Len() > 0 || readFile(t, path) != before {
		t.Errorf("append: status %d, want %d; %q, stderr %q", status, exitInterrupted, &out, &errs)
	}
}
