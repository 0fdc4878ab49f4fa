package checkpoint

import (
	"errors"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/google/go-cmp/cmp"
)

func customLine(kind, data string) string {
	return `{"type":"custom","customType":"` + kind + `","data":` + data + `,"id":"x","parentId":null,"timestamp":"` + t0 + `"}`
}

func TestTaskScopeCheck(t *testing.T) {
	scope := func(data string) string { return customLine(jsonl.KindTaskScope, data) }
	required := scope(`{"v":1,"required":true,"input":"do it","policy":{"deny":["net"]}}`)
	optional := scope(`{"v":1,"required":false,"input":"do it"}`)
	steering := []jsonl.Steering{{ID: "s1", Text: "left", State: jsonl.SteeringSent}}
	checkpoint := func(change func(c *jsonl.TaskScopeCheckpoint)) string {
		c := &jsonl.TaskScopeCheckpoint{Version: 1, Input: jsonl.StringValue("do it"), Steering: steering}
		c.Digest = digestOf(c.Input, c.Steering)
		change(c)
		return customLine(c.Kind(), jsonl.ObjectValue(c.Data()).JSON())
	}
	good := checkpoint(func(*jsonl.TaskScopeCheckpoint) {})
	tests := []struct {
		name   string
		demand bool
		lines  []string
		want   string // "" is fine
	}{
		{"nobody asks for one", false, nil, ""},
		{"required and missing", true, nil, "it is missing"},
		{"there", true, []string{required}, ""},
		{"not required", false, []string{optional}, ""},
		{"malformed", false, []string{scope(`{"v":1,"required":true}`)}, "it is malformed"},
		{"malformed, and nobody needs it", false, []string{scope(`{"v":1,"required":false}`)}, ""},
		{"newer", false, []string{scope(`{"v":2,"required":true,"input":"x"}`)}, "it is of a newer version"},
		{"policy that is none", false, []string{scope(`{"v":1,"required":true,"input":"x","policy":7}`)}, "its policy is malformed"},
		{"policy of a newer version", false, []string{scope(`{"v":1,"required":true,"input":"x","policy":{"v":3}}`)}, "its policy is of a newer version"},
		{"with a checkpoint", false, []string{required, good}, ""},
		{"a checkpoint, but no scope", false, []string{good}, "it is missing"},
		{"a checkpoint with another digest", false, []string{required, checkpoint(func(c *jsonl.TaskScopeCheckpoint) { c.Digest = "0" })}, "its checkpoint is malformed"},
		{"a checkpoint that was edited", false, []string{required, strings.Replace(good, "left", "right", 1)}, "its checkpoint is malformed"},
		{"a newer checkpoint", false, []string{required, strings.Replace(good, `"v":1`, `"v":2`, 1)}, "its checkpoint is of a newer version"},
		{"a newer checkpoint that nobody needs", false, []string{optional, strings.Replace(good, `"v":1`, `"v":2`, 1)}, ""},
		{"a checkpoint about something else", false, []string{strings.Replace(required, "do it", "do that", 1), good}, "its checkpoint is about another input"},
		{"steering alone asks for no scope", false, []string{customLine(jsonl.KindSteering, `{"v":1,"id":"s","text":"x","state":"sent"}`)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := FoldTaskScope(nil, parse(t, tt.lines...)).Check(tt.demand)
			if tt.want == "" && err != nil {
				t.Fatalf("Check: %v", err)
			}
			if tt.want != "" && (!errors.Is(err, ErrTaskScope) || !strings.HasSuffix(err.Error(), tt.want)) {
				t.Errorf("Check: %v, want %s", err, tt.want)
			}
		})
	}
}

func TestTheOriginalInputHolds(t *testing.T) {
	s := FoldTaskScope(nil, parse(t,
		customLine(jsonl.KindTaskScope, `{"v":1,"required":true,"input":"first"}`),
		customLine(jsonl.KindTaskScope, `{"v":1,"required":false,"input":"second"}`)))
	if s.Input.Str() != "first" || !s.Required {
		t.Errorf("input %q, required %v", s.Input.Str(), s.Required)
	}
}

func TestSteeringStaysAcknowledged(t *testing.T) {
	sent := customLine(jsonl.KindSteering, `{"v":1,"id":"s","text":"left","state":"sent"}`)
	done := strings.Replace(sent, `"sent"`, `"acknowledged"`, 1)
	other := strings.Replace(sent, `"id":"s"`, `"id":"s2"`, 1)
	s := FoldTaskScope(nil, parse(t, sent, other, done, sent))
	want := []jsonl.Steering{{ID: "s", Text: "left", State: "acknowledged"}, {ID: "s2", Text: "left", State: "sent"}}
	if diff := cmp.Diff(want, s.Steering); diff != "" {
		t.Errorf("Steering (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[1:], s.Pending()); diff != "" {
		t.Errorf("Pending (-want +got):\n%s", diff)
	}
}

func TestAdmit(t *testing.T) {
	var s TaskScope
	s.Steer(jsonl.Steering{ID: "known", Text: "left", State: jsonl.SteeringSent})
	s.Steer(jsonl.Steering{ID: "done", Text: "left", State: jsonl.SteeringAcknowledged})
	tests := []struct {
		name string
		in   jsonl.Steering
		ok   bool
	}{
		{"new", jsonl.Steering{ID: "new", Text: "x", State: "sent"}, true},
		{"at the limit", jsonl.Steering{ID: "n", Text: strings.Repeat("x", maxSteering-1), State: "sent"}, true},
		{"past the limit", jsonl.Steering{ID: "n", Text: strings.Repeat("x", maxSteering), State: "sent"}, false},
		{"acknowledged", jsonl.Steering{ID: "known", Text: "left", State: "acknowledged"}, true},
		{"without an id", jsonl.Steering{Text: "x", State: "sent"}, false},
		{"empty", jsonl.Steering{ID: "new", State: "sent"}, false},
		{"sent twice", jsonl.Steering{ID: "known", Text: "left", State: "sent"}, false},
		{"acknowledged twice", jsonl.Steering{ID: "done", Text: "left", State: "acknowledged"}, false},
		{"never sent", jsonl.Steering{ID: "new", Text: "x", State: "acknowledged"}, false},
		{"reads differently", jsonl.Steering{ID: "known", Text: "right", State: "acknowledged"}, false},
		{"unknown state", jsonl.Steering{ID: "new", Text: "x", State: "lost"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.Admit(tt.in); (err == nil) != tt.ok || (err != nil && !errors.Is(err, ErrSteering)) {
				t.Errorf("Admit: %v, want ok %v", err, tt.ok)
			}
		})
	}
}
