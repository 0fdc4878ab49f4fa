package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/history"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

func (a *app) historyImportCommand() *cobra.Command {
	var transcripts bool
	cmd := &cobra.Command{
		Use:   "import [FILE|-]",
		Short: "Bring prompts into history.db",
		Long: `Bring prompts into history.db, from a file of JSON lines (- is standard input) or
from the transcripts of the home, or both. All are added or, if that fails, none.

A line is an object with prompt (or text), and if known cwd and created_at (or
time, timestamp): RFC 3339, or Unix seconds or milliseconds. What history export
prints is such a file. Lines that give no prompt are named on stderr by their
numbers (exit status 3), and the others are imported.

Doing it twice adds nothing: a text that is there at most a minute away is known,
and so is one without a time that is there at all. What history delete removed is
not brought back.`,
		Example: `  gjc-index history import --transcripts
  gjc-index history import prompts.jsonl
  ssh host gjc-index history export | gjc-index history import -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.historyImport(cmd.Context(), transcripts, args)
		},
	}
	cmd.Flags().BoolVar(&transcripts, "transcripts", false, "the prompts of the home's transcripts")
	return cmd
}

// importing is one import.
type importing struct {
	app   *app
	store *history.Store
	known map[[sha256.Size]byte]bool // texts in history; read when first needed
	again int                        // prompts without a time that are known
	bad   []badLine
}

func (a *app) historyImport(ctx context.Context, transcripts bool, args []string) error {
	switch {
	case len(args) > 1:
		return usagef("import takes one FILE and got %d", len(args))
	case len(args) == 0 && !transcripts:
		return usagef("import wants a FILE of JSON lines, - for standard input, or --transcripts")
	}
	if _, err := a.historyHome(); err != nil {
		return err
	}
	var lines io.Reader
	if len(args) == 1 && args[0] == "-" {
		lines = &patientReader{ctx: ctx, r: a.stdin}
	} else if len(args) == 1 {
		path, err := a.absolute(args[0])
		if err != nil {
			return err
		}
		f, err := a.fsys.Open(realPath(path))
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // read only
		lines = io.NewSectionReader(f, 0, math.MaxInt64)
	}
	var done history.Imported
	im := &importing{app: a}
	run := func(x *index.Index) error {
		return a.writeHistory(ctx, func(h *history.Store) (err error) {
			im.store = h
			done, err = h.Import(ctx, im.prompts(ctx, lines, x))
			return err
		})
	}
	var err error
	if transcripts {
		err = a.withIndex(ctx, run)
	} else {
		err = run(nil)
	}
	if err != nil {
		return err
	}
	done.Known += im.again
	return a.sayImported(done, im.bad)
}

// prompts are those of lines, then those of the transcripts of x; either may be
// nil.
func (im *importing) prompts(ctx context.Context, lines io.Reader, x *index.Index) iter.Seq2[history.Prompt, error] {
	return func(yield func(history.Prompt, error) bool) {
		if lines != nil {
			maxLine := im.app.maxLine
			if maxLine == 0 {
				maxLine = jsonl.DefaultMaxLine
			}
			bad := func(b badLine) { im.bad = append(im.bad, b) }
			for p, err := range readPrompts(lines, maxLine, bad) {
				if !im.pass(ctx, p, err, yield) {
					return
				}
			}
		}
		if x == nil {
			return
		}
		for hit, err := range x.Typed(ctx) {
			p := history.Prompt{Text: hit.Text, Time: hit.Time}
			if hit.Cwd != "" {
				p.Cwd = &hit.Cwd
			}
			if !im.pass(ctx, p, err, yield) {
				return
			}
		}
	}
}

// pass hands a prompt on. One without a time gets the present one, but only if
// its text is new: else each import would add it again.
func (im *importing) pass(ctx context.Context, p history.Prompt, err error, yield func(history.Prompt, error) bool) bool {
	if err == nil && p.Time.IsZero() {
		var is bool
		if is, err = im.isKnown(ctx, p.Text); is {
			im.again++
			return true
		}
		p.Time = im.app.now()
	}
	return yield(p, err) && err == nil
}

// isKnown reports whether history has the text, and takes it for known from
// now on.
func (im *importing) isKnown(ctx context.Context, text string) (bool, error) {
	if im.known == nil {
		im.known = map[[sha256.Size]byte]bool{}
		for row, err := range im.store.Rows(ctx, 0) {
			if err != nil {
				return false, err
			}
			im.known[sha256.Sum256([]byte(history.Trim(row.Text)))] = true
		}
	}
	sum := sha256.Sum256([]byte(history.Trim(text)))
	was := im.known[sum]
	im.known[sum] = true
	return was, nil
}

// shownBadLines is how many lines are named one by one.
const shownBadLines = 20

func (a *app) sayImported(done history.Imported, bad []badLine) error {
	a.leftOut += len(bad)
	if a.json {
		if bad == nil {
			bad = []badLine{}
		}
		return a.printJSON(struct {
			Added   int       `json:"added"`
			Known   int       `json:"known"`
			Deleted int       `json:"deleted"`
			Failed  []badLine `json:"failed"`
		}{done.Added, done.Known, done.Deleted, bad})
	}
	for _, b := range bad[:min(len(bad), shownBadLines)] {
		a.note("line %d: %s", b.Line, b.Reason)
	}
	if more := len(bad) - shownBadLines; more > 0 {
		a.note("and %s; --json names them all", count(more, "more line"))
	}
	text := fmt.Sprintf("%s added, %s known", count(done.Added, "prompt"), comma(done.Known))
	if done.Deleted > 0 {
		text += fmt.Sprintf(", %s deleted before and not brought back", comma(done.Deleted))
	}
	if len(bad) > 0 {
		text += fmt.Sprintf(", %s failed", count(len(bad), "line"))
	}
	a.printf("%s\n", text)
	return nil
}
