package main

import (
	"errors"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

func (a *app) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify [FILE…]",
		Short: "Check session files, or the index against all of them",
		Long: `Check the session files named: which lines can't be read, which records are odd.
Without a FILE read every session file of the home again and say every
difference between them and the index; exit status 3 if there is any.`,
		Example: "  gjc-index verify\n  gjc-index verify session.jsonl --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.verifyIndex(cmd)
			}
			for _, path := range args {
				if err := a.verifyFile(cmd, path); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (a *app) verifyIndex(cmd *cobra.Command) error {
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		for d, err := range x.Check(cmd.Context()) {
			if err != nil {
				return err
			}
			a.leftOut++
			if a.json {
				if err := a.printJSON(d); err != nil {
					return err
				}
				continue
			}
			a.printf("%s: %s\n", at(d.Path, d.Line), plain(d.What))
		}
		if a.leftOut == 0 && !a.json {
			a.printf("the index agrees with the files\n")
		}
		return nil
	})
}

func at(path string, line int) string {
	if line == 0 {
		return safeText(path)
	}
	return safeText(path) + ":" + itoa(line)
}

// verifyJSON is what verify says of a file; the words are those of
// jsonl.State, jsonl.Reason and jsonl.WarningKind.
type verifyJSON struct {
	Path         string   `json:"path"`
	State        string   `json:"state"`
	Version      *float64 `json:"version"`
	ID           *string  `json:"id"`
	HeaderLine   *int     `json:"header_line"`
	Cwd          *string  `json:"cwd"`
	Title        *string  `json:"title"`
	FirstMessage *string  `json:"first_message"`
	Entries      int      `json:"entries"`
	Messages     int      `json:"messages"`
	Malformed    [][2]any `json:"malformed"`
	Recovered    [][2]any `json:"recovered"`
	Warnings     [][2]any `json:"warnings"`
}

// verifyFile reports on one file, named by its path or its session's id.
func (a *app) verifyFile(cmd *cobra.Command, ref string) error {
	path, err := a.fileOf(cmd, ref)
	if err != nil {
		return err
	}
	t, err := jsonl.Load(cmd.Context(), a.fsys, path, jsonl.LoadOptions{MaxLine: a.maxLine})
	if err != nil && (t == nil || !(errors.Is(err, jsonl.ErrNotTranscript) || errors.Is(err, jsonl.ErrTooNew))) {
		return err
	}
	v := summaryOf(path, t)
	if v.State != string(jsonl.StateOK) && v.State != string(jsonl.StateEmpty) || len(v.Malformed) > 0 {
		a.leftOut++
	}
	if a.json {
		return a.printJSON(v)
	}
	a.printSummary(v)
	return nil
}

// fileOf is the file that ref names: a path, or a session of the index.
func (a *app) fileOf(cmd *cobra.Command, ref string) (string, error) {
	path, err := a.absolute(ref)
	if err != nil {
		return "", err
	}
	if _, err = a.fsys.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	err = a.withIndex(cmd.Context(), func(x *index.Index) error {
		row, err := a.row(cmd.Context(), x, ref)
		path = row.Path
		return err
	})
	return path, err
}
