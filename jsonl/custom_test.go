package jsonl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func price(p float64) *float64 { return &p }

// customSamples has one of each kind, with every key set, and as it is written.
var customSamples = []struct {
	d    CustomData
	want string
}{
	{
		&UsageRecord{"r1", UsageFinal, "e1", "acme", "m", 1, 2, 3, 4, price(0.5)},
		`{"v":1,"request":"r1","state":"final","entryId":"e1","provider":"acme","model":"m","input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":0.5}`,
	},
	{
		&UsageRecord{Request: "r1", State: UsagePartial},
		`{"v":1,"request":"r1","state":"partial","provider":"","model":"","input":0,"output":0,"cacheRead":0,"cacheWrite":0}`,
	},
	{
		&UsageCheckpoint{[]UsageTotal{{"s1", "2026-01-02", "acme", "m", 1, 2, 3, 4, nil, 5, 1}}},
		`{"v":1,"totals":[{"origin":"s1","day":"2026-01-02","provider":"acme","model":"m","input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":null,"requests":5,"incomplete":1}]}`,
	},
	{
		&ExecutionEffects{[]EffectPath{{"a.go", EffectOps{1, 2, 3, 4, 5}, "t1", "t2"}}, 6, 7, true},
		`{"v":1,"paths":[{"path":"a.go","ops":{"create":1,"write":2,"edit":3,"delete":4,"rename":5},"first":"t1","last":"t2"}],"overflow":6,"unprovenCalls":7,"incomplete":true}`,
	},
	{
		&TaskScope{true, StringValue("do it"), ObjectValue(NewObj(Member{"deny", BoolValue(true)}))},
		`{"v":1,"required":true,"input":"do it","policy":{"deny":true}}`,
	},
	{
		&Steering{"s1", "left", SteeringSent},
		`{"v":1,"id":"s1","text":"left","state":"sent"}`,
	},
	{
		&TaskScopeCheckpoint{2, StringValue("do it"), []Steering{{"s1", "left", SteeringAcknowledged}}, "d"},
		`{"v":1,"version":2,"input":"do it","steering":[{"id":"s1","text":"left","state":"acknowledged"}],"digest":"d"}`,
	},
	{
		&AppliedPreview{"d1", "s", "p", 3, "a.go", []string{"-x", "+y"}, true},
		`{"v":1,"display":"d1","session":"s","parent":"p","seq":3,"path":"a.go","lines":["-x","+y"],"truncated":true}`,
	},
	{
		&Attachment{"t", "p", "c", "tool", "n.png", "image/png", "blob:sha256:00", ""},
		`{"v":1,"turn":"t","parent":"p","call":"c","tool":"tool","name":"n.png","mime":"image/png","blob":"blob:sha256:00"}`,
	},
	{
		&Attachment{"t", "", "c", "tool", "n.txt", "text/plain", "", "words"},
		`{"v":1,"turn":"t","parent":"","call":"c","tool":"tool","name":"n.txt","mime":"text/plain","text":"words"}`,
	},
	{
		&OutputChunk{"d1", 4, "words"},
		`{"v":1,"display":"d1","seq":4,"text":"words"}`,
	},
	{
		&RewindOrigin{"s1", "e9", 12, 3, "unsent"},
		`{"v":1,"session":"s1","prompt":"e9","eventCutoff":12,"promptOffset":3,"unsent":"unsent"}`,
	},
	{
		&Diagnostic{"careful"},
		`{"v":1,"text":"careful"}`,
	},
	{
		&Salvaged{7, "news", NewObj(Member{"text", StringValue("x")})},
		`{"v":1,"line":7,"was":"news","record":{"text":"x"}}`,
	},
}

func TestCustomDataIsWrittenAndReadBack(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range customSamples {
		t.Run(tt.d.Kind(), func(t *testing.T) {
			seen[tt.d.Kind()] = true
			if diff := cmp.Diff(tt.want, ObjectValue(tt.d.Data()).JSON()); diff != "" {
				t.Fatalf("Data (-want +got):\n%s", diff)
			}
			v, err := ParseString(tt.want)
			if err != nil {
				t.Fatal(err)
			}
			got, ok := ParseCustom(tt.d.Kind(), v)
			if !ok {
				t.Fatalf("ParseCustom(%s): wrong shape", tt.want)
			}
			if diff := cmp.Diff(tt.want, ObjectValue(got.Data()).JSON()); diff != "" {
				t.Errorf("read back (-want +got):\n%s", diff)
			}
			// The original counts such marks when it lists a session.
			if strings.Contains(tt.want, `"type":"message"`) {
				t.Errorf("data looks like a message: %s", tt.want)
			}
			e := NewEntry(DataEntry(Base{ID: "a", Timestamp: "t"}, tt.d))
			if back, ok := e.Custom(); !ok || back.Kind() != tt.d.Kind() {
				t.Errorf("Custom() of its own entry: %v, %v", back, ok)
			}
		})
	}
	for _, k := range Kinds() {
		if k.Custom && strings.HasPrefix(k.Name, customPrefix) && !seen[k.Name] {
			t.Errorf("%s: no sample", k.Name)
		}
	}
}

// Without any one of its keys, or with one of another kind, or in another
// version, data is the data of an unknown custom entry.
func TestParseCustomRefusesWrongShapes(t *testing.T) {
	optional := map[string]bool{
		"entryId": true, "cost": true, "policy": true, "unsent": true,
	}
	for _, tt := range customSamples {
		v, err := ParseString(tt.want)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range v.Obj().Members() {
			without, other := v.Obj().Clone(), v.Obj().Clone()
			without.Delete(m.Key)
			other.Set(m.Key, ArrayValue(NumberValue(1)))
			if _, ok := ParseCustom(tt.d.Kind(), ObjectValue(without)); ok != optional[m.Key] {
				t.Errorf("%s without %s: ok = %v", tt.d.Kind(), m.Key, ok)
			}
			if m.Key == "policy" || m.Key == "input" && m.Value.Is(String) {
				continue // any value will do
			}
			if _, ok := ParseCustom(tt.d.Kind(), ObjectValue(other)); ok {
				t.Errorf("%s with an array as %s: ok", tt.d.Kind(), m.Key)
			}
		}
	}
	tests := []struct{ name, kind, data string }{
		{"newer version", KindDiagnostic, `{"v":2,"text":"x"}`},
		{"version as text", KindDiagnostic, `{"v":"1","text":"x"}`},
		{"no object", KindDiagnostic, `"x"`},
		{"array", KindDiagnostic, `[1]`},
		{"another program's kind", "gjc-index/unheard", `{"v":1}`},
		{"unknown state", KindSteering, `{"v":1,"id":"a","text":"x","state":"lost"}`},
		{"negative count", KindOutputChunk, `{"v":1,"display":"d","seq":-1,"text":""}`},
		{"fraction as a count", KindOutputChunk, `{"v":1,"display":"d","seq":1.5,"text":""}`},
		{"count past what a double holds", KindOutputChunk, `{"v":1,"display":"d","seq":1e17,"text":""}`},
		{"number out of range", KindOutputChunk, `{"v":1,"display":"d","seq":1e400,"text":""}`},
		{"empty id", KindOutputChunk, `{"v":1,"display":"","seq":1,"text":""}`},
		{"item that is no object", KindUsageCheckpoint, `{"v":1,"totals":[5]}`},
		{"item of a wrong shape", KindUsageCheckpoint, `{"v":1,"totals":[{"origin":"s"}]}`},
		{"blob and text", KindAttachment, `{"v":1,"turn":"t","parent":"","call":"c","tool":"t","name":"n","mime":"m","blob":"b","text":"x"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := ParseString(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if d, ok := ParseCustom(tt.kind, v); ok {
				t.Errorf("ParseCustom(%s, %s) = %+v, want a wrong shape", tt.kind, tt.data, d)
			}
		})
	}
	extra, err := ParseString(`{"v":1,"text":"x","later":true}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := ParseCustom(KindDiagnostic, extra); !ok {
		t.Error("a key that is not known makes the shape wrong")
	}
}
