package main

import (
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

func (a *app) contextCommand() *cobra.Command {
	var leaf string
	var strict bool
	cmd := &cobra.Command{
		Use:   "context ID",
		Short: "Print what the model would be sent, as one JSON document",
		Long: `Print the model context at the end of a session, or at --leaf: messages, models,
thinking level, mode, selected tools. Only the lines that decide it are read.`,
		Example: "  gjc-index context 0195c2 | jq '.messages | length'",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error {
				row, err := a.row(cmd.Context(), x, args[0])
				if err != nil {
					return err
				}
				v, err := x.ContextOf(cmd.Context(), row.Path, leaf, strict)
				if leaf != "" && isMissing(err) {
					return fmt.Errorf("session %s has no entry %q%w", row.ID, leaf, silent{fs.ErrNotExist})
				}
				if err != nil {
					return err
				}
				a.warnRow(row)
				a.printf("%s\n", jsonl.AppendJSON(nil, v))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&leaf, "leaf", "", "the entry where the context ends (default: the last)")
	cmd.Flags().BoolVar(&strict, "strict", false, "leave gaps where lines were lost, as the original does")
	return cmd
}
