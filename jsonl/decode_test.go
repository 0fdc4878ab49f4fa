package jsonl

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestUTF16IsDecodedWhole(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"ASCII", "a\x00b\x00", "ab"},
		{"two and three bytes", "\xe9\x00\x34\xbb", "é무"},
		{"a pair", "\x3c\xd8\x31\xdf", "🌱"},
		{"a lone high surrogate", "\x3c\xd8a\x00", "\ufffda"},
		{"two high surrogates and a low one", "\x3c\xd8\x3c\xd8\x31\xdf", "\ufffd🌱"},
		{"a lone low surrogate", "\x31\xdfa\x00", "\ufffda"},
		{"a high surrogate at the end", "a\x00\x3c\xd8", "a\ufffd"},
		{"an odd byte at the end", "a\x00b", "a\ufffd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, src := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got, err := io.ReadAll(&utf16Reader{src: src})
				if err != nil || string(got) != tt.want {
					t.Errorf("decoding %q gave %q, %v, want %q", tt.in, got, err, tt.want)
				}
			}
		})
	}
}

func TestUTF16PairsMayLieOverChunks(t *testing.T) {
	in := "x\x00" + strings.Repeat("\x3c\xd8\x31\xdf", utf16Chunk)
	got, err := io.ReadAll(&utf16Reader{src: bytes.NewReader([]byte(in))})
	if err != nil || string(got) != "x"+strings.Repeat("🌱", utf16Chunk) {
		t.Errorf("decoding %d pairs gave %d bytes, %v", utf16Chunk, len(got), err)
	}
	if utf16Width(got) != int64(len(in)) {
		t.Errorf("utf16Width = %d, want %d", utf16Width(got), len(in))
	}
}

func TestUTF16TranscriptSaysSo(t *testing.T) {
	tr, err := parse(t, "\xff\xfe"+toUTF16(head+msg("a", "", "user", "x")))
	if err != nil || !tr.UTF16 || len(tr.Records) != 1 || tr.TornTail {
		t.Fatalf("ParseTranscript of UTF-16 gave %+v, %v", tr, err)
	}
	if e := tr.Records[0]; e.Offset != int64(2+2*len(head)) || e.Offset+e.Size != tr.Size {
		t.Errorf("record lies at %d, %d bytes, of %d", e.Offset, e.Size, tr.Size)
	}
}
