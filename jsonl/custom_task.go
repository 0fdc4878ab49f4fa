package jsonl

// TaskScope is the input that a session was delegated, right after session_init.
type TaskScope struct {
	Required bool  // no turn may begin without a valid scope
	Input    Value // as it was given
	Policy   Value // Absent without one
}

// Kind is KindTaskScope.
func (t *TaskScope) Kind() string { return KindTaskScope }

// Data is the entry's data.
func (t *TaskScope) Data() *Obj {
	o := data(Member{"required", BoolValue(t.Required)}, Member{"input", t.Input})
	setPresent(o, "policy", t.Policy)
	return o
}

// The states of a Steering.
const (
	SteeringSent         = "sent"
	SteeringAcknowledged = "acknowledged"
)

// Steering is an instruction given while a delegated task runs.
type Steering struct {
	ID    string
	Text  string
	State string // SteeringSent or SteeringAcknowledged
}

// Kind is KindSteering.
func (s *Steering) Kind() string { return KindSteering }

// Data is the entry's data.
func (s *Steering) Data() *Obj { return data(s.members()...) }

func (s *Steering) members() []Member {
	return []Member{textMember("id", s.ID), textMember("text", s.Text), textMember("state", s.State)}
}

func parseSteering(s *shape) *Steering {
	return &Steering{
		ID:    s.name("id"),
		Text:  s.text("text"),
		State: s.oneOf("state", SteeringSent, SteeringAcknowledged),
	}
}

// TaskScopeCheckpoint keeps the delegated input and the acknowledged steering
// of entries that were removed.
type TaskScopeCheckpoint struct {
	Version  int64 // counts up with each checkpoint of a session
	Input    Value
	Steering []Steering
	Digest   string // of input and steering, by whoever makes the checkpoint
}

// Kind is KindTaskScopeCheckpoint.
func (c *TaskScopeCheckpoint) Kind() string { return KindTaskScopeCheckpoint }

// Data is the entry's data.
func (c *TaskScopeCheckpoint) Data() *Obj {
	steering := make([]Value, len(c.Steering))
	for i := range c.Steering {
		steering[i] = ObjectValue(NewObj(c.Steering[i].members()...))
	}
	return data(countMember("version", c.Version), Member{"input", c.Input},
		Member{"steering", ArrayValue(steering...)}, textMember("digest", c.Digest))
}

func parseTaskScopeCheckpoint(s *shape) *TaskScopeCheckpoint {
	c := &TaskScopeCheckpoint{Version: s.count("version"), Input: s.any("input"), Digest: s.text("digest")}
	for _, item := range s.items("steering") {
		c.Steering = append(c.Steering, *parseSteering(item))
		s.wrong = s.wrong || item.wrong
	}
	return c
}

// RewindOrigin says where a rewound session was taken from.
type RewindOrigin struct {
	Session      string // id of the session it was taken from
	Prompt       string // entry id of the prompt before which the copy ends
	EventCutoff  int64  // how many entries were copied
	PromptOffset int64  // how many prompts came before, over all sessions it descends from
	Unsent       string // the prompt's text, kept for the person; "" without one
}

// Kind is KindRewindOrigin.
func (r *RewindOrigin) Kind() string { return KindRewindOrigin }

// Data is the entry's data.
func (r *RewindOrigin) Data() *Obj {
	o := data(textMember("session", r.Session), textMember("prompt", r.Prompt),
		countMember("eventCutoff", r.EventCutoff), countMember("promptOffset", r.PromptOffset))
	setText(o, "unsent", r.Unsent)
	return o
}

func parseRewindOrigin(s *shape) *RewindOrigin {
	return &RewindOrigin{
		Session:      s.name("session"),
		Prompt:       s.name("prompt"),
		EventCutoff:  s.count("eventCutoff"),
		PromptOffset: s.count("promptOffset"),
		Unsent:       s.optional("unsent"),
	}
}

// Diagnostic is a note of the host program to the person.
type Diagnostic struct {
	Text string
}

// Kind is KindDiagnostic.
func (d *Diagnostic) Kind() string { return KindDiagnostic }

// Data is the entry's data.
func (d *Diagnostic) Data() *Obj { return data(textMember("text", d.Text)) }
