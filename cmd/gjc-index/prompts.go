package main

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

type promptsFlags struct {
	since, tz string
	limit     int
}

func (a *app) promptsCommand() *cobra.Command {
	var f promptsFlags
	cmd := &cobra.Command{
		Use:   "prompts ID [PROMPT]",
		Short: "List the prompts of one session, or show one with its answer",
		Long: `List what was asked in a session, numbered, on the path that ends at its chosen
entry; what was archived counts. The numbers are those that rewind takes. With
PROMPT, a number or an entry's id, that prompt is shown whole, with its answer.

With --json an object a prompt: prompt (its number), entry (its id), time (RFC
3339, UTC; null if the file has none), text (at most 1,000 bytes, and truncated
is true if it has more). With PROMPT the text is whole, and there are: answer
(the assistant's texts, a blank line between two), tools (the names of the
tools called, in order), entries (the ids of all entries of the answer).`,
		Example: `  gjc-index prompts 0195c2
  gjc-index prompts 0195c2 7
  gjc-index prompts 0195c2 --since 2d --json | jq -r .text`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usagef("prompts wants a session id, and perhaps a prompt; %s --help says more", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.prompts(cmd, args, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.since, "since", "", "from `T` on: a day, a time, or an age such as 7d or 12h")
	fl.StringVar(&f.tz, "tz", "", "days and times in `ZONE`, such as Europe/Berlin or UTC (default: this machine's)")
	fl.IntVar(&f.limit, "limit", defaultShown, "at most the last `N`")
	return cmd
}

// listedPromptJSON is a prompt in a list; fields are only ever added.
type listedPromptJSON struct {
	Prompt    int     `json:"prompt"`
	Entry     string  `json:"entry"`
	Time      *string `json:"time"`
	Text      string  `json:"text"`
	Truncated bool    `json:"truncated"`
}

// shownPromptJSON is a prompt and its answer; fields are only ever added.
type shownPromptJSON struct {
	Prompt  int      `json:"prompt"`
	Entry   string   `json:"entry"`
	Time    *string  `json:"time"`
	Text    string   `json:"text"`
	Answer  string   `json:"answer"`
	Tools   []string `json:"tools"`
	Entries []string `json:"entries"`
}

func (a *app) prompts(cmd *cobra.Command, args []string, f promptsFlags) error {
	if err := checkLimits(cmd, f.limit, 0); err != nil {
		return err
	}
	zone, since, err := a.zoneAndSince(cmd, f.tz, f.since)
	if err != nil {
		return err
	}
	one := len(args) == 2
	if one && (cmd.Flags().Changed("since") || cmd.Flags().Changed("limit")) {
		return usagef("--since and --limit are for the list: leave them out, or the prompt %q", args[1])
	}
	ctx := cmd.Context()
	t, err := a.target(ctx, args[0])
	if err != nil {
		return err
	}
	path, err := a.chosenPath(ctx, t.Path)
	if err != nil {
		return err
	}
	all := session.Prompts(path)
	if one {
		return a.showPrompt(path, all, t.ID, args[1])
	}
	return a.listedPrompts(all, args[0], since, f.limit, zone)
}

// chosenPath are the entries of a session from its root to its chosen leaf,
// archived or not.
func (a *app) chosenPath(ctx context.Context, path string) ([]*jsonl.Entry, error) {
	st, err := a.readingStore()
	if err != nil {
		return nil, err
	}
	t, err := st.Whole(ctx, path)
	if err != nil {
		return nil, loadError(path, err)
	}
	t.Upgrade(nil)
	info, err := a.fsys.Lstat(path)
	if err != nil {
		return nil, loadError(path, err)
	}
	leaf, _, err := session.ReadLeaf(a.fsys, path, t.Header.ID(), info.Size)
	if err != nil {
		return nil, err
	}
	if n := t.MalformedTotal; n > 0 {
		a.leftOut += n
		a.note("%s could not be read; gjc-index verify %s lists them", count(n, "line"), t.Header.ID())
	}
	return t.Tree(false).Path(leaf), nil
}

func (a *app) listedPrompts(all []session.Prompt, ref string, since time.Time, most int, zone *time.Location) error {
	var list []session.Prompt
	for _, p := range all {
		if at, ok := p.Entry.Time(); since.IsZero() || ok && !at.Before(since) {
			list = append(list, p)
		}
	}
	total := len(list)
	list = list[max(0, total-most):]
	for _, p := range list {
		id, _ := p.Entry.ID()
		at, _ := p.Entry.Time()
		if a.json {
			out := listedPromptJSON{Prompt: p.Number, Entry: id, Time: jsonTime(at)}
			out.Text, out.Truncated = cutText(p.Text, mostTextBytes)
			if err := a.printJSON(out); err != nil {
				return err
			}
			continue
		}
		head := fmt.Sprintf("%4d  %s  ", p.Number, padLeft(inZone(at, zone), 16))
		a.printf("%s%s\n", a.screen.paint(dim, head), preview(p.Text, max(minWidth, a.screen.width-len(head))))
	}
	switch {
	case total > len(list):
		a.note("the last %s of %s; --limit N shows more", comma(len(list)), count(total, "prompt"))
	case total == 0 && !a.json:
		a.note("nothing was asked in %s then", ref)
	}
	return nil
}

// showPrompt shows a prompt with what came after it, up to the next one.
func (a *app) showPrompt(path []*jsonl.Entry, all []session.Prompt, session, ref string) error {
	p, ok := numberedPrompt(all, ref)
	if !ok {
		return fmt.Errorf("%s has no prompt %q; gjc-index prompts %s shows all%w", session, ref, session, silent{fs.ErrNotExist})
	}
	answer := answerTo(path, p.Entry)
	if !a.json {
		a.printEntry(p.Number, p.Entry, 0)
		for _, e := range answer {
			if e.Role() == "assistant" {
				a.printEntry(0, e, 0)
			}
		}
		return nil
	}
	id, _ := p.Entry.ID()
	at, _ := p.Entry.Time()
	out := shownPromptJSON{Prompt: p.Number, Entry: id, Time: jsonTime(at), Text: p.Text, Tools: []string{}, Entries: []string{}}
	var texts []string
	for _, e := range answer {
		id, _ := e.ID()
		out.Entries = append(out.Entries, id)
		if e.Role() != "assistant" {
			continue
		}
		if text := describe(e).text; text != "" {
			texts = append(texts, text)
		}
		for _, call := range jsonl.ToolCallsOf(e.Value().Get("message")) {
			out.Tools = append(out.Tools, call.Name)
		}
	}
	out.Answer = strings.Join(texts, "\n\n")
	return a.printJSON(out)
}

// numberedPrompt is the prompt that ref names: its entry's id, or its number.
func numberedPrompt(all []session.Prompt, ref string) (session.Prompt, bool) {
	n, err := strconv.Atoi(ref)
	byNumber := -1
	for i, p := range all {
		if id, ok := p.Entry.ID(); ok && id == ref {
			return p, true
		}
		if err == nil && p.Number == n && byNumber < 0 {
			byNumber = i
		}
	}
	if byNumber < 0 {
		return session.Prompt{}, false
	}
	return all[byNumber], true
}

// answerTo are the entries of a path after a prompt, up to the next prompt.
func answerTo(path []*jsonl.Entry, prompt *jsonl.Entry) []*jsonl.Entry {
	var answer []*jsonl.Entry
	after := false
	for _, e := range path {
		switch {
		case e == prompt:
			after = true
		case after && e.Role() == "user":
			return answer
		case after:
			answer = append(answer, e)
		}
	}
	return answer
}

// cutText is text of at most so many bytes, never cut within a character, and
// whether it was cut.
func cutText(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}
