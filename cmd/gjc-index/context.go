package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

func (a *app) contextCommand() *cobra.Command {
	var leaf string
	var strict bool
	cmd := &cobra.Command{
		Use:   "context ID",
		Short: "Print what the model would be sent, as one JSON document",
		Long: `Print the model context at the end of a session, or at --leaf: messages, models,
thinking level, mode, selected tools. Only the lines that decide it are read. A
leaf may also be an entry that was archived.`,
		Example: "  gjc-index context 0195c2 | jq '.messages | length'",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.context(cmd, x, args[0], leaf, strict) })
		},
	}
	cmd.Flags().StringVar(&leaf, "leaf", "", "the entry `ID` where the context ends (default: the last)")
	cmd.Flags().BoolVar(&strict, "strict", false, "leave gaps where lines were lost, as the original does")
	return cmd
}

func (a *app) context(cmd *cobra.Command, x *index.Index, ref, leaf string, strict bool) error {
	row, err := a.row(cmd.Context(), x, ref)
	if err != nil {
		return err
	}
	c, err := x.ContextOf(cmd.Context(), row.Path, leaf, strict)
	if leaf != "" && errors.Is(err, fs.ErrNotExist) {
		if archived, archErr := a.archivedContext(cmd.Context(), row, leaf); archErr != nil || !archived.Is(jsonl.Absent) {
			c, err = archived, archErr
		}
	}
	switch {
	case err == nil:
	case leaf != "" && errors.Is(err, fs.ErrNotExist) && a.isThere(row.Path):
		return noEntry(row, leaf)
	default:
		return loadError(row.Path, err)
	}
	if err := a.printRaw(jsonl.AppendJSON(nil, c)); err != nil {
		return err
	}
	if row.Size >= a.huge && row.Damage == "" && !row.Estimated {
		return a.warnOrphans(cmd.Context(), x, row)
	}
	f, err := a.load(cmd.Context(), row, !strict)
	if err != nil {
		return err
	}
	f.ref = ref
	a.sayRefused(row)
	a.warn(f)
	return nil
}

// archivedContext is the context at an entry that was archived; Absent if it was
// not.
func (a *app) archivedContext(ctx context.Context, row index.Row, leaf string) (jsonl.Value, error) {
	has, err := session.ArchiveHas(ctx, a.fsys, row.Path, leaf)
	if err != nil || !has {
		return jsonl.Value{}, err
	}
	entries, _, err := session.Whole(ctx, a.fsys, row.Path, jsonl.LoadOptions{MaxLine: a.maxLine})
	if err != nil {
		return jsonl.Value{}, err
	}
	return jsonl.BuildContext(jsonl.NewTree(entries).Path(jsonl.LeafAt(leaf))).Value(), nil
}

// warnOrphans says what a.warn says of a session whose lines are all whole,
// as far as the index knows it.
func (a *app) warnOrphans(ctx context.Context, x *index.Index, row index.Row) error {
	for e, err := range x.Entries(ctx, row.Path) {
		if err != nil {
			return ctx.Err() // the context was told; who asks for the tree hears the rest
		}
		if e.Parent != "" && e.ParentSeq < 0 {
			a.orphan(e.Line)
		}
	}
	return nil
}

func (a *app) isThere(path string) bool {
	_, err := a.fsys.Lstat(path)
	return err == nil
}
