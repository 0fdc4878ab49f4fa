package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) labelCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "label",
		Short: "Set, clear and list the labels on entries",
		Long:  "Set, clear and list the labels on a session's entries. tree shows the entries and their ids.",
		Example: `  gjc-index label set 0195c2 1f9d2a6b "before the cache"
  gjc-index label clear 0195c2 1f9d2a6b
  gjc-index label list 0195c2`,
		Args: rootArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.labelSetCommand(), a.labelClearCommand(), a.labelListCommand())
	return cmd
}

func (a *app) labelSetCommand() *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use: "set ID ENTRY LABEL", Short: "Put a label on an entry",
		Long:    "Put a label on an entry, in the place of the one it may have.",
		Example: `  gjc-index label set 0195c2 1f9d2a6b "before the cache"`,
		Args:    manyArgs(3, "a session id, an entry id and a label"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[2] == "" {
				return usagef("the label is empty; gjc-index label clear takes one away")
			}
			if err := mustBeText("the label", args[2]); err != nil {
				return err
			}
			return a.label(cmd.Context(), args[0], args[1], jsonl.StringValue(args[2]), f)
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) labelClearCommand() *cobra.Command {
	var f writeFlags
	cmd := &cobra.Command{
		Use: "clear ID ENTRY", Short: "Take the label from an entry",
		Example: "  gjc-index label clear 0195c2 1f9d2a6b",
		Args:    manyArgs(2, "a session id and an entry id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.label(cmd.Context(), args[0], args[1], jsonl.Value{}, f)
		},
	}
	f.add(cmd)
	return cmd
}

func (a *app) labelListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list ID", Short: "List the labels in force",
		Example: "  gjc-index label list 0195c2 --json",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.listLabels(cmd.Context(), x, args[0]) })
		},
	}
}

// manyArgs wants exactly n arguments.
func manyArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usagef("%s wants %s, and got %s; %s --help says more", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), what, count(len(args), "argument"), cmd.CommandPath())
		}
		return nil
	}
}

// labelJSON is a label; fields are only ever added.
type labelJSON struct {
	ID    string  `json:"id,omitempty"` // of the entry that says so
	Entry string  `json:"entry"`
	Label *string `json:"label"` // null: taken away
}

func (a *app) label(ctx context.Context, ref, entry string, label jsonl.Value, f writeFlags) error {
	said := labelJSON{Entry: entry, Label: orNull(label.Str())}
	err := a.withSession(ctx, ref, f, session.OpenOptions{}, func(s *session.Session) (err error) {
		said.ID, err = s.SetLabel(ctx, entry, label)
		if errors.Is(err, session.ErrEntryArchived) {
			return archivedEntry(s.ID(), entry, err)
		}
		if errors.Is(err, session.ErrNoEntry) {
			return fmt.Errorf("session %s has no entry %q; gjc-index tree %s shows them%w", s.ID(), entry, s.ID(), silent{err})
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.printLabel(said)
}

func (a *app) listLabels(ctx context.Context, x *index.Index, ref string) error {
	f, err := a.find(ctx, x, ref, true)
	if err != nil {
		return err
	}
	labels := slices.DeleteFunc(f.tree.Labels(), func(l jsonl.Label) bool { return f.tree.Entry(l.Target) == nil })
	for _, l := range labels {
		if err := a.printLabel(labelJSON{Entry: l.Target, Label: &l.Text}); err != nil {
			return err
		}
	}
	if len(labels) == 0 && !a.json {
		a.note("no entry of %s has a label", ref)
	}
	return nil
}

func (a *app) printLabel(l labelJSON) error {
	switch {
	case a.json:
		return a.printJSON(l)
	case l.Label == nil:
		a.printf("%s  no label\n", plain(l.Entry))
	default:
		a.printf("%s  %s\n", plain(l.Entry), plain(*l.Label))
	}
	return nil
}
