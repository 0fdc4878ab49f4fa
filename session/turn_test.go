package session

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
)

func cancelled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestOneTurnRunsAtATime(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	turn, err := s.BeginTurn(t.Context())
	noErr(t, err)
	clone, err := s.Clone()
	noErr(t, err)
	if _, err := clone.BeginTurn(cancelled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("BeginTurn() beside another = %v, want to wait", err)
	}
	nested, err := clone.BeginTurn(turn.Context())
	if err != nil {
		t.Fatalf("nested BeginTurn() = %v", err)
	}
	nested.End()
	if _, err := clone.BeginTurn(cancelled(t)); err == nil {
		t.Error("the end of nested work ended the turn")
	}
	_, err = clone.AppendMessage(turn.Context(), message("assistant", "within the turn"))
	noErr(t, err)
	turn.End()
	turn.End()
	next, err := clone.BeginTurn(t.Context())
	if err != nil {
		t.Fatalf("BeginTurn() after the end = %v", err)
	}
	next.End()
	noErr(t, clone.Close())
}

func TestAWrongLockOrderPanics(t *testing.T) {
	tests := []struct {
		name       string
		held, want rank
		panics     bool
	}{
		{"in order", rankWriter, rankAppend, false},
		{"backwards", rankAppend, rankWriter, true},
		{"activation under sequence", rankSequence, rankActivation, true},
		{"the same twice", rankActivation, rankActivation, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if panicked := recover() != nil; panicked != tt.panics {
					t.Errorf("panicked: %v, want %v", panicked, tt.panics)
				}
			}()
			enter(enter(t.Context(), tt.held, "x"), tt.want, "x")
		})
	}
}

func TestATurnNeedsTheScopeThatItsTaskRequires(t *testing.T) {
	scope := func(data string) New {
		v, err := jsonl.ParseString(data)
		noErr(t, err)
		return NewCustom(jsonl.KindTaskScope, v)
	}
	tests := []struct {
		name string
		data string
		err  error
	}{
		{"a policy", `{"v":1,"required":true,"input":"do it","policy":{"write":false}}`, nil},
		{"no policy and none required", `{"v":1,"required":false,"input":"do it"}`, nil},
		{"a required policy of another kind", `{"v":1,"required":true,"input":"do it","policy":7}`, ErrTaskScope},
		{"a scope that can't be read", `{"v":1,"required":"maybe"}`, ErrTaskScope},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, Options{})
			s := b.create()
			_, err := s.Append(t.Context(), scope(tt.data))
			noErr(t, err)
			turn, err := s.BeginTurn(t.Context())
			if !errors.Is(err, tt.err) {
				t.Errorf("BeginTurn() = %v, want %v", err, tt.err)
			}
			if err == nil {
				turn.End()
			}
		})
	}
}

func TestAChildHasItsOwnFileAndTheHomesEventIDs(t *testing.T) {
	b := newBench(t, Options{})
	s := b.create()
	b.say(s, "assistant", "parent")
	child, err := s.Child(t.Context(), "worker")
	noErr(t, err)
	b.say(child, "assistant", "child")
	if want := filepath.Join(stemOf(s.Path()), "worker.jsonl"); child.Path() != want {
		t.Errorf("path = %s, want %s", child.Path(), want)
	}
	if parent := child.Header().Get("parentSession").Str(); parent != s.ID() {
		t.Errorf("parentSession = %q, want %q", parent, s.ID())
	}
	if _, err := NewStore(b.fsys, b.opt).Open(t.Context(), child.Path(), OpenOptions{}); !errors.Is(err, ErrBusy) {
		t.Errorf("a second writer of the child = %v, want ErrBusy", err)
	}
	noErr(t, child.Close())
	again, err := s.Child(t.Context(), "worker")
	noErr(t, err)
	b.say(again, "user", "more")
	events := map[jsonl.EventID]bool{}
	for _, x := range []*Session{s, again} {
		entries, _ := x.Entries(t.Context())
		for _, e := range entries {
			id, _ := e.EventID()
			events[id] = true
		}
	}
	if len(events) != 3 {
		t.Errorf("%d event ids for 3 entries", len(events))
	}
	noErr(t, again.Close())
}

func TestASessionInMemoryBehavesAsAnyOther(t *testing.T) {
	b := newBench(t, Options{})
	s, err := b.InMemory("/w")
	noErr(t, err)
	first := b.say(s, "user", "question")
	b.say(s, "assistant", "answer")
	noErr(t, s.Branch(t.Context(), first))
	b.say(s, "assistant", "other answer")
	noErr(t, s.SaveDraft(t.Context(), "draft"))
	if draft, ok, _ := s.ConsumeDraft(t.Context()); !ok || draft != "draft" {
		t.Errorf("draft = %q, %v", draft, ok)
	}
	if _, _, err := s.Fork(t.Context()); err != nil {
		t.Errorf("Fork() = %v", err)
	}
	if path, err := s.Branched(t.Context(), first); err != nil || path != "" {
		t.Errorf("Branched() = %q, %v", path, err)
	}
	noErr(t, s.Flush(t.Context()))
	noErr(t, s.Close())
	if left, _ := filepath.Glob(filepath.Join(b.dir, "*")); len(left) != 0 {
		t.Errorf("%v was written", left)
	}
}
