package session

import (
	"errors"
	"strings"
	"testing"
)

func TestLifecycleIDIsTheLaunchersChoice(t *testing.T) {
	for _, tt := range []struct{ request, id, want string }{
		{"r1", "My.Session_1-x", "My.Session_1-x"},
		{"", "abc", ""},
		{"r1", "", ""},
		{"r1", "a/b", ""},
		{"r1", "..", ""},
		{"r1", strings.Repeat("a", 128), strings.Repeat("a", 128)},
		{"r1", strings.Repeat("a", 129), ""},
	} {
		env := map[string]string{"GJC_LIFECYCLE_REQUEST_ID": tt.request, "GJC_SESSION_ID": tt.id}
		if got := LifecycleID(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("LifecycleID(%q, %q) = %q, want %q", tt.request, tt.id, got, tt.want)
		}
	}
}

func TestCreateTakesTheHostsIDOnce(t *testing.T) {
	b := newBench(t, Options{})
	s, err := b.Create(t.Context(), b.dir, CreateOptions{Dir: b.dir, ID: "chosen-1"})
	noErr(t, err)
	t.Cleanup(func() { _ = s.Close() })
	if s.ID() != "chosen-1" || !strings.HasSuffix(s.Path(), "_chosen-1.jsonl") {
		t.Errorf("id %q at %s, want chosen-1", s.ID(), s.Path())
	}
	if _, err := s.NewSession(t.Context(), ""); err != nil || s.ID() == "chosen-1" {
		t.Errorf("next id %q (%v), want one of its own", s.ID(), err)
	}
	if _, err := b.Create(t.Context(), b.dir, CreateOptions{Dir: b.dir, ID: "../x"}); !errors.Is(err, ErrBadID) {
		t.Errorf("id that leaves the directory: %v, want ErrBadID", err)
	}
}
