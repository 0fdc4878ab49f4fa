package index

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Blocks of many lengths, at each offset of what is looked for, and with it
// beside the end.
func TestBlocksPassOverNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	p := newPrefilter(Query{Terms: [][]byte{[]byte("eta")}})
	if !p.triple {
		t.Fatal("the query has no triple")
	}
	for n := range 300 {
		data := bytes.Repeat([]byte("x"), n)
		for i := range data {
			data[i] = `xyz\/U `[rnd.IntN(7)]
		}
		for at := range n {
			for _, what := range []string{`\u`, "é", "\x80", "eTA", "ETa"} {
				odd := bytes.Clone(data)
				copy(odd[at:], what)
				for _, high := range []uint64{0, highBits} {
					want := n
					for i, c := range odd {
						if uint64(c)&high != 0 || c == '\\' && i+1 < n && odd[i+1] == 'u' {
							want = i
							break
						}
					}
					if got := nextStrange(odd, 0, high); got != want {
						t.Fatalf("%d bytes, %q at %d, high %x: nextStrange = %d, want %d", n, what, at, high, got, want)
					}
				}
				want := bytes.Index(bytes.ToLower(odd), []byte("eta"))
				if want < 0 {
					want = none
				}
				if got := p.nextTriple(odd, 0); got != want {
					t.Fatalf("%d bytes, %q at %d: nextTriple = %d, want %d", n, what, at, got, want)
				}
			}
		}
	}
}

func BenchmarkBlocks(b *testing.B) {
	data := bytes.Repeat([]byte(`a line of text with \n breaks and \"quotes\" in it `), 5000)
	p := newPrefilter(Query{Terms: [][]byte{[]byte("tesationer")}})
	b.Run("strange", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			nextStrange(data, 0, highBits)
		}
	})
	b.Run("triple", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			p.nextTriple(data, 0)
		}
	})
}
