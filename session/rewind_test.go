package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
)

// rewindable writes a session with four prompts and a compaction after the
// third.
func rewindable(w *pruneWorld) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":5,"id":"src00001","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q,"title":"T","titleSource":"user"}`+"\n", w.cwd)
	parent := "null"
	add := func(id, rest string) {
		fmt.Fprintf(&b, `{"type":%s,"event_id":"%016x"}`+"\n", strings.Replace(rest, "ID", fmt.Sprintf(`"id":"%s","parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z"`, id, parent), 1), len(id)+b.Len())
		parent = `"` + id + `"`
	}
	for i := range 3 {
		add(fmt.Sprintf("u%d", i+1), fmt.Sprintf(`"message",ID,"message":{"role":"user","content":"prompt %d"}`, i+1))
		add(fmt.Sprintf("a%d", i+1), `"message",ID,"message":{"role":"assistant","content":[],"provider":"p","model":"m"}`)
	}
	add("x1", `"custom",ID,"customType":"gjc-index/tool_applied_preview","data":{"v":1,"display":"d","session":"src00001","parent":"p","seq":1,"path":"f","lines":["session:src00001:entry:a1"],"truncated":false}`)
	add("c1", `"compaction",ID,"summary":"s","firstKeptEntryId":"u3","tokensBefore":1`)
	add("u4", `"message",ID,"message":{"role":"user","content":"prompt 4"}`)
	add("a4", `"message",ID,"message":{"role":"assistant","content":[],"provider":"p","model":"m"}`)
	return w.write("src00001", b.String(), "2026-01-01")
}

func idsIn(t *testing.T, path string) (*jsonl.Transcript, []string) {
	t.Helper()
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	var ids []string
	for _, e := range tr.Records {
		id, _ := e.ID()
		ids = append(ids, id)
	}
	return tr, ids
}

func TestRewindCopiesWhatCameBeforeThePrompt(t *testing.T) {
	for _, archived := range []bool{false, true} {
		t.Run(fmt.Sprint("archived ", archived), func(t *testing.T) {
			w := newPruneWorld(t)
			path := rewindable(w)
			s := w.world.store(Options{settle: 1})
			if archived {
				a, err := s.Archive(t.Context(), path, ArchiveOptions{})
				if err != nil || a.Moved == 0 {
					t.Fatal(a, err)
				}
			}
			before, err := os.ReadFile(path)
			noError(t, err)
			r, err := s.Rewind(t.Context(), path, "2")
			noError(t, err)
			tr, ids := idsIn(t, r.Path)
			if diff := cmp.Diff([]string{"u1", "a1"}, ids[:len(ids)-1]); diff != "" || r.Entries != 2 {
				t.Errorf("copied %d (-want +got):\n%s", r.Entries, diff)
			}
			origin, ok := tr.Records[len(ids)-1].Custom()
			want := &jsonl.RewindOrigin{Session: "src00001", Prompt: "u2", EventCutoff: 2, PromptOffset: 1, Unsent: "prompt 2"}
			if diff := cmp.Diff(jsonl.CustomData(want), origin); !ok || diff != "" {
				t.Errorf("origin (-want +got):\n%s", diff)
			}
			if title, _ := tr.Title(); title != "T" || tr.Header.ParentSession() != "src00001" || tr.Header.ID() == "src00001" {
				t.Errorf("header = %s", jsonl.ObjectValue(tr.Header.Value()).JSON())
			}
			source, _ := idsIn(t, path)
			events := map[jsonl.EventID]bool{}
			for _, e := range source.Records {
				id, _ := e.EventID()
				events[id] = true
			}
			for _, e := range tr.Records {
				if id, ok := e.EventID(); !ok || events[id] {
					t.Errorf("event id %v is not fresh", id)
				}
			}
			after, err := os.ReadFile(path)
			noError(t, err)
			if string(before) != string(after) {
				t.Error("the source was changed")
			}
		})
	}
}

func TestRewindNumbersPromptsOverForks(t *testing.T) {
	w := newPruneWorld(t)
	path := rewindable(w)
	s := w.store()
	r, err := s.Rewind(t.Context(), path, "u4")
	noError(t, err)
	session, err := s.Open(t.Context(), r.Path, OpenOptions{})
	noError(t, err)
	_, err = session.AppendMessage(t.Context(), jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "role", Value: jsonl.StringValue("user")}, jsonl.Member{Key: "content", Value: jsonl.StringValue("other 4")})))
	noError(t, errors.Join(err, session.Close()))
	again, err := s.Rewind(t.Context(), r.Path, "4")
	noError(t, err)
	if again.Prompt.Text != "other 4" {
		t.Errorf("prompt 4 of the rewound session = %q", again.Prompt.Text)
	}
	tr, _ := idsIn(t, r.Path)
	for _, e := range tr.Records {
		if id, _ := e.ID(); id == "x1" {
			data := e.Value().Get("data")
			if data.Get("session").Str() != r.ID || data.Get("lines").Items()[0].Str() != "session:"+r.ID+":entry:a1" {
				t.Errorf("data = %s, want it to name %s", data.JSON(), r.ID)
			}
		}
	}
	for _, ref := range []string{"5", "0", "nosuch", "a1"} {
		if _, err := s.Rewind(t.Context(), path, ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Rewind to %q = %v, want fs.ErrNotExist", ref, err)
		}
	}
}

func TestPreferencesAreThoseAtTheLeaf(t *testing.T) {
	s := newPruneWorld(t).store()
	session, err := s.InMemory("/w")
	noError(t, err)
	_, err = session.SetPreferences(t.Context(), PreferenceChange{Model: "p/a", ThinkingLevel: jsonl.StringValue("high"), ServiceTier: jsonl.NullValue(), Mode: "plan"})
	noError(t, err)
	p, err := session.Preferences(t.Context(), "")
	noError(t, err)
	if p.Model() != "p/a" || p.ThinkingLevel.Str() != "high" || !p.ServiceTier.Is(jsonl.Absent) || p.Mode.Str() != "plan" {
		t.Errorf("Preferences = %+v", p)
	}
	r, err := session.SetPreferences(t.Context(), PreferenceChange{Model: "p/a", ThinkingLevel: jsonl.StringValue("high"), Mode: "plan"})
	if err != nil || len(r.IDs) != 0 {
		t.Errorf("what is so already was written: %+v, %v", r, err)
	}
	if _, err := session.Preferences(t.Context(), "nosuch"); !errors.Is(err, ErrNoEntry) {
		t.Errorf("Preferences at an unknown entry = %v", err)
	}
}

func TestUsageRecorderReplacesSnapshots(t *testing.T) {
	s := newPruneWorld(t).store()
	session, err := s.InMemory("/w")
	noError(t, err)
	rec := session.RecordUsage("r1")
	cost := 0.5
	noError(t, rec.Partial(t.Context(), UsageSnapshot{Provider: "p", Model: "m", Input: 5}))
	noError(t, rec.Partial(t.Context(), UsageSnapshot{Provider: "p", Model: "m", Input: 5}))
	noError(t, rec.Final(t.Context(), UsageSnapshot{Provider: "p", Model: "m", Input: 9, Output: 2, Cost: &cost}))
	if err := rec.Partial(t.Context(), UsageSnapshot{}); !errors.Is(err, ErrRecorded) {
		t.Errorf("Partial after Final = %v, want ErrRecorded", err)
	}
	noError(t, session.RecordUsage("r2").Aborted(t.Context(), UsageSnapshot{Provider: "p", Model: "m", Input: 1}))
	entries, err := session.Entries(t.Context())
	noError(t, err)
	got := checkpoint.FoldUsage(entries, checkpoint.UsageOptions{}).Total()
	if want := (checkpoint.Sum{Input: 10, Output: 2, Cost: &cost, Requests: 2, Incomplete: 1, Unpriced: 1}); len(entries) != 3 || !cmp.Equal(want, got) {
		t.Errorf("%d entries, total (-want +got):\n%s", len(entries), cmp.Diff(want, got))
	}
}

func TestDelegatedTasksAndSteering(t *testing.T) {
	s := newPruneWorld(t).store()
	session, err := s.InMemory("/w")
	noError(t, err)
	task := jsonl.TaskScope{Required: true, Input: jsonl.StringValue("do"), Policy: jsonl.StringValue("carefully")}
	if _, err := session.Delegate(t.Context(), task); !errors.Is(err, ErrTaskScope) {
		t.Errorf("Delegate before session_init = %v, want ErrTaskScope", err)
	}
	_, err = session.Append(t.Context(), NewSessionInit(jsonl.NewObj(jsonl.Member{Key: "systemPrompt", Value: jsonl.StringValue("s")},
		jsonl.Member{Key: "task", Value: jsonl.StringValue("t")}, jsonl.Member{Key: "tools", Value: jsonl.ArrayValue()})))
	noError(t, err)
	_, err = session.Delegate(t.Context(), task)
	noError(t, err)
	turn, err := session.BeginTurn(t.Context())
	noError(t, err)
	turn.End()
	if _, err := session.Steer(t.Context(), jsonl.Steering{ID: "s1", Text: "x", State: "odd"}); !errors.Is(err, checkpoint.ErrSteering) {
		t.Errorf("Steer of an odd state = %v, want ErrSteering", err)
	}
	_, err = session.Steer(t.Context(), jsonl.Steering{ID: "s1", Text: "left", State: jsonl.SteeringSent})
	noError(t, err)
	got, err := session.TaskScope(t.Context())
	noError(t, err)
	if len(got.Pending()) != 1 || got.Input.Str() != "do" {
		t.Errorf("TaskScope = %+v", got)
	}
}
