package jsonl

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/blob"
)

func TestEvict(t *testing.T) {
	answer, body, hmm := strings.Repeat("old answer ", 100), strings.Repeat("body ", 300), strings.Repeat("hmm ", 300)
	evicted := func(payloads string) string {
		return `"evictedContent":{"evictedAt":1772366400000,"reason":"compacted_history","compactionEntryId":"00000005","firstKeptEntryId":"00000004","payloads":{` + payloads + `}}`
	}
	many := `{` + strings.Repeat(`"a":1,`, 2) + `"l":["` + strings.Repeat(`x","`, 400) + `"]}`
	manyJSON := parsed(t, many).JSON()
	manySum := blob.RefOf([]byte(manyJSON)).Hex()
	lone := strings.Repeat("x", 1100) + `\ud800`
	loneSum := blob.RefOf([]byte(`"` + lone + `"`)).Hex()
	tests := []struct {
		name, in, want string
		stats          EvictionStats
	}{
		{
			"texts and arguments",
			`{"type":"message","id":"00000002","message":{"role":"assistant","content":[{"type":"thinking","thinking":"` + hmm + `"},{"type":"text","text":"` + answer + `"},{"type":"toolCall","id":"t1","name":"write","arguments":{"path":"p","body":"` + body + `"}}]}}`,
			`{"type":"message","id":"00000002","message":{"role":"assistant","content":[{"type":"thinking","thinking":"` + hmm + `"},{"type":"text","text":"[Compacted history content evicted to durable cold storage]"},{"type":"toolCall","id":"t1","name":"write","arguments":{"path":"p","body":"[Compacted history content evicted to durable cold storage]"}}]},` +
				evicted(`"message.content.1.text":{"kind":"cold_spill","ref":"blob:sha256:ec8cca861429b91ed15186cad925ea41a8702f9170d0511b800f35d0af96ff92","encoding":"utf8","originalChars":1100,"sha256":"ec8cca861429b91ed15186cad925ea41a8702f9170d0511b800f35d0af96ff92","bytes":1100},"message.content.2.arguments.body":{"kind":"cold_spill","ref":"blob:sha256:bb5ca3a11205f828abc18875ce00d4cf640547886c3be2de40da0a9e75c02624","encoding":"utf8","originalChars":1500,"sha256":"bb5ca3a11205f828abc18875ce00d4cf640547886c3be2de40da0a9e75c02624","bytes":1500}`) + `}`,
			EvictionStats{Entries: 1, Payloads: 2, Bytes: 2600},
		},
		{"string content stays", `{"type":"message","message":{"role":"user","content":"` + answer + `"}}`, ``, EvictionStats{}},
		{"string content of a custom message stays", `{"type":"custom_message","content":"` + answer + `"}`, ``, EvictionStats{}},
		{"short texts stay", `{"type":"message","message":{"content":[{"type":"text","text":"` + answer[:1023] + `"}]}}`, ``, EvictionStats{}},
		{"other entries stay", `{"type":"custom","content":[{"type":"text","text":"` + answer + `"}]}`, ``, EvictionStats{}},
		{"evicted before", `{"type":"message","message":{"content":[{"type":"text","text":"` + answer + `"}]},"evictedContent":{}}`, ``, EvictionStats{AlreadyEvicted: 1}},
		{
			"arguments that are long only as a whole, event id last",
			`{"type":"message","message":{"content":[{"type":"toolCall","arguments":` + many + `}]},"event_id":"0000000000000001"}`,
			`{"type":"message","message":{"content":[{"type":"toolCall","arguments":{"__gjcColdSpillArguments":true,"refPath":"message.content.0.arguments","notice":"[Compacted history content evicted to durable cold storage]"}}]},` +
				evicted(`"message.content.0.arguments":{"kind":"cold_spill","ref":"blob:sha256:`+manySum+`","encoding":"json","originalChars":`+NumberValue(float64(len(manyJSON))).JSON()+`,"sha256":"`+manySum+`","bytes":`+NumberValue(float64(len(manyJSON))).JSON()+`}`) + `,"event_id":"0000000000000001"}`,
			EvictionStats{Entries: 1, Payloads: 1, Bytes: int64(len(manyJSON))},
		},
		{
			"text that UTF-8 can't say",
			`{"type":"custom_message","content":[{"type":"text","text":"` + lone + `"}]}`,
			`{"type":"custom_message","content":[{"type":"text","text":"[Compacted history content evicted to durable cold storage]"}],` +
				evicted(`"content.0.text":{"kind":"cold_spill","ref":"blob:sha256:`+loneSum+`","encoding":"json","originalChars":1101,"sha256":"`+loneSum+`","bytes":1108}`) + `}`,
			EvictionStats{Entries: 1, Payloads: 1, Bytes: 1108},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, blobs := t.Context(), newBlobs()
			o := parsed(t, tt.in).Obj()
			before := ObjectValue(o).JSON()
			got, stats, err := Evict(ctx, blobs, o, Eviction{At: 1772366400000, CompactionID: "00000005", FirstKeptID: "00000004"})
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			if want == "" {
				want = before
			}
			if diff := cmp.Diff(want, ObjectValue(got).JSON()); diff != "" {
				t.Errorf("Evict (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stats, stats); diff != "" {
				t.Errorf("stats (-want +got):\n%s", diff)
			}
			back, missing, err := Rehydrate(ctx, blobs, got)
			if err != nil || len(missing) > 0 {
				t.Fatalf("Rehydrate: %v, %v", missing, err)
			}
			if back != got {
				back = back.Clone()
			}
			if tt.want != "" {
				back.Delete("evictedContent")
			}
			if diff := cmp.Diff(before, ObjectValue(back).JSON()); diff != "" {
				t.Errorf("Rehydrate (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRehydrateWithoutItsBlob(t *testing.T) {
	text := strings.Repeat("x", 2000)
	o := parsed(t, `{"type":"message","message":{"content":[{"type":"text","text":"`+text+`"}]}}`).Obj()
	got, _, err := Evict(context.Background(), newBlobs(), o, Eviction{})
	if err != nil {
		t.Fatal(err)
	}
	back, missing, err := Rehydrate(t.Context(), newBlobs(), got)
	if err != nil || len(missing) != 1 || missing[0].Ref != blob.RefOf([]byte(text)) {
		t.Fatalf("Rehydrate: %v, %v", missing, err)
	}
	want := "[Cold-spill blob unavailable: " + refTo(text) + "]"
	if got := back.Get("message").Get("content").Items()[0].Get("text").Str(); got != want {
		t.Errorf("text = %q, want %q", got, want)
	}
}

// FuzzEvict holds that what was evicted comes back where it was.
func FuzzEvict(f *testing.F) {
	long := strings.Repeat("x", 1100)
	f.Add(`[{"type":"text","text":"` + long + `"},{"type":"toolCall","arguments":{"a.b":1,"a":{"b":["` + long + `"]},"":"` + long + `"}}]`)
	f.Add(`[{"type":"toolCall","arguments":{"l":["` + strings.Repeat(`a","`, 600) + `"]}}]`)
	f.Fuzz(func(t *testing.T, content string) {
		v, err := ParseString(content)
		if err != nil {
			return
		}
		ctx, blobs := t.Context(), newBlobs()
		o := NewObj(Member{"type", StringValue("custom_message")}, Member{"content", v})
		before := ObjectValue(o).JSON()
		got, stats, err := Evict(ctx, blobs, o, Eviction{})
		if err != nil || ObjectValue(o).JSON() != before {
			t.Fatalf("Evict changed what it was given, or: %v", err)
		}
		back, missing, err := Rehydrate(ctx, blobs, got)
		if err != nil || len(missing) > 0 {
			t.Fatalf("Rehydrate: %v, %v", missing, err)
		}
		if stats.Entries > 0 {
			back = back.Clone()
			back.Delete("evictedContent")
		}
		if after := ObjectValue(back).JSON(); after != before {
			t.Errorf("came back as %s, want %s", after, before)
		}
	})
}
