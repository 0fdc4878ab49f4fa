package corpus

import (
	"iter"
	"math/rand/v2"
	"strings"
)

// Prompts gives n texts of 370 bytes on average over a vocabulary whose words
// are as unequally common as those of a language; seed fixed. Each has "the" or
// "of" but hardly one has both; some hold Hangul, some Han. One, a tenth from
// the beginning, ends in "the zweckentfremdung of xylophones 稀有".
func Prompts(n int) iter.Seq2[int, string] {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 60_000)
	for i := range words {
		b := make([]byte, 2+r.IntN(4)+r.IntN(5))
		for j := range b {
			b[j] = "etaoinsrhdlucmfywgpbvk"[int(float64(22)*r.Float64()*r.Float64())]
		}
		words[i] = string(b)
	}
	hangul := []rune("설정파일을찾아서고쳐줘결제화면테스트온실도로그인덱스이전검색결과")
	han := make([]rune, 800)
	for i := range han {
		han[i] = rune(0x4E00 + r.IntN(4000))
	}
	zipf := rand.NewZipf(r, 1.1, 4, uint64(len(words)-1))
	word := func(i int, side string) string {
		switch k := r.IntN(100); {
		case k < 6:
			return side
		case k == 10:
			return "foo_bar::baz"
		case k == 11 && i%5 == 0:
			run := make([]rune, 2+r.IntN(6))
			for j := range run {
				run[j] = hangul[r.IntN(len(hangul))]
			}
			return string(run)
		case k == 12 && i%5 == 1:
			run := make([]rune, 4+r.IntN(12))
			for j := range run {
				run[j] = han[int(float64(len(han))*r.Float64()*r.Float64())]
			}
			return string(run)
		}
		return words[zipf.Uint64()]
	}
	return func(yield func(int, string) bool) {
		for i := range n {
			var b strings.Builder
			size := 60 + r.IntN(300) + r.IntN(320)
			side := []string{"the", "of"}[i/50%2]
			for b.Len() < size {
				b.WriteString(word(i, side))
				b.WriteByte(' ')
			}
			if i == n/10 {
				b.WriteString("the zweckentfremdung of xylophones 稀有")
			}
			if !yield(i, b.String()) {
				return
			}
		}
	}
}
