package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/chat"
	"github.com/gajae-code/gjc-index/session/redact"
)

type chatFlags struct {
	leaf, snapshot    string
	from, limit       int
	thinking, keepAll bool
}

func (a *app) chatCommand() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat ID",
		Short: "Show a session as a chat, page by page",
		Long: `Show what was said in a session, each tool in one line, without prompts of
programs and without secrets. With --json the page is one object; its snapshot
names the state of the session, and asking with --snapshot for a page of a state
that is past is refused. Of a very large session only as much is read as the page
needs; how many items there are in all is not known then.`,
		Example: `  gjc-index chat 0195c2
  gjc-index chat 0195c2 --from -20
  gjc-index chat 0195c2 --json --from 200 --snapshot "$SNAPSHOT"`,
		Args: oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("limit") && (f.limit < 1 || f.limit > chat.MaxPageItems) {
				return usagef("--limit %d: it is a number from 1 to %d", f.limit, chat.MaxPageItems)
			}
			return a.withIndex(cmd.Context(), func(x *index.Index) error { return a.chat(cmd.Context(), x, args[0], f) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.leaf, "leaf", "", "the path that ends at the entry `ID`")
	fl.IntVar(&f.from, "from", 0, "from the item number `N` on, counted from 0; a negative one counts from the end")
	fl.IntVar(&f.limit, "limit", chat.MaxPageItems, "at most `N` items")
	fl.StringVar(&f.snapshot, "snapshot", "", "only if the session is still in the state `ID`")
	fl.BoolVar(&f.thinking, "thinking", false, "show the model's thinking")
	fl.BoolVar(&f.keepAll, "no-redact", false, "take no secrets out")
	return cmd
}

func (a *app) chat(ctx context.Context, x *index.Index, ref string, f chatFlags) error {
	var asked *chat.SnapshotID
	if f.snapshot != "" {
		id, err := chat.ParseSnapshotID(f.snapshot)
		if err != nil {
			return usagef("--snapshot %q is no snapshot", f.snapshot)
		}
		asked = &id
	}
	row, err := a.row(ctx, x, ref)
	if err != nil {
		return err
	}
	page, ok, err := a.pageInPart(ctx, x, row, f)
	if err == nil && !ok {
		page, err = a.pageOfWhole(ctx, x, ref, f)
	}
	if err != nil {
		return err
	}
	if asked != nil && *asked != page.Snapshot {
		return fmt.Errorf("session %s has changed since that snapshot: begin again without --snapshot%w", row.ID, silent{chat.ErrStale})
	}
	if a.json {
		return a.printJSON(pageOf(page))
	}
	a.printPage(page)
	return nil
}

// pageOfWhole projects the whole path.
func (a *app) pageOfWhole(ctx context.Context, x *index.Index, ref string, f chatFlags) (chat.Page, error) {
	s, err := a.find(ctx, x, ref, true)
	if err != nil {
		return chat.Page{}, err
	}
	if s, err = a.withArchive(ctx, s); err != nil {
		return chat.Page{}, err
	}
	leaf, err := s.leaf(f.leaf)
	if err != nil {
		return chat.Page{}, err
	}
	opt, err := a.chatOptions(s.row, f)
	if err != nil {
		return chat.Page{}, err
	}
	c := chat.New(opt)
	for _, e := range s.tree.Path(leaf) {
		if err := ctx.Err(); err != nil {
			return chat.Page{}, err
		}
		if e, err = s.entry(e); err != nil {
			return chat.Page{}, err
		}
		c.Add(e)
	}
	return c.Page(c.Snapshot(), f.from, f.limit)
}

func (a *app) chatOptions(row index.Row, f chatFlags) (chat.Options, error) {
	info, err := a.fsys.Lstat(row.Path)
	if err != nil {
		return chat.Options{}, loadError(row.Path, err)
	}
	opt := chat.Options{Session: row.ID, Thinking: f.thinking, Revision: info.ModTime}
	if !f.keepAll {
		opt.Redact = redact.Text
	}
	return opt, nil
}

// The JSON of a page; fields are only ever added.
type pageJSON struct {
	Snapshot string         `json:"snapshot"`
	From     int            `json:"from"`
	Total    *int           `json:"total"` // null: the path was read as far as the page needs
	Items    []chatItemJSON `json:"items"`
}

type chatItemJSON struct {
	ID      string        `json:"id"`
	Kind    string        `json:"kind"`
	Turn    *string       `json:"turn"`
	Time    *string       `json:"time"`
	Text    string        `json:"text"`
	Cut     bool          `json:"cut"`
	Images  int           `json:"images"`
	Partial bool          `json:"partial"`
	Tool    *chatToolJSON `json:"tool"`
}

type chatToolJSON struct {
	Call       string           `json:"call"`
	Name       string           `json:"name"`
	Summary    string           `json:"summary"`
	State      string           `json:"state"`
	Preview    *chatPreviewJSON `json:"preview"`
	Attachment *string          `json:"attachment"` // its name
}

type chatPreviewJSON struct {
	Available bool     `json:"available"`
	Path      string   `json:"path"`
	Lines     []string `json:"lines"`
	Truncated bool     `json:"truncated"`
}

func pageOf(p chat.Page) pageJSON {
	out := pageJSON{Snapshot: p.Snapshot.String(), From: p.From, Items: []chatItemJSON{}}
	if p.Total >= 0 {
		out.Total = &p.Total
	}
	for _, it := range p.Items {
		row := chatItemJSON{
			ID: jsonl.Display(it.ID), Kind: string(it.Kind), Turn: orNull(jsonl.Display(it.Turn)), Time: orNull(it.Time),
			Text: it.Text, Cut: it.Cut, Images: it.Images, Partial: it.Partial,
		}
		if t := it.Tool; t != nil {
			row.Tool = &chatToolJSON{Call: t.Call, Name: t.Name, Summary: t.Summary, State: string(t.State)}
			if t.Preview != nil {
				row.Tool.Preview = &chatPreviewJSON{t.Preview.Available, t.Preview.Path, t.Preview.Lines, t.Preview.Truncated}
			}
			if t.Attachment != nil {
				row.Tool.Attachment = &t.Attachment.Name
			}
		}
		out.Items = append(out.Items, row)
	}
	return out
}

func (a *app) printPage(p chat.Page) {
	for _, it := range p.Items {
		if t := it.Tool; t != nil {
			a.printf("%s\n", a.screen.paint(dim, preview("→ "+t.Name+" "+t.Summary+" ("+string(t.State)+")", a.screen.width)))
			if t.Preview != nil && t.Preview.Available {
				for _, line := range t.Preview.Lines {
					a.printf("    %s\n", preview(line, a.screen.width-4))
				}
			}
			continue
		}
		a.printf("%s\n%s\n\n", a.screen.paint(cyan, string(it.Kind)), strings.TrimRight(safeText(it.Text), "\n"))
	}
	switch end := p.From + len(p.Items); {
	case p.Total < 0 && p.From >= 0:
		a.note("items %d to %d; --from %d shows the next", p.From, end-1, end)
	case end < p.Total:
		a.note("items %d to %d of %d; --from %d shows the next", p.From, end-1, p.Total, end)
	}
}
