package main

import (
	"errors"
	"io/fs"
	"syscall"

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
			return a.verifyFiles(cmd, args)
		},
	}
}

// verifyFiles goes on to the next file where one can't be read.
func (a *app) verifyFiles(cmd *cobra.Command, refs []string) error {
	for _, ref := range refs {
		err := a.verifyFile(cmd, ref)
		if err != nil && (len(refs) == 1 || cmd.Context().Err() != nil || errors.Is(err, syscall.EPIPE)) {
			return err
		}
		if err != nil {
			a.leftOut++
			a.note("%s", sentence(err))
		}
	}
	return nil
}

func (a *app) verifyIndex(cmd *cobra.Command) error {
	return a.withIndex(cmd.Context(), func(x *index.Index) error {
		if where, err := a.sessionsDir(); err == nil && !a.isThere(where) {
			a.note("there is nothing to check: %s is not there", where)
			return nil
		}
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
		archives, err := x.UnreadArchives(cmd.Context())
		if err != nil {
			return err
		}
		for _, f := range archives {
			a.leftOut++
			if a.json {
				if err := a.printJSON(index.Difference{Path: f.Path, What: f.Reason}); err != nil {
					return err
				}
				continue
			}
			a.printf("%s: %s\n", plain(f.Path), plain(f.Reason))
		}
		if a.leftOut == 0 && !a.json {
			a.printf("the index agrees with the files\n")
		}
		return nil
	})
}

func at(path string, line int) string {
	if line == 0 {
		return plain(path)
	}
	return plain(path) + ":" + itoa(line)
}

// verifyFile reports on one file, named by its path or its session's id.
func (a *app) verifyFile(cmd *cobra.Command, ref string) error {
	path, err := a.fileOf(cmd, ref)
	if err != nil {
		return err
	}
	refused := "" // though it can be read
	if info, err := a.fsys.Lstat(path); err == nil {
		refused = a.unlisted(path, info)
	}
	t, err := jsonl.Load(cmd.Context(), a.fsys, path, jsonl.LoadOptions{MaxLine: a.maxLine})
	if err != nil && (t == nil || !(errors.Is(err, jsonl.ErrNotTranscript) || errors.Is(err, jsonl.ErrTooNew))) {
		return loadError(path, err)
	}
	t.Upgrade(nil)
	s := t.Summary(t.Tree(true).Warnings()...)
	if s.State != jsonl.StateOK && s.State != jsonl.StateEmpty || len(s.Malformed) > 0 || refused != "" {
		a.leftOut++
	}
	if a.json {
		o := jsonl.NewObj(jsonl.Member{Key: "path", Value: jsonl.StringValue(path)})
		for _, m := range s.Value().Members() {
			o.Set(m.Key, m.Value)
		}
		if refused != "" {
			o.Set("refused", jsonl.StringValue(refused))
		}
		return a.printRaw(jsonl.AppendJSON(nil, jsonl.ObjectValue(o)))
	}
	a.printSummary(path, s)
	if refused != "" {
		a.printf("  %s: lists and searches leave it out\n", refused)
	}
	return nil
}

// stateWords say what a state means to a person.
var stateWords = map[jsonl.State]string{
	jsonl.StateOK:           "a session",
	jsonl.StateEmpty:        "empty",
	jsonl.StateBadHeader:    "damaged: it has no valid header, so nothing of it is listed; nothing will write to it",
	jsonl.StateNewerVersion: "written by a newer program; nothing here will write to it",
}

func (a *app) printSummary(path string, s jsonl.Summary) {
	a.printf("%s: %s\n", plain(path), stateWords[s.State])
	if s.State == jsonl.StateOK {
		a.printf("  %s, version %v, %s, %s\n", plain(s.ID), s.Version, count(s.Entries, "record"), count(s.Messages, "message"))
	}
	for _, r := range s.Malformed {
		a.printf("  line %d: %s\n", r.Line, lineWords[r.Reason])
	}
	if more := s.MalformedTotal - len(s.Malformed); more > 0 {
		a.printf("  and %s that can't be read, %s in all\n", count(more, "more line"), comma(s.MalformedTotal))
	}
	for _, r := range s.Recovered {
		a.printf("  line %d: damaged; %s recovered from it\n", r.Line, count(r.Recovered, "record"))
	}
	if more := s.RecoveredTotal - len(s.Recovered); more > 0 {
		a.printf("  and %s that are damaged, %s in all\n", count(more, "more line"), comma(s.RecoveredTotal))
	}
	for _, w := range s.Warnings {
		a.printf("  line %d: %s\n", w.Line, warningWords[w.Kind])
	}
}

var lineWords = map[jsonl.Reason]string{
	jsonl.NotJSON:       "can't be read",
	jsonl.NotObject:     "is no record",
	jsonl.OnlyNUL:       "holds nothing but zero bytes",
	jsonl.TooLong:       "is longer than the limit",
	jsonl.TruncatedTail: "is cut off: the last write did not finish",
}

var warningWords = map[jsonl.WarningKind]string{
	jsonl.OrphanParent:       "follows an entry that is not in the file",
	jsonl.BridgedParent:      "followed a line that was lost, and was linked to the record before",
	jsonl.DuplicateID:        "repeats an id that was used before",
	jsonl.FirstKeptMissing:   "is a compaction that keeps entries from one on that is not there",
	jsonl.PatchTargetMissing: "changes an entry that is not there",
}

// fileOf is the file that ref names: a path, or a session of the index.
func (a *app) fileOf(cmd *cobra.Command, ref string) (string, error) {
	path, err := a.absolute(ref)
	if err != nil {
		return "", err
	}
	if _, err = a.fsys.Lstat(path); err == nil {
		return path, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", loadError(path, err)
	}
	err = a.withIndex(cmd.Context(), func(x *index.Index) error {
		row, err := a.row(cmd.Context(), x, ref)
		path = row.Path
		return err
	})
	return path, err
}
