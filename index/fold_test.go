package index

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestFoldByScript(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"ascii", "Hello, C++ World_9 [Z]@`{", "hello, c++ world_9 [z]@`{"},
		{"nul and controls stay", "A\x00B\x1f\x7f", "a\x00b\x1f\x7f"},
		{"latin precomposed", "Café NAÏVE Ångström", "cafe naive angstrom"},
		{"latin combining", "Cafe\u0301 NAI\u0308VE", "cafe naive"},
		{"latin marks stacked", "Ẩn ǭ a\u0323\u0302\u0301", "an o a"},
		{"vietnamese", "Tiếng Việt Đặng", "tieng viet đang"},
		{"letters that are no base with a mark", "Øre Łódź æ Þ", "øre łodz æ þ"},
		{"sharp s", "Straße STRASSE ẞ", "strasse strasse ss"},
		{"turkish", "İstanbul ISPARTA ısparta I\u0307", "istanbul isparta isparta i"},
		{"long s, kelvin, angstrom", "ſ \u212A \u212B", "s k a"},
		{"ligatures stay", "ﬁn", "ﬁn"},
		{"greek", "Ἀθῆναι ΌΔΟΣ ὁδός ΐ ᾳ µ ϐ", "αθηναι οδοσ οδοσ ι α μ β"},
		{"cyrillic", "Ёлка ЕЛКА Й и\u0306 Ї", "елка елка й й ї"},
		{"cyrillic two dots apart", "е\u0308 е\u0323\u0308 е\u0301", "е е\u0323 е\u0301"},
		{"armenian", "Բարեւ ԵՒ և", "բարեւ եւ և"},
		{"georgian", "ᲗᲑᲘᲚᲘᲡᲘ თბილისი", "თბილისი თბილისი"},
		{"cherokee", "Ꭰꭰ", "ꭰꭰ"},
		{"deseret", "𐐀𐐨", "𐐨𐐨"},
		{"hebrew points stay", "שָׁלוֹם", norm.NFC.String("שָׁלוֹם")},
		{"arabic marks stay", "مُحَمَّد أ آ", norm.NFC.String("مُحَمَّد أ آ")},
		{"devanagari vowels stay", "हिन्दी क़", norm.NFC.String("हिन्दी क़")},
		{"thai vowels stay", "ภาษาไทยที่", "ภาษาไทยที่"},
		{"tamil", "தமிழ் கொ", norm.NFC.String("தமிழ் கொ")},
		{"hangul syllables", "설정 한글", "설정 한글"},
		{"hangul decomposed", norm.NFD.String("설정 한글"), "설정 한글"},
		{"kana keep dakuten", "データ か\u3099 ハ\u309a", "データ が パ"},
		{"half-width kana stay", "ﾃﾞｰﾀ", "ﾃﾞｰﾀ"},
		{"han", "用户身份验证失败 Itgc", "用户身份验证失败 itgc"},
		{"han compatibility", "\uF900", "\u8C48"},
		{"full-width ascii", "ＡＢＣ１２３！～\u3000ｘ", "abc123!~ x"},
		{"full-width with a mark", "Ａ\u0301＝\u0338", "a≠"},
		{"emoji", "plant 🌱 👩‍🌾 ❤️ 👍🏽 🇩🇪 1️⃣", "plant 🌱 👩‍🌾 ❤️ 👍🏽 🇩🇪 1️⃣"},
		{"mark with no base", "\u0301x", "\u0301x"},
		{"bytes that are no utf-8", "A\xff\xc3B\xe4\xbd", "a\ufffd\ufffdb\ufffd\ufffd"},
		{"lone surrogates", "x\xed\xa0\x80y\xed\xb0\x80", "x\ufffdy\ufffd"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := string(Fold(nil, tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Fold(%q) (-want +got):\n%s", tt.in, diff)
			}
			if again := string(Fold([]byte("x"), got)); again != "x"+got {
				t.Errorf("Fold(Fold(%q)) = %q, want %q", tt.in, again, got)
			}
		})
	}
}

func TestFoldIsOneRuneAPerCaseOrbit(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 {
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) {
			continue
		}
		want := string(Fold(nil, string(r)))
		if other := unicode.SimpleFold(r); !unicode.In(other, unicode.Mn, unicode.Me) {
			if got := string(Fold(nil, string(other))); got != want {
				t.Errorf("Fold(%q) = %q, but Fold(%q) = %q", other, got, r, want)
			}
		}
		if again := string(Fold(nil, want)); again != want {
			t.Errorf("Fold(Fold(%q)) = %q, want %q", r, again, want)
		}
	}
}

func TestFoldShortcutsAgreeWithTheRule(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if r >= 0xD800 && r < 0xE000 || !plain(r) {
			continue
		}
		s := string(r)
		if p := norm.NFC.PropertiesString(s); !p.BoundaryBefore() || unicode.In(r, unicode.Mn, unicode.Me) {
			t.Errorf("%U is taken for plain", r)
		}
		want := string(norm.NFC.Bytes(foldDecomposed(nil, norm.NFD.Bytes([]byte(string(narrow(r)))))))
		if got := string(appendPlain(nil, r)); got != want {
			t.Errorf("appendPlain(%U) = %q, want %q", r, got, want)
		}
	}
}

// foldNaive is the rule without any shortcut.
func foldNaive(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := decodeRune(s)
		b.WriteRune(narrow(r))
		s = s[n:]
	}
	return norm.NFC.String(string(foldDecomposed(nil, norm.NFD.Bytes([]byte(b.String())))))
}

// oddRunes draws runes that combine, fold or break.
func oddRunes() *rapid.Generator[rune] {
	return rapid.OneOf(
		rapid.RuneFrom([]rune("aAeEiIßſİıСсеЕёЁиЙσΣςάΑ\u0300\u0301\u0308\u0345\u0323\u3099\u309a\u200d\ufe0f\u034f")),
		rapid.RuneFrom([]rune("かがハ一用설ㅎ\u1100\u1161\u11a8ＡｚＺ　กิदि אָ🌱👩\x00\n\"\\")),
		rapid.Rune(),
		rapid.RuneFrom([]rune("abcxyz 019_-+:.")),
	)
}

func TestFoldPropertiesOnAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(oddRunes(), 0, 40).Draw(t, "s"))
		checkFold(t, s)
	})
}

func checkFold(t interface {
	Helper()
	Errorf(string, ...any)
}, s string) {
	t.Helper()
	got := string(Fold(nil, s))
	if want := foldNaive(s); got != want {
		t.Errorf("Fold(%+q) = %+q, want %+q", s, got, want)
	}
	if again := string(Fold(nil, got)); again != got {
		t.Errorf("Fold(Fold(%+q)) = %+q, want %+q", s, again, got)
	}
	if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) {
		t.Errorf("Fold(%+q) = %+q, not NFC", s, got)
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "Café", "e\u0301\xff", "ẛ̣", "か\u3099\u309a", "\xed\xa0\x80", "I\u0307\u0345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkFold(t, s) })
}

func BenchmarkFoldASCII(b *testing.B) {
	s := strings.Repeat("Fix the HTTP retry in internal/net/client.go, please. ", 7)
	buf := make([]byte, 0, 2*len(s))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		buf = Fold(buf[:0], s)
	}
}

func BenchmarkFoldMixed(b *testing.B) {
	s := strings.Repeat("설정 파일을 찾아서 café 고쳐줘 用户身份验证 Ёлка 🌱 ", 7)
	buf := make([]byte, 0, 2*len(s))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		buf = Fold(buf[:0], s)
	}
}
