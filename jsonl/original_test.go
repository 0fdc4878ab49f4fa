package jsonl

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
)

// readAsOriginal is the lenient reader of the original, word for word from
// behaviour part 2 and slow: where the objects are that it keeps. ended is
// false if the file ends inside a value, which hides what follows there.
func readAsOriginal(data []byte) (objects []extent, ended bool) {
	pos := 0
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		pos = 3
	}
	for {
		for pos < len(data) && isSpace(data[pos]) {
			pos++
		}
		if pos == len(data) {
			return objects, true
		}
		v, n, err := Parse(data[pos:])
		if errors.Is(err, ErrShort) {
			return objects, false
		}
		from, to := pos, pos
		if err == nil {
			to = pos + n
			if v.Is(Object) {
				objects = append(objects, extent{from, to})
			}
		}
		i := bytes.IndexByte(data[to:], '\n')
		if i < 0 {
			return objects, true
		}
		pos = to + i + 1
	}
}

// FuzzReadFindsWhatTheOriginalFinds: every object that the original keeps is
// read here at the same place, and whatever is read besides has the shape of a
// record, unless the file ends inside a value.
func FuzzReadFindsWhatTheOriginalFinds(f *testing.F) {
	for _, s := range []string{
		"{}\n[\n{}\n", "{\"a\":\n1\n} x {}\n{}", rec("a") + rec("b"), "{\"a\":[\n[1,\n2],\n{\n}\n,x\n{}", "\"{\n\"}{\"\n{}\r{}\n", "[{}\n{},\n[[\n{}\n]]x\n[\n[{}]\n{}\n\n{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !bytes.HasPrefix(data, []byte("\xff\xfe")) {
			compareWithOriginal(t, data)
		}
	})
}

// TestReadFindsWhatTheOriginalFindsInTokens does the same with files that are
// thrown together from tokens, which fuzzing by bytes seldom finds.
func TestReadFindsWhatTheOriginalFindsInTokens(t *testing.T) {
	tokens := []string{
		"{", "}", "[", "]", ",", ":", `"a"`, `"a":`, "1", "\n", "\n", "\n", " ", "null", "{}", "[]", `"`, `\`, "\x00", "\r",
		`{"k":`, `{"k":[`, "{\"k\":\n", "[\n", "{\n", "}\n", "]\n", rec("r"), rec("s") + "\n", `{"type":"header_patch","patch":{}}`,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		var b []byte
		for range random.IntN(25) {
			b = append(b, tokens[random.IntN(len(tokens))]...)
		}
		compareWithOriginal(t, b)
		resumed(t, b)
	}
}

func compareWithOriginal(t *testing.T, data []byte) {
	t.Helper()
	want, ended := readAsOriginal(data)
	for r, err := range Read(context.Background(), bytes.NewReader(data), ReadOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 && r.Offset == int64(want[0].from) {
			if !bytes.Equal(r.Raw, data[want[0].from:want[0].to]) {
				t.Fatalf("Read(%q) gave %q at %d", data, r.Raw, r.Offset)
			}
			want = want[1:]
			continue
		}
		recordShape := (r.Fields.Type.Ok() && r.Fields.Timestamp.Ok()) || isPatch(r.Raw, r.Fields)
		if !recordShape && (ended || len(want) > 0) {
			t.Fatalf("Read(%q) gave %q at %d, the original does not", data, r.Raw, r.Offset)
		}
	}
	if len(want) > 0 {
		t.Fatalf("Read(%q) missed %q", data, data[want[0].from:want[0].to])
	}
}
