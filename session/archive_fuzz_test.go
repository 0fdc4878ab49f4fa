package session

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

var escapeOf = regexp.MustCompile(`\\u00([2-7])([0-9a-fA-F])`)

// refsIn are the sums of references in a text by a slow reading: the text as it
// is and with its escapes read.
func refsIn(text string) map[string]bool {
	found := map[string]bool{}
	plain := regexp.MustCompile(`sha256:([0-9a-f]{64})`)
	read := escapeOf.ReplaceAllStringFunc(text, func(m string) string {
		b, _ := hex.DecodeString(m[4:])
		return string(b)
	})
	for _, t := range []string{text, read} {
		for i := range len(t) {
			if m := plain.FindStringSubmatchIndex(t[i:]); m != nil && m[0] == 0 {
				found[t[i:][m[2]:m[3]]] = true
			}
		}
	}
	return found
}

// FuzzRefSearch compares the search for references, its text handed over in
// pieces, with a slow reading of the whole.
func FuzzRefSearch(f *testing.F) {
	sum := strings.Repeat("0123456789abcdef", 4)
	f.Add([]byte("blob:sha256:"+sum), uint16(20))
	f.Add([]byte(`"\u0062lob\u003as\u0068a256\u003A`+sum+`"`), uint16(7))
	f.Add([]byte(`sha256:sha256:`+sum+`\u0030`+sum), uint16(1))
	f.Add([]byte(strings.Repeat("x", 2*refOverlap-9)+"sha256:"+sum+strings.Repeat("y", 3000)), uint16(2*refOverlap))
	f.Add([]byte(`\u00\u0073ha256:`+sum), uint16(3))
	f.Fuzz(func(t *testing.T, text []byte, size uint16) {
		if len(text) > 1<<14 {
			return
		}
		got := map[string]bool{}
		search := RefSearch{Found: func(sum [32]byte) { got[hex.EncodeToString(sum[:])] = true }}
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			_, _ = search.Write(rest[:n])
			rest = rest[n:]
		}
		want := refsIn(string(text))
		for sum := range want {
			if !got[sum] {
				t.Errorf("%s was not found", sum)
			}
		}
		if len(want) == 0 && len(got) > 0 && !bytes.Contains(text, escapeMark) {
			t.Errorf("found %v in a text that names none", got)
		}
	})
}

// FuzzParseArchivedLine reads lines of archives, and what is written for them.
func FuzzParseArchivedLine(f *testing.F) {
	f.Add([]byte(`{"line":1,"record":{"type":"session"}}`))
	f.Add([]byte(`{"line":17,"moved":true,"before":" \t","after":"\r\n","record":{"a":",\"record\":"}}`))
	f.Add([]byte(`{"line":1e99,"after":1,"record":}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		l, ok := parseArchivedLine(line)
		if !ok {
			return
		}
		if string(line[l.Offset:l.Offset+int64(len(l.Record))]) != string(l.Record) {
			t.Fatalf("parseArchivedLine(%q): the record does not lie at %d", line, l.Offset)
		}
		again, ok := parseArchivedLine(bytes.TrimSuffix(l.append(nil), []byte("\n")))
		l.Offset, again.Offset = 0, 0
		if diff := cmp.Diff(l, again); !ok || diff != "" {
			t.Errorf("written and read again: %v (-want +got):\n%s", ok, diff)
		}
	})
}

// FuzzScanArchive compares what archiving learns of a transcript, without its
// texts, with the tree that is read of it: each entry, its parent, its label.
func FuzzScanArchive(f *testing.F) {
	l := newLongSession(3, "/w")
	for range 12 {
		l.step()
	}
	f.Add([]byte(l.text.String()))
	head := `{"type":"session","version":5,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	f.Add([]byte(head + `{"type":"message","id":"a","parentId":"b","message":{"role":"user","content":"x"}}` + "\n" +
		`{"type":"message","id":"b","parentId":null,"message":{"role":"user","content":"x"}}` + "\n" +
		`{"type":"label","id":"c","parentId":"a","targetId":"a","label":"here"}` + "\n" +
		`{"type":"entry_patch","id":"a","message":{"role":"user","content":"y"}}` + "\n" +
		`{"type":"message","id":"b","parentId":null,"message":{"role":"user","content":"x"}}` + "\n"))
	f.Add([]byte(head + `{"id":"0","parentId":"b"}` + "\n" + `{"id":"b"}` + "\n" + `{"id":"b","x":0}`))
	f.Add([]byte(head + `{"type":"message","id":"a","parentId":"a"}` + "\n" + `{"type":"x","id":"","parentId":"\u0061"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<14 {
			return
		}
		m, path := storage.NewMemory(), filepath.FromSlash("/s/a.jsonl")
		noErr(t, storage.MkdirAll(m, filepath.Dir(path)))
		file, err := m.Create(path)
		noErr(t, err)
		_, err = file.Write(text)
		noErr(t, errors.Join(err, file.Close()))
		if file, err = m.Open(path); err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		scan, err := scanArchive(t.Context(), file)
		if err != nil || scan.version != jsonl.CurrentVersion {
			return // refused, or written anew first
		}
		scanIsTree(t, m, path, scan)
	})
}

func scanIsTree(t *testing.T, m *storage.Memory, path string, scan *archiveScan) {
	t.Helper()
	tr, err := jsonl.Load(context.Background(), m, path, jsonl.LoadOptions{})
	if err != nil {
		t.Fatalf("scanArchive takes it, Load = %v", err)
	}
	entries := tr.Entries()
	tree := jsonl.NewTree(entries)
	if len(entries) != len(scan.nodes) {
		t.Fatalf("%d nodes, want %d", len(scan.nodes), len(entries))
	}
	if a, b := scan.header.ID(), tr.Header.ID(); a != b {
		t.Errorf("header %q, want %q", a, b)
	}
	for i, e := range entries {
		n := &scan.nodes[i]
		id, _ := e.ID()
		if n.ID != id || n.Type() != e.Type() {
			t.Errorf("node %d is %s %q, want %s %q", i, n.Type(), n.ID, e.Type(), id)
		}
		if _, labeled := tree.Label(id); labeled != n.Labeled {
			t.Errorf("node %d is labeled: %v, want %v", i, n.Labeled, labeled)
		}
		if want := tree.ParentAt(i); n.Parent != want {
			t.Errorf("node %d has the parent %d, want %d", i, n.Parent, want)
		}
	}
}
