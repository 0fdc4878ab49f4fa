package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// talk is a long session: turns of different lengths, tools whose results come
// late, messages of programs, pieces that were streamed, branches, patches.
func talkSession(seed uint64, entries int) string {
	r := rand.New(rand.NewPCG(seed, 2))
	var b strings.Builder
	b.WriteString(`{"type":"session","version":5,"id":"talk0001","timestamp":"2026-03-01T00:00:00.000Z","cwd":"/p"}` + "\n")
	last, n := "null", 0
	say := func(rest string) {
		id := fmt.Sprintf(`"e%d"`, n)
		n++
		fmt.Fprintf(&b, `{"id":%s,"parentId":%s,"timestamp":"2026-03-01T00:00:00.000Z",%s}`+"\n", id, last, rest)
		last = id
	}
	message := func(role, rest string) { say(`"type":"message","message":{"role":"` + role + `",` + rest + `}`) }
	for n < entries {
		message("user", fmt.Sprintf(`"content":"question %d"`, n))
		for range r.IntN(6) {
			switch r.IntN(9) {
			case 0:
				message("user", `"content":"a program's","synthetic":true`)
			case 1:
				say(fmt.Sprintf(`"type":"custom","customType":"gjc-index/output_chunk","data":{"v":1,"display":"d%d","seq":0,"text":"piece"}`, n))
				message("assistant", fmt.Sprintf(`"displayId":"d%d","content":[{"type":"text","text":"whole"}]`, n-1))
			case 2:
				fmt.Fprintf(&b, `{"type":"entry_patch","entryId":"e%d","patch":{"message":{"role":"user","content":"patched"}}}`+"\n", n-1)
			case 3:
				if n > 20 { // a branch that is given up
					kept := last
					message("assistant", `"content":"given up"`)
					last = kept
				}
			default:
				call := fmt.Sprintf("c%d", n)
				message("assistant", fmt.Sprintf(`"content":[{"type":"text","text":"I look %d"},{"type":"toolCall","id":"%s","name":"bash","arguments":{"command":"ls %d"}}]`, n, call, n))
				if r.IntN(4) == 0 {
					message("assistant", `"content":"meanwhile"`)
				}
				message("toolResult", fmt.Sprintf(`"toolCallId":"%s","toolName":"bash","content":"ok","isError":%v`, call, r.IntN(3) == 0))
			}
		}
		message("assistant", fmt.Sprintf(`"content":"answer %d"`, n))
	}
	return b.String()
}

// A page for which a part of the path was read has the items of one for which
// all was read, and the same snapshot.
func TestAPageInPartIsAPageOfTheWhole(t *testing.T) {
	for seed := range uint64(4) {
		home := makeHome(t, map[string]string{"p/talk.jsonl": talkSession(seed, 900)})
		ask := func(huge int64, args ...string) pageJSON {
			var out, errs bytes.Buffer
			a := newApp(strings.NewReader(""), &out, &errs)
			a.huge = huge
			if status := a.run(t.Context(), append([]string{"chat", "talk0001", "--json", "--home", home}, args...)); status != exitDone {
				t.Fatalf("chat %v: status %d, %s", args, status, errs.String())
			}
			var page pageJSON
			if err := json.Unmarshal(out.Bytes(), &page); err != nil {
				t.Fatal(err)
			}
			return page
		}
		inPart := 0
		for _, args := range [][]string{
			{"--from", "0"}, {"--from", "0", "--limit", "1"}, {"--from", "3", "--limit", "20"}, {"--from", "190"}, {"--from", "100000"},
			{"--from", "-1"}, {"--from", "-20"}, {"--from", "-250"}, {"--from", "-7", "--limit", "3"}, {"--from", "-100000"}, {"--leaf", "e500", "--from", "-5"},
		} {
			want, got := ask(hugeFile, args...), ask(0, args...)
			if got.Total == nil {
				inPart++
				got.Total = want.Total
				if got.From < 0 {
					got.From += *want.Total
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, %v (-whole +in part):\n%s", seed, args, diff)
			}
		}
		if inPart < 6 {
			t.Errorf("seed %d: only %d pages were read in part", seed, inPart)
		}
	}
}

// BenchmarkFirstPage shows the first page of the session in GJC_BENCH_HOME.
func BenchmarkFirstPage(b *testing.B) {
	home := os.Getenv("GJC_BENCH_HOME")
	names, _ := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if home == "" || len(names) == 0 {
		b.Skip("GJC_BENCH_HOME names no home with a session")
	}
	for b.Loop() {
		var out, errs bytes.Buffer
		if status := newApp(strings.NewReader(""), &out, &errs).run(b.Context(), []string{"chat", names[0], "--json", "--home", home}); status != exitDone {
			b.Fatalf("status %d, %s", status, errs.String())
		}
	}
}
