package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/gajae-code/gjc-index/jsonl"
)

// maxSteering bounds one instruction, in bytes.
const maxSteering = 64 << 10

// TaskScope is what a session was asked to do by whoever delegated it: the
// original input, and the steering that came later, sent and acknowledged. No
// summary says it; it is folded from the records themselves. The zero
// TaskScope is that of a session that nobody delegated.
type TaskScope struct {
	Found    bool // there is a task scope, well formed
	Required bool
	Input    jsonl.Value
	Policy   jsonl.Value
	Steering []jsonl.Steering // in the order in which it was sent
	Version  int64            // of the latest checkpoint; 0 without one

	places map[string]int // steering id to its place
	fault  string         // what is wrong with the scope
	kept   string         // what is wrong with its checkpoints
	stated jsonl.Value    // the input as checkpoints state it; null: of no scope
}

// FoldTaskScope adds what entries say to prev, which it changes and returns;
// nil is empty.
func FoldTaskScope(prev *TaskScope, entries []*jsonl.Entry) *TaskScope {
	if prev == nil {
		prev = &TaskScope{}
	}
	for _, e := range entries {
		prev.Add(e)
	}
	return prev
}

// Add takes the next entry.
func (t *TaskScope) Add(e *jsonl.Entry) {
	if e.Type() != "custom" {
		return
	}
	name, data := customOf(e)
	d, ok := jsonl.ParseCustom(name, data)
	switch name {
	case jsonl.KindTaskScope:
		if !ok {
			// Only one that says itself that nobody needs it may be passed over.
			if required := data.Get("required"); !required.Is(jsonl.Bool) || required.Bool() {
				blame(&t.fault, "it", data)
			}
			return
		}
		t.scope(d.(*jsonl.TaskScope))
	case jsonl.KindSteering:
		if ok {
			t.Steer(*d.(*jsonl.Steering))
		}
	case jsonl.KindTaskScopeCheckpoint:
		if !ok {
			blame(&t.kept, "its checkpoint", data)
			return
		}
		t.checkpoint(d.(*jsonl.TaskScopeCheckpoint))
	}
}

// blame notes the first fault of something.
func blame(fault *string, what string, data jsonl.Value) {
	if *fault != "" {
		return
	}
	*fault = what + " is malformed"
	if v := data.Get("v"); v.Is(jsonl.Number) && v.Num() > 1 {
		*fault = what + " is of a newer version"
	}
}

// scope takes a task scope. The original one holds.
func (t *TaskScope) scope(s *jsonl.TaskScope) {
	if t.Found {
		return
	}
	t.Found, t.Required, t.Input, t.Policy = true, s.Required, s.Input, s.Policy
	switch p := s.Policy; p.Kind() {
	case jsonl.Absent, jsonl.String:
	case jsonl.Object:
		if v := p.Get("v"); !v.Is(jsonl.Absent) && v != jsonl.NumberValue(1) && s.Required {
			blame(&t.fault, "its policy", p)
		}
	default:
		if s.Required {
			blame(&t.fault, "its policy", p)
		}
	}
}

// Steer takes a steering record. One that was acknowledged stays so.
func (t *TaskScope) Steer(s jsonl.Steering) {
	if i, ok := t.places[s.ID]; ok {
		if s.State == jsonl.SteeringAcknowledged {
			t.Steering[i].State = s.State
		}
		return
	}
	if t.places == nil {
		t.places = make(map[string]int)
	}
	t.places[s.ID] = len(t.Steering)
	t.Steering = append(t.Steering, s)
}

func (t *TaskScope) checkpoint(c *jsonl.TaskScopeCheckpoint) {
	switch {
	case c.Digest != digestOf(c.Input, c.Steering):
		blame(&t.kept, "its checkpoint", jsonl.Value{})
	case !t.stated.Is(jsonl.Absent) && t.stated.JSON() != c.Input.JSON():
		blame(&t.kept, "its checkpoint", jsonl.Value{})
	}
	t.Version = max(t.Version, c.Version)
	t.stated = c.Input
	for _, s := range c.Steering {
		t.Steer(s)
	}
}

// Check says whether a turn may begin: nil, or an ErrTaskScope that says why
// not. required is whether whoever runs the session demands a task scope; a
// scope may demand itself, and a checkpoint of one says that there was one.
func (t *TaskScope) Check(required bool) error {
	stated := !t.stated.Is(jsonl.Absent) && !t.stated.Is(jsonl.Null)
	required = required || t.Required
	fault := t.fault
	switch {
	case fault != "":
	case !t.Found && (required || stated):
		fault = "it is missing"
	case t.kept != "" && (required || !t.Found):
		fault = t.kept
	case stated && required && t.stated.JSON() != t.Input.JSON():
		fault = "its checkpoint is about another input"
	}
	if fault == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrTaskScope, fault)
}

// Admit says whether a steering record may be appended: nil, or an ErrSteering
// that says why not. After the append it is given to Steer.
func (t *TaskScope) Admit(s jsonl.Steering) error {
	i, known := t.places[s.ID]
	reason := ""
	switch {
	case s.ID == "":
		reason = "it has no id"
	case len(s.ID)+len(s.Text) > maxSteering:
		reason = fmt.Sprintf("%d bytes, limit %d", len(s.ID)+len(s.Text), maxSteering)
	case s.State == jsonl.SteeringSent && known:
		reason = "its id was used before"
	case s.State == jsonl.SteeringSent && s.Text == "":
		reason = "it is empty"
	case s.State == jsonl.SteeringSent:
	case s.State != jsonl.SteeringAcknowledged:
		reason = "its state is unknown"
	case !known:
		reason = "what it acknowledges was never sent"
	case t.Steering[i].Text != s.Text:
		reason = "what it acknowledges reads differently"
	case t.Steering[i].State == jsonl.SteeringAcknowledged:
		reason = "it was acknowledged before"
	}
	if reason != "" {
		return fmt.Errorf("%w: %s", ErrSteering, reason)
	}
	return nil
}

// Pending is the steering that was sent and not yet acknowledged.
func (t *TaskScope) Pending() []jsonl.Steering {
	var pending []jsonl.Steering
	for _, s := range t.Steering {
		if s.State == jsonl.SteeringSent {
			pending = append(pending, s)
		}
	}
	return pending
}

// CutTaskScope folds the steering among the entries that leave into a
// checkpoint of version, which is one more than the latest that stays; nil if
// there is nothing to keep. whole is the fold over all entries of the session.
func CutTaskScope(removed []*jsonl.Entry, whole *TaskScope) *jsonl.TaskScopeCheckpoint {
	return FoldTaskScope(nil, removed).Checkpoint(whole)
}

// Checkpoint is what is kept of a fold over entries that leave; nil if that is
// nothing. whole is the fold over all entries of the session, which tells the
// input that the checkpoint is about.
func (t *TaskScope) Checkpoint(whole *TaskScope) *jsonl.TaskScopeCheckpoint {
	if len(t.Steering) == 0 {
		return nil
	}
	input := whole.Input
	if input.Is(jsonl.Absent) {
		input = jsonl.NullValue()
	}
	return &jsonl.TaskScopeCheckpoint{
		Version:  whole.Version + 1,
		Input:    input,
		Steering: t.Steering,
		Digest:   digestOf(input, t.Steering),
	}
}

// digestOf is the SHA-256 of input and steering as they are written.
func digestOf(input jsonl.Value, steering []jsonl.Steering) string {
	c := jsonl.TaskScopeCheckpoint{Input: input, Steering: steering}
	sum := sha256.Sum256(jsonl.AppendJSON(nil, jsonl.ObjectValue(c.Data())))
	return hex.EncodeToString(sum[:])
}
