package psm_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/psm"
	"github.com/gajae-code/gjc-index/storage"
)

func message(role, text string) jsonl.Value {
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "role", Value: jsonl.StringValue(role)}, jsonl.Member{Key: "content", Value: jsonl.StringValue(text)}))
}

// A worker that a store tells of what is committed follows its sessions.
func TestASessionTellsTheWorker(t *testing.T) {
	fsys := storage.Disk(storage.Policy{})
	home := scope.HomeAt(t.TempDir() + "/agent")
	cwd := t.TempDir()
	told := make(chan psm.Batch, 10)
	w := psm.NewWorker(fsys, psm.Options{Told: func(_ string, b psm.Batch, _ int) { told <- b }})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { w.Run(ctx); close(ended) }()
	store := session.NewStore(fsys, session.Options{Home: home, Committed: w.Committed})
	s, err := store.Create(ctx, cwd, session.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if _, err := s.AppendMessage(ctx, message("user", "ask")); err != nil {
			t.Fatal(err)
		}
		id, err := s.AppendMessage(ctx, message("assistant", fmt.Sprint("answer ", n)))
		if err != nil {
			t.Fatal(err)
		}
		if got := (<-told).Summaries[0]; got.Response != id || len(got.Inputs) != 2 {
			t.Errorf("summary %d: %+v, want one of 2 inputs for %s", n, got, id)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	cancel()
	<-ended
}
