package session_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

func say(role, text string) jsonl.Value {
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "role", Value: jsonl.StringValue(role)},
		jsonl.Member{Key: "content", Value: jsonl.StringValue(text)},
	))
}

// A host creates a session, appends a turn, makes it safe against a crash,
// opens it again, tries another answer and forks.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sessions")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	work := filepath.Join(dir, "project")
	if err := os.Mkdir(work, 0o700); err != nil {
		log.Fatal(err)
	}
	store := session.NewStore(storage.Disk(storage.Policy{}), session.Options{
		Home:           scope.HomeAt(filepath.Join(dir, "agent")),
		KeepUnanswered: true, // a prompt is not lost if the first call fails
	})

	s, err := store.Create(ctx, work, session.CreateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	question, err := s.AppendMessage(ctx, say("user", "Which tide table is the newest?"))
	if err != nil {
		log.Fatal(err)
	}
	turn, err := s.BeginTurn(ctx) // one turn at a time
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := s.AppendBatch(turn.Context(), session.NewMessage(say("assistant", "The one of March.")))
	turn.End()
	var failed *jsonl.AppendError
	if errors.As(err, &failed) {
		log.Fatalf("%v: say so to the user, and open the session again", failed.Outcome)
	}
	fmt.Println("answer:", receipt.Outcome)
	if err := s.Flush(ctx); err != nil { // on disk, whatever happens now
		log.Fatal(err)
	}
	path := s.Path()
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}

	s, err = store.Open(ctx, path, session.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if err := s.Branch(ctx, question); err != nil { // another answer to the same question
		log.Fatal(err)
	}
	if _, err := s.AppendMessage(ctx, say("assistant", "The one of April.")); err != nil {
		log.Fatal(err)
	}
	c, err := s.Context(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range c.Messages {
		fmt.Printf("%s: %s\n", m.Get("role").Str(), m.Get("content").Str())
	}
	if _, _, err := s.Fork(ctx); err != nil {
		log.Fatal(err)
	}
	entries, err := s.Entries(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the fork has", len(entries), "entries")
	// Output:
	// answer: committed
	// user: Which tide table is the newest?
	// assistant: The one of April.
	// the fork has 3 entries
}
