package jsonl

import (
	"sort"
	"strings"
)

// Summary is what verify says of one file: the facts that don't need a walk of
// the tree. Strings are for people: valid UTF-8.
type Summary struct {
	State        State
	Version      float64 // 1 if the header has none; 0 without a header
	ID           string
	HeaderLine   int // 0 without a header
	Cwd          string
	Title        string
	HasTitle     bool
	FirstMessage string // the first user message, whole
	HasFirst     bool
	Entries      int // records after the header but patches
	Messages     int
	Malformed    []LineReport // the first MaxReports
	Recovered    []LineReport // the first MaxReports
	Warnings     []Warning    // by line

	MalformedTotal, RecoveredTotal int // how many there are
}

// Summary gives the facts of a transcript. more are warnings of its tree
// (Tree.Warnings); they are put in by line.
func (t *Transcript) Summary(more ...Warning) Summary {
	s := Summary{State: t.State, Malformed: t.Malformed, Recovered: t.Recovered,
		MalformedTotal: t.MalformedTotal, RecoveredTotal: t.RecoveredTotal}
	s.Warnings = append(append(s.Warnings, t.Warnings...), more...)
	sort.SliceStable(s.Warnings, func(i, j int) bool { return s.Warnings[i].Line < s.Warnings[j].Line })
	if t.Header == nil {
		return s
	}
	s.ID, s.HeaderLine = Display(t.Header.ID()), t.HeaderLine
	s.Version = t.headerVersion()
	if t.Stored != int(s.Version) {
		s.Version = float64(t.Stored) // upgraded since
	}
	s.Cwd = Display(t.Header.Cwd())
	s.Title, s.HasTitle = t.Title()
	s.Title = Display(s.Title)
	s.Entries = len(t.Records)
	for _, e := range t.Records {
		if e.kind != "message" {
			continue
		}
		s.Messages++
		if !s.HasFirst && e.role == "user" {
			s.FirstMessage, s.HasFirst = MessageText(e.Value().Get("message")), true
		}
	}
	return s
}

// Value is the summary as the JSON object that verify prints, but for the path.
func (s Summary) Value() *Obj {
	o := &Obj{}
	o.Set("state", StringValue(string(s.State)))
	header := s.HeaderLine > 0
	o.Set("version", orNull(NumberValue(s.Version), header))
	o.Set("id", orNull(StringValue(s.ID), header))
	o.Set("header_line", orNull(NumberValue(float64(s.HeaderLine)), header))
	o.Set("cwd", orNull(StringValue(s.Cwd), header))
	o.Set("title", orNull(StringValue(s.Title), s.HasTitle))
	o.Set("first_message", orNull(StringValue(s.FirstMessage), s.HasFirst))
	o.Set("entries", NumberValue(float64(s.Entries)))
	o.Set("messages", NumberValue(float64(s.Messages)))
	var malformed, recovered, warnings []Value
	for _, r := range s.Malformed {
		malformed = append(malformed, pair(r.Line, StringValue(string(r.Reason))))
	}
	for _, r := range s.Recovered {
		recovered = append(recovered, pair(r.Line, NumberValue(float64(r.Recovered))))
	}
	for _, w := range s.Warnings {
		warnings = append(warnings, pair(w.Line, StringValue(string(w.Kind))))
	}
	o.Set("malformed", ArrayValue(malformed...))
	o.Set("recovered", ArrayValue(recovered...))
	o.Set("warnings", ArrayValue(warnings...))
	if s.MalformedTotal > len(s.Malformed) {
		o.Set("malformedTotal", NumberValue(float64(s.MalformedTotal)))
	}
	if s.RecoveredTotal > len(s.Recovered) {
		o.Set("recoveredTotal", NumberValue(float64(s.RecoveredTotal)))
	}
	return o
}

func orNull(v Value, there bool) Value {
	if there {
		return v
	}
	return NullValue()
}

func pair(line int, v Value) Value { return ArrayValue(NumberValue(float64(line)), v) }

// MessageText is a message's text for people: its content if that is a string,
// else its text blocks joined with one space, as listing joins them.
func MessageText(message Value) string {
	content := message.Get("content")
	if content.Is(String) {
		return Display(content.Str())
	}
	var texts []string
	for _, b := range content.Items() {
		if text := b.Get("text"); b.Get("type").Str() == "text" && text.Is(String) {
			texts = append(texts, Display(text.Str()))
		}
	}
	return strings.Join(texts, " ")
}

// Display is WTF-8 text for people: lone surrogates are U+FFFD.
func Display(s string) string {
	if strings.IndexByte(s, 0xED) < 0 {
		return s
	}
	b := []byte(s)
	replaceSurrogates(b)
	return string(b)
}
