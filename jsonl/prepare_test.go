package jsonl

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
)

func newBlobs() *blob.Store { return blob.New(storage.NewMemory(), "/blobs") }

func parsed(t testing.TB, text string) Value {
	t.Helper()
	v, err := ParseString(text)
	if err != nil {
		t.Fatalf("ParseString(%.200q): %v", text, err)
	}
	return v
}

func refTo(data string) string { return blob.RefOf([]byte(data)).String() }

func TestPrepare(t *testing.T) {
	small, large := strings.Repeat("QUJD", 255)+"QUI", strings.Repeat("QUJD", 256)
	largeBytes := strings.Repeat("ABC", 256)
	hex := strings.Repeat("a", 64)
	tests := []struct{ name, in, want string }{
		{"nothing to do", `{"a":[1,{"b":"c"}]}`, ``},
		{"image in content", `{"content":[{"type":"image","data":"` + large + `","partialJson":1,"mimeType":"m"}]}`,
			`{"content":[{"type":"image","data":"` + refTo(largeBytes) + `","partialJson":1,"mimeType":"m"}]}`},
		{"image one unit short", `{"content":[{"type":"image","data":"` + small + `"}]}`, ``},
		{"image elsewhere", `{"pics":[{"type":"image","data":"` + large + `"}],"content":{"type":"image","data":"` + large + `"}}`, ``},
		{"image in nested arrays of content", `{"content":[[{"type":"image","data":"` + large + `"}]]}`,
			`{"content":[[{"type":"image","data":"` + refTo(largeBytes) + `"}]]}`},
		{"image that is no base64", `{"content":[{"type":"image","data":"` + large + `!"}]}`, ``},
		{"image with odd base64", `{"content":[{"type":"image","data":"QUJD\n` + large + `QQ"}]}`,
			`{"content":[{"type":"image","data":"` + refTo("ABC"+largeBytes+"A") + `"}]}`},
		{"image with the URL-safe alphabet", `{"content":[{"type":"image","data":"-_-_` + large + `"}]}`,
			`{"content":[{"type":"image","data":"` + refTo("\xfb\xff\xbf"+largeBytes) + `"}]}`},
		{"image URLs", `{"image_url":"data:image/png;base64,AAAA","o":{"image_url":{"url":"data:image/jpeg;base64,BBBB","detail":"low"}},"list":{"image_url":["data:image/png;base64,EEEE"]}}`,
			`{"image_url":"blob:sha256:bde6da8e9d3902a86a1452ec62648cd07cb1cfbae0ec8dd5142ad881c7aa2ba0","o":{"image_url":{"url":"blob:sha256:1f52a3351c261d13e16c1a01e2630afcee5a028471cdcc582b329658e7019e08","detail":"low"}},"list":{"image_url":["blob:sha256:9b07745056a3c210fefecdbfd34fda3c45b3519e1727c30cfa3867081b06b771"]}}`},
		{"URLs that stay", `{"http":{"image_url":"https://example.org/x.png"},"notkey":"data:image/png;base64,CCCC","url":"data:image/png;base64,DDDD","svg":{"image_url":"data:image/svg+xml,<svg/>"}}`, ``},
		{"transient keys", `{"a":1,"partialJson":null,"b":{"jsonlEvents":[],"c":2},"list":[{"partialJson":1}]}`, `{"a":1,"b":{"c":2},"list":[{}]}`},
		{"line count follows a change", `{"content":"a\nb\n","lineCount":9,"partialJson":0}`, `{"content":"a\nb\n","lineCount":3}`},
		{"line count stays without one", `{"content":"a\nb\n","lineCount":9}`, ``},
		{"line count stays where a reference comes back", `{"image_url":"` + placeholder("imageUrl", hex) + `","content":"a","lineCount":9}`,
			`{"image_url":"blob:sha256:` + hex + `","content":"a","lineCount":9}`},
		{"line count of another kind", `{"content":"a","lineCount":"9","partialJson":0}`, `{"content":"a","lineCount":"9"}`},
		{"placeholders become references", `{"content":[{"type":"image","data":"` + placeholder("imageData", hex) + `"}],"image_url":"` + placeholder("imageUrl", hex) + `","text":"` + placeholder("imageData", hex) + `"}`,
			`{"content":[{"type":"image","data":"blob:sha256:` + hex + `"}],"image_url":"blob:sha256:` + hex + `","text":"` + placeholder("imageData", hex) + `"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := parsed(t, tt.in)
			got, changed, err := Prepare(t.Context(), newBlobs(), v)
			if err != nil || changed != (tt.want != "") {
				t.Fatalf("Prepare: changed = %v, %v", changed, err)
			}
			want := tt.want
			if want == "" {
				want = tt.in
			}
			if diff := cmp.Diff(want, got.JSON()); diff != "" {
				t.Errorf("Prepare (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.in, v.JSON()); diff != "" {
				t.Errorf("Prepare changed what it was given (-before +after):\n%s", diff)
			}
		})
	}
}

func TestPrepareSharesWhatDoesNotChange(t *testing.T) {
	v := parsed(t, `{"same":{"a":[1]},"list":[{"x":1},{"partialJson":1}]}`)
	got, _, err := Prepare(t.Context(), newBlobs(), v)
	if err != nil {
		t.Fatal(err)
	}
	if got.Get("same").Obj() != v.Get("same").Obj() {
		t.Error("an object without a change was copied")
	}
	if got.Get("list").Items()[0].Obj() != v.Get("list").Items()[0].Obj() {
		t.Error("an element without a change was copied")
	}
}

// TestTruncation holds the sum of a whole file that the original wrote.
func TestTruncation(t *testing.T) {
	rep := func(c string, n int) Value { return StringValue(strings.Repeat(c, n)) }
	v := parsed(t, `{"type":"custom","customType":"big","data":{},"id":"00000002","parentId":"00000001","timestamp":"2026-03-01T12:00:00.000Z"}`)
	v.Obj().Set("data", ObjectValue(NewObj(
		Member{"at", rep("a", 500000)}, Member{"over", rep("b", 500001)},
		Member{"thinkingSignature", rep("s", 500001)}, Member{"thoughtSignature", rep("s", 500001)},
		Member{"textSignature", rep("s", 500001)}, Member{"encrypted_content", rep("e", 500001)},
		Member{"nested", ArrayValue(rep("c", 500010))},
	)))
	got, _, err := Prepare(t.Context(), nil, v)
	if err != nil {
		t.Fatal(err)
	}
	file := `{"type":"session","version":5,"id":"01950000-0000-7000-8000-000000000001","timestamp":"2026-03-01T12:00:00.000Z","cwd":"/tmp/oc-root/w"}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-03-01T12:00:00.000Z","message":{"role":"assistant","provider":"acme","model":"acme-large-2","content":[{"type":"text","text":"ack"}],"usage":{"input":3,"output":2,"cacheRead":0,"cacheWrite":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"timestamp":1770000000500}}
` + got.JSON() + "\n"
	sum := sha256.Sum256([]byte(file))
	if want := "b9c173ac6e41e9dea2835043f00db350f7c3e4b6f3323d46eede1e450c81f01c"; hex.EncodeToString(sum[:]) != want {
		t.Errorf("file of %d bytes has sum %x, want %s", len(file), sum, want)
	}
}

func TestTruncationBetweenSurrogates(t *testing.T) {
	const room = MaxText - len(truncationNotice)
	tests := []struct {
		name string
		text string
		want int
	}{
		{"pair across the cut", strings.Repeat("a", room-1) + strings.Repeat("😀", 30), MaxText - 1},
		{"pair before the cut", strings.Repeat("a", room-2) + strings.Repeat("😀", 30), MaxText},
		{"lone high surrogate before the cut", strings.Repeat("a", room-1) + strings.Repeat("\xed\xa0\xbd", 60), MaxText - 1},
		{"as long as allowed, in many more bytes", strings.Repeat("数", MaxText), 0},
		{"one unit more", strings.Repeat("😀", MaxText/2) + "a", MaxText - 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cut := truncateText(tt.text, "text")
			if cut != (tt.want > 0) {
				t.Fatalf("cut = %v", cut)
			}
			if cut && Len16(got) != tt.want {
				t.Errorf("%d units left, want %d", Len16(got), tt.want)
			}
			if cut && hasSurrogate(got) {
				t.Error("half of a pair is left")
			}
		})
	}
}

func TestResolve(t *testing.T) {
	ctx, blobs := t.Context(), newBlobs()
	png, url, binary := putText(t, blobs, "PNGDATA-not-really"), putText(t, blobs, "data:image/png;base64,ZZZZ"), putText(t, blobs, "\xff\xfe")
	const png64, url64 = "UE5HREFUQS1ub3QtcmVhbGx5", "data:image/png;base64,ZZZZ"
	gone := strings.Repeat("a", 64)
	tests := []struct {
		name, in, want string
		missing        int
	}{
		{"images anywhere", `{"content":[{"type":"image","data":"` + png + `"}],"pic":{"data":"` + png + `","type":"image"}}`,
			`{"content":[{"type":"image","data":"` + png64 + `"}],"pic":{"data":"` + png64 + `","type":"image"}}`, 0},
		{"image URLs", `{"image_url":"` + url + `","nested":{"image_url":{"url":"` + url + `"}}}`,
			`{"image_url":"` + url64 + `","nested":{"image_url":{"url":"` + url64 + `"}}}`, 0},
		{"any key data", `{"data":{"data":"` + url + `"}}`, `{"data":{"data":"` + url64 + `"}}`, 0},
		{"key data directly under content", `{"content":{"data":"` + url + `"},"x":{"content":[{"data":"` + url + `"}]}}`, ``, 0},
		{"references elsewhere", `{"text":"` + png + `","image_url":["` + url + `"],"url":"` + url + `","data":"x` + url + `"}`, ``, 0},
		{"bytes that are no text", `{"data":"` + binary + `"}`, ``, 0},
		{"missing", `{"content":[{"type":"image","data":"blob:sha256:` + gone + `"}],"image_url":"blob:sha256:` + gone + `"}`,
			`{"content":[{"type":"image","data":"[Session resident imageData blob missing: sha256:` + gone + `; original content unavailable]"}],"image_url":"[Session resident imageUrl blob missing: sha256:` + gone + `; original content unavailable]"}`, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, missing, err := Resolve(ctx, blobs, parsed(t, tt.in))
			if err != nil || len(missing) != tt.missing {
				t.Fatalf("Resolve: %d missing, %v", len(missing), err)
			}
			for _, m := range missing {
				if !errors.Is(m.Err, fs.ErrNotExist) {
					t.Errorf("missing %s: %v", m.Kind, m.Err)
				}
			}
			want := tt.want
			if want == "" {
				want = tt.in
			}
			if diff := cmp.Diff(want, got.JSON()); diff != "" {
				t.Errorf("Resolve (-want +got):\n%s", diff)
			}
			if tt.missing == 0 {
				return
			}
			back, _, err := Prepare(ctx, blobs, got)
			if err != nil || back.JSON() != tt.in {
				t.Errorf("Prepare after Resolve = %s, %v, want %s", back.JSON(), err, tt.in)
			}
		})
	}
}

func TestResolveKeepsWhatPrepareWouldCut(t *testing.T) {
	blobs := newBlobs()
	long := strings.Repeat("x", MaxText+1)
	text, url := putText(t, blobs, long), putText(t, blobs, "data:image/png;base64,"+long)
	tests := []struct {
		name, in string
		stays    bool
	}{
		{"image in content", `{"content":[{"type":"image","data":"` + text + `"}]}`, false},
		{"image that is the content", `{"content":{"type":"image","data":"` + text + `"}}`, true},
		{"image elsewhere", `{"x":{"type":"image","data":"` + text + `"}}`, true},
		{"key data", `{"data":"` + text + `"}`, true},
		{"image URL", `{"image_url":{"url":"` + url + `"}}`, false},
		{"image URL that is none", `{"image_url":"` + text + `"}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, missing, err := Resolve(t.Context(), blobs, parsed(t, tt.in))
			if err != nil || len(missing) > 0 {
				t.Fatalf("Resolve: %v, %v", missing, err)
			}
			if got := v.JSON() == tt.in; got != tt.stays {
				t.Errorf("the reference stays = %v, want %v", got, tt.stays)
			}
			back, _, err := Prepare(t.Context(), blobs, v)
			if err != nil || back.JSON() != tt.in {
				t.Errorf("Prepare after Resolve = %.200s, %v, want %s", back.JSON(), err, tt.in)
			}
		})
	}
}

func putText(t testing.TB, blobs *blob.Store, text string) string {
	t.Helper()
	ref, err := blobs.Put(context.Background(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return ref.String()
}

func TestCanonicalImages(t *testing.T) {
	large := strings.Repeat("QUJD", 256)
	v := parsed(t, `{"content":[{"type":"image","data":"QUJD\n`+large+`QQ"},{"type":"image","data":"Q Q"}],"x":[{"type":"image","data":"QUJD\n`+large+`"}]}`)
	want := `{"content":[{"type":"image","data":"QUJD` + large + `QQ=="},{"type":"image","data":"Q Q"}],"x":[{"type":"image","data":"QUJD\n` + large + `"}]}`
	if diff := cmp.Diff(want, CanonicalImages(v).JSON()); diff != "" {
		t.Errorf("CanonicalImages (-want +got):\n%s", diff)
	}
}

func TestDecodeBase64(t *testing.T) {
	tests := []struct {
		name, in, want string
		ok             bool
	}{
		{"plain", "QUJD", "ABC", true},
		{"padded", "QQ==", "A", true},
		{"unpadded", "QUI", "AB", true},
		{"white space", " Q\tU\nJ\rD\v\f", "ABC", true},
		{"padding between white space", "QQ=\n=\n", "A", true},
		{"both alphabets", "-_+/", "\xfb\xff\xbf", true},
		{"one digit over", "QUJDQ", "ABC", true},
		{"digits after the padding", "QQ==QUJD", "", false},
		{"too much padding", "QQ===", "", false},
		{"other characters", "QUJD!", "", false},
		{"past ASCII", "QUJDé", "", false},
		{"empty", "", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := decodeBase64(tt.in)
			if ok != tt.ok || (ok && string(got) != tt.want) {
				t.Errorf("decodeBase64(%q) = %q, %v, want %q, %v", tt.in, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	absent := Value{}
	item := func(items ...Value) Value { return ArrayValue(items...) }
	tests := []struct {
		name string
		in   Value
		want string
		path string
	}{
		{"absent properties", ObjectValue(NewObj(Member{"a", absent}, Member{"b", item(ObjectValue(NewObj(Member{"c", absent})))})), `{"b":[{}]}`, ""},
		{"absent element", ObjectValue(NewObj(Member{"data", ObjectValue(NewObj(Member{"list", item(NumberValue(1), absent)}))})), "", "entry.data.list[1]"},
		{"absent element of an element", ObjectValue(NewObj(Member{"l", item(item(absent))})), "", "entry.l[0][0]"},
		{"nothing to do", ObjectValue(NewObj(Member{"a", NullValue()})), `{"a":null}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Normalize(tt.in)
			if tt.path != "" {
				var undefined *UndefinedItemError
				if !errors.As(err, &undefined) || undefined.Path != tt.path {
					t.Errorf("Normalize: %v, want an undefined item at %s", err, tt.path)
				}
				return
			}
			if err != nil || got.JSON() != tt.want {
				t.Errorf("Normalize = %s, %v, want %s", got.JSON(), err, tt.want)
			}
			for _, m := range got.Obj().Members() {
				if m.Value.Is(Absent) {
					t.Errorf("%s is still there", m.Key)
				}
			}
		})
	}
}

func TestRedactor(t *testing.T) {
	r := Redactor(func(s string) string { return strings.ReplaceAll(s, "secret", "[redacted]") })
	v := parsed(t, `{"id":"secret","message":{"role":"user","content":[{"type":"text","text":"a secret"},{"type":"image","data":"secret"}]},"same":{"x":"y"}}`)
	got := r.Value(v)
	want := `{"id":"secret","message":{"role":"user","content":[{"type":"text","text":"a [redacted]"},{"type":"image","data":"secret"}]},"same":{"x":"y"}}`
	if diff := cmp.Diff(want, got.JSON()); diff != "" {
		t.Errorf("Value (-want +got):\n%s", diff)
	}
	if got.Get("same").Obj() != v.Get("same").Obj() {
		t.Error("an object without a secret was copied")
	}
}

func FuzzTruncate(f *testing.F) {
	f.Add("aé数😀\xed\xa0\xbd", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 0 {
			return
		}
		s, err := wtf8(s)
		if err != nil {
			return
		}
		got := Cut16(s, n)
		switch {
		case !strings.HasPrefix(s, got):
			t.Errorf("Cut16(%q, %d) = %q", s, n, got)
		case Len16(s) <= n && got != s:
			t.Errorf("Cut16(%q, %d) = %q, want it whole", s, n, got)
		case Len16(s) > n && (Len16(got) > n || Len16(got) < n-1):
			t.Errorf("Cut16(%q, %d) has %d units", s, n, Len16(got))
		}
	})
}

// wtf8 makes text of any bytes, with lone surrogates where \u escapes say so.
func wtf8(s string) (string, error) {
	v, err := ParseString(`"` + s + `"`)
	return v.Str(), err
}

// FuzzPrepare holds that a prepared record, resolved and prepared again, is
// the same, and that what is resolved says what was given.
func FuzzPrepare(f *testing.F) {
	f.Add(`{"content":[{"type":"image","data":"` + strings.Repeat("QUJD", 256) + `"}],"image_url":"data:image/png;base64,AA"}`)
	f.Add(`{"image_url":{"url":"data:image/png;base64,AA"},"data":"` + aRef + `","partialJson":1,"content":"a","lineCount":3}`)
	f.Add(`{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(make([]byte, 900)) + `"},{"data":"` + aRef + `"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseString(text)
		if err != nil || !v.Is(Object) {
			return
		}
		ctx, blobs := t.Context(), newBlobs()
		before := v.JSON()
		first, changed, err := Prepare(ctx, blobs, v)
		if err != nil {
			t.Fatal(err)
		}
		if v.JSON() != before || (!changed && first.JSON() != before) {
			t.Fatalf("Prepare changed what it was given: %s", before)
		}
		resolved, _, err := Resolve(ctx, blobs, first)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Prepare(ctx, blobs, resolved)
		if err != nil {
			t.Fatal(err)
		}
		third, _, err := Resolve(ctx, blobs, again)
		if err != nil || third.JSON() != resolved.JSON() {
			t.Errorf("resolved %s, then %s, %v", resolved.JSON(), third.JSON(), err)
		}
	})
}
