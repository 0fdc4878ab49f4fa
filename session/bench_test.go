package session

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// answer is a message of about n bytes, as a host makes them.
func answer(n int) jsonl.Value {
	v, err := jsonl.ParseString(fmt.Sprintf(`{"role":"assistant","provider":"acme","model":"acme-large-2","content":[{"type":"text","text":%q}],"usage":{"input":3,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"stopReason":"stop","timestamp":1770000000500}`,
		strings.Repeat("some text of an answer\n", n/22)))
	if err != nil {
		panic(err)
	}
	return v
}

// bigSession writes a session of about size bytes.
func bigSession(b testing.TB, dir string, size int) string {
	b.Helper()
	path := filepath.Join(dir, "s", "big.jsonl")
	noErr(b, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	noErr(b, err)
	fmt.Fprintf(f, `{"type":"session","version":5,"id":"big","timestamp":"2026-02-10T08:00:00.000Z","cwd":%q}`+"\n", dir)
	parent, written := "null", 0
	for i := 0; written < size; i++ {
		n, err := fmt.Fprintf(f, `{"type":"message","id":"%08x","parentId":%s,"timestamp":"2026-02-10T08:01:00.000Z","message":%s}`+"\n", i, parent, answer(2000).JSON())
		noErr(b, err)
		parent, written = fmt.Sprintf(`"%08x"`, i), written+n
	}
	noErr(b, f.Close())
	return path
}

var appendSizes = []int{200, 2000, 20000}

// BenchmarkPlainAppend is what an append costs at least: encoding and a write
// to a file that is open.
func BenchmarkPlainAppend(b *testing.B) {
	for _, n := range appendSizes {
		b.Run(fmt.Sprintf("%d bytes", n), func(b *testing.B) {
			f, err := os.OpenFile(filepath.Join(b.TempDir(), "plain.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			noErr(b, err)
			v := answer(n)
			var buf []byte
			for b.Loop() {
				o := jsonl.MessageEntry(jsonl.Base{ID: "00000001", Parent: "00000000", Timestamp: "2026-02-10T08:01:00.000Z"}, v)
				o.Set(eventKey, jsonl.StringValue("0000000000000001"))
				buf = append(jsonl.AppendJSON(buf[:0], jsonl.ObjectValue(o)), '\n')
				if _, err := f.Write(buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range appendSizes {
		b.Run(fmt.Sprintf("%d bytes", n), func(b *testing.B) { benchAppend(b, n, b.TempDir(), "", Options{}) })
	}
	b.Run("2000 bytes to a file of 100 MB", func(b *testing.B) {
		dir := b.TempDir()
		benchAppend(b, 2000, dir, bigSession(b, dir, 100<<20), Options{})
	})
	b.Run("2000 bytes with sync", func(b *testing.B) { benchAppend(b, 2000, b.TempDir(), "", Options{Sync: true}) })
}

// inTurn is how many appends of a kind follow one another before it is the
// other's turn.
const inTurn = 50

// BenchmarkAppendRatio takes turns between both, so that whatever else the
// machine does weighs on both alike, and reports the ratio of the medians. The
// plain side makes and encodes the same record and writes the same number of
// bytes.
func BenchmarkAppendRatio(b *testing.B) {
	for _, n := range appendSizes {
		b.Run(fmt.Sprintf("%d bytes", n), func(b *testing.B) {
			dir := b.TempDir()
			st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, Options{}).opt)
			s, err := st.Create(b.Context(), dir, CreateOptions{Dir: filepath.Join(dir, "s")})
			noErr(b, err)
			defer func() { noErr(b, s.Close()) }()
			f, err := os.OpenFile(filepath.Join(dir, "plain.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			noErr(b, err)
			v := answer(n)
			var buf []byte
			var ours, plain []time.Duration
			for b.Loop() {
				for range inTurn {
					start := time.Now()
					if _, err := s.AppendMessage(b.Context(), v); err != nil {
						b.Fatal(err)
					}
					ours = append(ours, time.Since(start))
				}
				for range inTurn {
					start := time.Now()
					o := jsonl.MessageEntry(jsonl.Base{ID: "00000001", Parent: "00000000", Timestamp: "2026-02-10T08:01:00.000Z"}, v)
					o.Set(eventKey, jsonl.StringValue(jsonl.EventID(len(plain)).String()))
					buf = append(jsonl.AppendJSON(buf[:0], jsonl.ObjectValue(o)), '\n')
					if _, err := f.Write(buf); err != nil {
						b.Fatal(err)
					}
					plain = append(plain, time.Since(start))
				}
			}
			slices.Sort(ours)
			slices.Sort(plain)
			mine, least := float64(ours[len(ours)/2]), float64(plain[len(plain)/2])
			b.ReportMetric(mine/least, "times-plain")
			b.ReportMetric(mine, "ns-ours")
			b.ReportMetric(least, "ns-plain")
		})
	}
}

func benchAppend(b *testing.B, n int, dir, path string, opt Options) {
	st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, opt).opt)
	var s *Session
	var err error
	if path == "" {
		s, err = st.Create(b.Context(), dir, CreateOptions{Dir: filepath.Join(dir, "s")})
	} else {
		s, err = st.Open(b.Context(), path, OpenOptions{AppendOnly: true})
	}
	noErr(b, err)
	defer func() { noErr(b, s.Close()) }()
	v := answer(n)
	for b.Loop() {
		if _, err := s.AppendMessage(b.Context(), v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens sessions of two sizes: for appending only, which must
// not depend on the size, and whole.
func BenchmarkOpen(b *testing.B) {
	for _, size := range []int{1 << 20, 100 << 20} {
		dir := b.TempDir()
		path := bigSession(b, dir, size)
		for _, only := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d MB, append only %v", size>>20, only), func(b *testing.B) {
				st := NewStore(storage.Disk(storage.Policy{}), newWriter(nil, dir, Options{}).opt)
				var memory runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&memory)
				before := memory.HeapAlloc
				for b.Loop() {
					s, err := st.Open(b.Context(), path, OpenOptions{AppendOnly: only})
					noErr(b, err)
					b.StopTimer()
					runtime.GC()
					runtime.ReadMemStats(&memory)
					b.ReportMetric(float64(int64(memory.HeapAlloc)-int64(before))/(1<<20), "MB-held")
					noErr(b, s.endWithoutMetadata(b))
					b.StartTimer()
				}
			})
		}
	}
}

// endWithoutMetadata closes a session without reading it once more.
func (s *Session) endWithoutMetadata(b *testing.B) error {
	s.mu.Lock()
	s.latched = errTestEnd
	s.mu.Unlock()
	return s.close(b.Context())
}

var errTestEnd = fmt.Errorf("the benchmark ended the session")
