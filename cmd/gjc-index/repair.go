package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

type repairFlags struct {
	replace, dryRun, header bool
	output, id, cwd         string
}

func (a *app) repairCommand() *cobra.Command {
	var f repairFlags
	cmd := &cobra.Command{
		Use:   "repair FILE",
		Short: "Write a sound copy of a damaged session",
		Long: `Write a sound copy of a damaged session beside it: every record that can be read,
in order, each entry following one that is there, no id twice, no torn line. What
the format does not know is kept inside a record of its own. Nothing is taken
from the damaged file, which stays as it is; lines that can't be read are named.

The copy ends in .repaired, so that no program lists it as a second session.
--replace gives it the session's name and renames the damaged file to end in
.damaged. A FILE without damage is left alone. The exit status is 3 if lines had
to be left out.`,
		Example: `  gjc-index repair session.jsonl --dry-run
  gjc-index repair 0195c2 --replace
  gjc-index repair session.jsonl --header --cwd ~/src/app --output mended.jsonl`,
		Args: oneArg("a session file or id"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.repair(cmd, args[0], f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.replace, "replace", false, "give the copy the session's name, and rename the damaged file")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be mended and write nothing")
	fl.StringVarP(&f.output, "output", "o", "", "write the copy to `FILE`, which must not exist")
	fl.BoolVar(&f.header, "header", false, "make a header where there is none, from the file's name and place")
	fl.StringVar(&f.id, "id", "", "the session's `ID`, for --header")
	fl.StringVar(&f.cwd, "cwd", "", "the session's workspace `DIR`, where its header lacks one")
	return cmd
}

// repairedJSON is what a repair did; fields are only ever added.
type repairedJSON struct {
	Path     string                `json:"path"`
	ID       string                `json:"id"`
	Sound    bool                  `json:"sound"`   // there was nothing to mend
	Copy     *string               `json:"copy"`    // where the sound copy is
	Damaged  *string               `json:"damaged"` // where the damaged file is, if it was renamed
	Finished bool                  `json:"finished,omitempty"`
	Records  int                   `json:"records"` // in the copy
	Counts   map[jsonl.Mending]int `json:"counts"`
	Notes    []mendNoteJSON        `json:"notes"` // the first 10,000
}

type mendNoteJSON struct {
	Line   int          `json:"line"` // of the damaged file; 0 for a header that was made
	What   string       `json:"what"`
	Reason jsonl.Reason `json:"reason,omitempty"`
}

func (a *app) repair(cmd *cobra.Command, ref string, f repairFlags) error {
	opt, err := a.repairOptions(f)
	if err != nil {
		return err
	}
	path, err := a.repairTarget(cmd, ref)
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	r, err := st.Repair(cmd.Context(), path, opt)
	if err != nil {
		return repairError(path, opt, err)
	}
	a.leftOut += unread(r.Mended)
	if a.json {
		return a.printJSON(repairedOf(r))
	}
	a.sayRepaired(r, opt)
	return nil
}

// repairTarget is the file that ref names. One that is not there may be the name
// of a repair that was cut off.
func (a *app) repairTarget(cmd *cobra.Command, ref string) (string, error) {
	if isPath(ref) {
		return a.absolute(ref)
	}
	return a.fileOf(cmd, ref)
}

func (a *app) repairOptions(f repairFlags) (session.RepairOptions, error) {
	opt := session.RepairOptions{Replace: f.replace, DryRun: f.dryRun, Header: f.header, ID: f.id, MaxLine: a.maxLine}
	switch {
	case f.replace && f.output != "":
		return opt, usagef("--replace puts the copy in the session's place, --output elsewhere: give one of them")
	case f.id != "" && !f.header:
		return opt, usagef("--id is for --header, which makes a new header: give both or neither")
	}
	if f.id != "" {
		if err := session.CheckID(f.id); err != nil {
			return opt, fmt.Errorf("--id %q is no session id: letters, digits, '.', '_' and '-'; nothing was done%w", f.id, silent{err})
		}
	}
	var err error
	if f.output != "" {
		opt.Output, err = a.absolute(f.output)
	}
	if f.cwd != "" && err == nil {
		opt.Cwd, err = a.absolute(f.cwd)
	}
	return opt, err
}

// unread counts the lines that are lost, as opposed to those that said nothing
// of their own.
func unread(m *jsonl.Mended) int {
	n := m.Counts[jsonl.MendDropped]
	for _, note := range m.Notes {
		if note.What == jsonl.MendDropped && (note.Reason == jsonl.Repeated || note.Reason == jsonl.TitleFolded) {
			n--
		}
	}
	return n
}

// repairError says in words why a file was not mended, and what to do.
func repairError(path string, opt session.RepairOptions, err error) error {
	name := plain(path)
	var busy *session.BusyError
	switch {
	case errors.As(err, &busy) && busy.PID != 0:
		return fmt.Errorf("%s is being written by process %d on %s since %s: try again once that has ended%w", name, busy.PID, busy.Host, busy.Since, silent{err})
	case errors.Is(err, session.ErrBusy):
		return fmt.Errorf("%s is being written by another process: try again once that has ended%w", name, silent{err})
	case errors.Is(err, jsonl.ErrNoHeader) && opt.Header:
		return fmt.Errorf("%s: its name tells no session id: --id gives it one%w", name, silent{err})
	case errors.Is(err, jsonl.ErrNoHeader):
		return fmt.Errorf("%s has no valid header: --header makes one from its name and place, --cwd names its workspace%w", name, silent{err})
	case errors.Is(err, jsonl.ErrTooNew):
		return fmt.Errorf("%s was written by a newer program, which is no damage: a newer gjc-index reads it%w", name, silent{err})
	case errors.Is(err, jsonl.ErrNotTranscript):
		return fmt.Errorf("%s is empty: there is nothing to mend%w", name, silent{err})
	case errors.Is(err, session.ErrNotManaged):
		return fmt.Errorf("%s lies in a directory of an older layout, where nothing is written: --output FILE says where the copy goes%w", name, silent{err})
	case errors.Is(err, session.ErrBadID):
		return fmt.Errorf("%s does not end in .jsonl, so it has no session's place: leave --replace out%w", name, silent{err})
	case errors.Is(err, fs.ErrExist) && opt.Output != "":
		return fmt.Errorf("%s is there already, and nothing is replaced: give --output another name%w", plain(opt.Output), silent{err})
	case errors.Is(err, jsonl.ErrGrown):
		return fmt.Errorf("%s is being written: try again once nobody writes it%w", name, silent{err})
	case errors.Is(err, session.ErrProtected):
		return fmt.Errorf("%s is being read or removed by another process: try again in a moment%w", name, silent{err})
	}
	return err
}

func repairedOf(r session.Repaired) repairedJSON {
	m := r.Mended
	out := repairedJSON{Path: r.Path, ID: m.ID, Sound: m.Sound(), Copy: orNull(r.Copy), Damaged: orNull(r.Aside),
		Finished: r.Finished, Records: m.Records, Counts: m.Counts, Notes: []mendNoteJSON{}}
	for _, n := range m.Notes {
		out.Notes = append(out.Notes, mendNoteJSON{n.Line, string(n.What), n.Reason})
	}
	return out
}

// mendWords are what a mending means to a person.
var mendWords = map[jsonl.Mending]string{
	jsonl.MendHeader:    "the header was missing or invalid and was made anew",
	jsonl.MendCompleted: "lacked something that every record has, which was filled in",
	jsonl.MendMoved:     "is the header and was not the first record",
	jsonl.MendRecovered: "is damaged; what is whole of it was kept",
	jsonl.MendRelinked:  "followed a record that is missing, and follows the one before it now",
	jsonl.MendUncycled:  "followed itself, and follows the record before it now",
	jsonl.MendRenamed:   "has an id that a later record has too, and got a new one",
	jsonl.MendKept:      "is a compaction that kept records from one on that is missing, and keeps none before it now",
	jsonl.MendWrapped:   "is no record that is known, and was kept inside one that is",
	jsonl.MendRecoded:   "holds broken text or stood on several lines, and was written anew",
}

var dropWords = map[jsonl.Reason]string{
	jsonl.Repeated:     "repeats a record word for word, and was left out",
	jsonl.SecondHeader: "is a further header that is invalid, and was left out",
	jsonl.TitleFolded:  "is a title, and stands in the header now",
}

func noteWords(n jsonl.MendNote) string {
	if n.What != jsonl.MendDropped {
		return mendWords[n.What]
	}
	if words, ok := dropWords[n.Reason]; ok {
		return words
	}
	return lineWords[n.Reason] + ", and was left out"
}

// maxMendLines is how many lines are named to a person; --json has more.
const maxMendLines = 20

func (a *app) sayRepaired(r session.Repaired, opt session.RepairOptions) {
	m := r.Mended
	if m.Sound() {
		if r.Finished {
			a.printf("%s: a repair that was cut off is finished\n", plain(r.Path))
			return
		}
		a.printf("%s: nothing to mend; %s\n", plain(r.Path), count(m.Records, "record"))
		return
	}
	a.printf("%s: %s kept, %s left out\n", plain(r.Path), count(m.Records, "record"), count(m.Counts[jsonl.MendDropped], "line"))
	for i, n := range m.Notes {
		if i == maxMendLines {
			a.printf("  and %s; --json names them\n", count(len(m.Notes)-i, "more line"))
			break
		}
		if n.Line == 0 {
			a.printf("  %s\n", noteWords(n))
			continue
		}
		a.printf("  line %d: %s\n", n.Line, noteWords(n))
	}
	switch {
	case opt.DryRun:
		a.printf("nothing was written: leave --dry-run out to write the copy\n")
	case r.Aside != "":
		a.printf("the sound copy has the session's name; the damaged file is %s\n", plain(r.Aside))
	default:
		a.printf("the sound copy is %s\n", plain(r.Copy))
		if opt.Output == "" {
			a.note("--replace puts it in the session's place and keeps the damaged file beside it")
		}
	}
}
