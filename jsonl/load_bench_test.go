package jsonl

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// session makes a session file of about size bytes: turns of a prompt, an
// answer with usage and a tool result, as agents write them; one in ten tool
// results is long, one text in five is not ASCII.
func session(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"session","version":5,"id":"bench","timestamp":"2026-03-01T09:00:00.000Z","cwd":"/proj"}` + "\n")
	parent := "null"
	put := func(n int, message string) {
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-03-01T09:%02d:%02d.000Z","message":%s,"event_id":"%016x"}`+"\n",
			n, parent, n/60%60, n%60, message, n)
		parent = fmt.Sprintf("%q", fmt.Sprintf("%08x", n))
	}
	code := strings.Repeat(`func (s *Store) Get(id string) {\n\treturn s.byID[\"id\"]\n}\n`, 20)
	for n := 0; b.Len() < size; n += 3 {
		text := "Make the drip valves close when the bed is wet"
		if n%5 == 0 {
			text = "물이 충분하면 밸브를 닫아 주세요 🌱"
		}
		put(n, `{"role":"user","content":[{"type":"text","text":"`+text+`"}],"timestamp":1770000000001}`)
		put(n+1, `{"role":"assistant","content":[{"type":"text","text":"`+text+`"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"/proj/valves.go"}}],`+
			`"provider":"acme","model":"acme-large-2","usage":{"input":1200,"output":55,"cacheRead":2,"cacheWrite":1,"cost":{"input":0,"output":0,"total":0.25}},"stopReason":"toolUse"}`)
		result := code
		if n%10 == 0 {
			result = strings.Repeat(code, 20)
		}
		put(n+2, `{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"`+result+`"}],"isError":false}`)
	}
	return b.Bytes()
}

func BenchmarkLoad(b *testing.B) {
	data := session(20 << 20)
	path := filepath.Join(b.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		b.Fatal(err)
	}
	fsys := storage.Disk(storage.Policy{})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		t, err := Load(context.Background(), fsys, path, LoadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(t)
	}
}

func BenchmarkRead(b *testing.B) {
	data := session(20 << 20)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Read(context.Background(), bytes.NewReader(data), ReadOptions{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// TestLoadedSessionIsNotMuchLargerThanItsFile holds the bar of 2.5 times for
// the kind of file that is worst for it: short entries only.
func TestLoadedSessionIsNotMuchLargerThanItsFile(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(`{"type":"session","version":5,"id":"x","timestamp":"t","cwd":"/"}` + "\n")
	for i := 0; b.Len() < 20<<20; i++ {
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":"%08x","timestamp":"2026-03-01T09:00:00.000Z","message":{"role":"user","content":"Sort the tide tables by port and the ships by their draught"},"event_id":"%016x"}`+"\n", i, i-1, i)
	}
	data := b.Bytes()
	before := heapLive()
	tr, err := ParseTranscript(t.Context(), bytes.NewReader(data), LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	used := heapLive() - before
	if limit := uint64(len(data)) * 5 / 2; used > limit {
		t.Errorf("a file of %d bytes takes %d bytes, want at most %d", len(data), used, limit)
	}
	t.Logf("%.2f times the file", float64(used)/float64(len(data)))
	runtime.KeepAlive(tr)
	runtime.KeepAlive(data)
}

func heapLive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
