package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

type branchFlags struct {
	writeFlags
	summary   string
	root, own bool
}

func (a *app) branchCommand() *cobra.Command {
	var f branchFlags
	cmd := &cobra.Command{
		Use:   "branch ID [ENTRY]",
		Short: "Go on from an earlier entry of a session",
		Long: `Move the leaf of a session to ENTRY: what is appended next follows it. Nothing
is removed; what came after it is a branch of its own from then on, and tree
shows both. --root moves the leaf before all entries.

--summary appends a summary of the branch that was left. --new leaves the
session as it is and makes another one of the path to ENTRY, with the labels on
it. Prints {"id","path","leaf"}.`,
		Example: `  gjc-index branch 0195c2 1f9d2a6b
  gjc-index branch 0195c2 1f9d2a6b --summary "tried the cache, too slow"
  gjc-index branch 0195c2 1f9d2a6b --new`,
		Args: func(cmd *cobra.Command, args []string) error { return f.check(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			entry := ""
			if len(args) > 1 {
				entry = args[1]
			}
			return a.branch(cmd.Context(), args[0], entry, f)
		},
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.summary, "summary", "", "append `T`, a summary of what was left")
	fl.BoolVar(&f.root, "root", false, "before all entries, instead of ENTRY")
	fl.BoolVar(&f.own, "new", false, "make a session of its own of the path to ENTRY")
	return cmd
}

func (f *branchFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case f.own && (f.root || f.summary != ""):
		return usagef("--new takes neither --root nor --summary")
	case cmd.Flags().Changed("summary") && f.summary == "":
		return usagef("--summary is empty: give it a value or leave it out")
	case mustBeText("--summary", f.summary) != nil:
		return mustBeText("--summary", f.summary)
	case f.root && len(args) == 1, !f.root && len(args) == 2 && args[1] != "":
		return nil
	case f.root:
		return usagef("branch --root wants a session id and nothing else")
	}
	return usagef("branch wants a session id and an entry id; gjc-index tree ID shows the entries")
}

func (a *app) branch(ctx context.Context, ref, entry string, f branchFlags) error {
	var made placeJSON
	err := a.withSession(ctx, ref, f.writeFlags, session.OpenOptions{}, func(s *session.Session) error {
		from := s.Path()
		leaf, err := f.move(ctx, s, entry)
		if errors.Is(err, session.ErrEntryArchived) {
			return archivedEntry(s.ID(), entry, err)
		}
		if errors.Is(err, session.ErrNoEntry) {
			return fmt.Errorf("session %s has no entry %q; gjc-index tree %s shows them%w", s.ID(), entry, s.ID(), silent{err})
		}
		made = placeJSON{ID: s.ID(), Path: s.Path(), Leaf: &leaf}
		if s.Path() != from {
			made.From = from
		}
		return err
	})
	if err != nil {
		return err
	}
	if *made.Leaf == "" {
		made.Leaf = nil
	}
	return a.printJSON(made)
}

// move moves the leaf, or goes on in a session of its own, and returns the
// entry that the next one follows; "" before all.
func (f *branchFlags) move(ctx context.Context, s *session.Session, entry string) (leaf string, err error) {
	switch {
	case f.own:
		_, err = s.Branched(ctx, entry)
	case f.summary != "":
		_, err = s.BranchWithSummary(ctx, entry, f.summary, jsonl.Value{}, jsonl.Value{})
	case f.root:
		err = s.ResetLeaf(ctx)
	default:
		err = s.Branch(ctx, entry)
	}
	if err != nil {
		return "", err
	}
	e, err := s.LeafEntry(ctx)
	if e == nil || err != nil {
		return "", err
	}
	leaf, _ = e.ID()
	return leaf, nil
}
