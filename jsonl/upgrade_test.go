package jsonl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines are the header and the records as they would be written.
func lines(tr *Transcript) string {
	b := append(AppendJSON(nil, ObjectValue(tr.Header.Value())), '\n')
	for _, e := range tr.Records {
		b = append(e.AppendJSON(b, true), '\n')
	}
	return string(b)
}

func TestUpgrade(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"version 1 gets ids, parents and kept ids", `
{"type":"session","id":"s"}
{"type":"message","id":"old","message":{"role":"user"}}
{"type":"session","id":"second"}
{"type":"compaction","firstKeptEntryIndex":1,"summary":"x"}
{"type":"compaction","firstKeptEntryIndex":2,"parentId":"z"}
{"type":"compaction","firstKeptEntryIndex":6}
{"type":"compaction","firstKeptEntryIndex":7,"id":"late"}
{"type":"compaction","firstKeptEntryIndex":"1"}
{"type":"compaction","firstKeptEntryIndex":1.5}
{"type":"compaction","firstKeptEntryIndex":0}
{"type":"message","message":{"role":"hookMessage","x":1}}
`, `
{"type":"session","id":"s","version":5}
{"type":"message","id":"00000001","message":{"role":"user"},"parentId":null}
{"type":"session","id":"second","version":3}
{"type":"compaction","summary":"x","id":"00000003","parentId":"00000001","firstKeptEntryId":"00000001"}
{"type":"compaction","parentId":"00000003","id":"00000004"}
{"type":"compaction","id":"00000005","parentId":"00000004","firstKeptEntryId":"late"}
{"type":"compaction","id":"00000006","parentId":"00000005"}
{"type":"compaction","firstKeptEntryIndex":"1","id":"00000007","parentId":"00000006"}
{"type":"compaction","id":"00000008","parentId":"00000007"}
{"type":"compaction","id":"00000009","parentId":"00000008"}
{"type":"message","message":{"role":"custom","x":1},"id":"0000000a","parentId":"00000009"}
`},
		{"version 2 gets the role of hooks", `
{"type":"session","version":2,"id":"s"}
{"type":"message","id":"a","parentId":"z","message":{"role":"hookMessage"},"k":1}
{"type":"session","version":2,"id":"second"}
`, `
{"type":"session","version":5,"id":"s"}
{"type":"message","id":"a","parentId":"z","message":{"role":"custom"},"k":1}
{"type":"session","version":3,"id":"second"}
`},
		{"version 3 gets a number", `
{"type":"session","version":3,"id":"s"}
{"type":"message","id":"a","message":{"role":"hookMessage"}}
{"type":"session","version":3,"id":"second"}
`, `
{"type":"session","version":5,"id":"s"}
{"type":"message","id":"a","message":{"role":"hookMessage"}}
{"type":"session","version":3,"id":"second"}
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := parse(t, strings.TrimPrefix(tt.in, "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if !tr.Upgrade(nil) || tr.Upgrade(nil) {
				t.Errorf("Upgrade must change a transcript once")
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), lines(tr)); diff != "" {
				t.Errorf("Upgrade (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUpgradeLeavesVersion5Alone(t *testing.T) {
	tr, err := parse(t, head+msg("a", "", "hookMessage", "x"))
	if err != nil || tr.Upgrade(nil) || tr.Header.Changed() || tr.Records[0].Changed() {
		t.Errorf("Upgrade changed a transcript of version 5 (%v)", err)
	}
}

func TestUpgradedIDsDoNotMoveWhenAFileGrows(t *testing.T) {
	old := `{"type":"session","id":"s"}` + "\n" + strings.Repeat(`{"type":"message","timestamp":"t","message":{"role":"user"}}`+"\n", 5)
	short, err := parse(t, old)
	if err != nil {
		t.Fatal(err)
	}
	long, err := parse(t, old+old[strings.Index(old, "\n")+1:])
	if err != nil {
		t.Fatal(err)
	}
	short.Upgrade(nil)
	long.Upgrade(nil)
	for i, e := range short.Records {
		a, _ := e.ID()
		if b, _ := long.Records[i].ID(); a != b || len(a) != 8 {
			t.Errorf("record %d has id %q, after the file grew %q", i, a, b)
		}
	}
}

func TestSanitizedDropsWhatBelongsToAProvider(t *testing.T) {
	tests := []struct{ name, message, want string }{
		{"hidden history", `{"role":"assistant","providerPayload":{"type":"openaiResponsesHistory"},"content":[{"type":"thinking","thinkingSignature":"s","thinking":"t"},{"type":"text","text":"x","thinkingSignature":"own"}],"z":1}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"x","thinkingSignature":"own"}],"z":1}`},
		{"text content", `{"role":"assistant","providerPayload":{"type":"openaiResponsesHistory"},"content":"x"}`, `{"role":"assistant","content":"x"}`},
		{"another payload", `{"role":"assistant","providerPayload":{"type":"x"},"content":[]}`, "null"},
		{"a user's message", `{"role":"user","providerPayload":{"type":"openaiResponsesHistory"}}`, "null"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, err := parse(t, head+`{"type":"message","id":"a","message":`+tt.message+`}`)
			if err != nil {
				t.Fatal(err)
			}
			got, changed := Sanitized(tr.Records[0])
			if got.JSON() != tt.want || changed != (tt.want != "null") {
				t.Errorf("Sanitized(%s) = %s, %v, want %s", tt.message, got.JSON(), changed, tt.want)
			}
			if tr.Records[0].Changed() {
				t.Errorf("Sanitized changed the entry")
			}
		})
	}
}

func FuzzUpgrade(f *testing.F) {
	f.Add(`{"type":"session","id":"s"}` + "\n" + `{"type":"compaction","firstKeptEntryIndex":1}`)
	f.Add(`{"type":"session","version":2,"id":"s"}` + "\n" + `{"type":"message","id":"a","message":{"role":"hookMessage"}}`)
	f.Add(head + msg("a", "", "user", "x") + msg("a", "", "user", "x"))
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := parse(t, text)
		if err != nil {
			return
		}
		n := len(tr.Records)
		tr.Upgrade(nil)
		if v, ok := tr.Header.Version(); !ok || v != CurrentVersion || len(tr.Records) != n {
			t.Fatalf("Upgrade gave version %v and %d records of %d", v, len(tr.Records), n)
		}
		again, err := parse(t, lines(tr))
		if err != nil {
			t.Fatalf("the upgraded transcript does not load: %v", err)
		}
		if diff := cmp.Diff(lines(tr), lines(again)); diff != "" && len(again.Warnings) == 0 {
			t.Errorf("the upgraded transcript loads differently (-first +second):\n%s", diff)
		}
		tr.Tree(true).Warnings()
		InspectBytes(t.Context(), []byte(text), LoadOptions{})
	})
}
