package main

import (
	"context"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
)

func (a *app) treeCommand() *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use:   "tree ID",
		Short: "Show a session's branches and labels",
		Long: `Show a session as a tree: one line an entry, branches indented, labels in
brackets, the last entry marked. Entries that were archived stand in their old
places; to go on from one of them, bring them back with unarchive.`,
		Example: "  gjc-index tree 0195c2\n  gjc-index tree 0195c2 --json | jq -r 'select(.label) | .id'",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error {
				return a.with(cmd.Context(), x, args[0], !strict, func(s found) error { return a.printTree(cmd.Context(), s) })
			})
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "leave gaps where lines were lost")
	return cmd
}

// nodeJSON is one node of the tree; fields are only ever added.
type nodeJSON struct {
	ID       string  `json:"id"`
	ParentID *string `json:"parentId"`
	Depth    int     `json:"depth"`
	Type     string  `json:"type"`
	Role     *string `json:"role"`
	Time     *string `json:"time"`
	Line     int     `json:"line"`
	Label    *string `json:"label"`
	Leaf     bool    `json:"leaf"`
	Children int     `json:"children"`
	Text     string  `json:"text"`
	Archived bool    `json:"archived,omitempty"` // only the archive has it
}

// maxPreview is how much of an entry's text a tree shows, in columns.
const maxPreview = 200

func (a *app) printTree(ctx context.Context, s found) error {
	s, err := a.withSmallArchive(ctx, s)
	if err != nil {
		return err
	}
	last := s.tree.LeafEntry(jsonl.LeafLast())
	roots := s.tree.Roots()
	if len(roots) == 0 {
		a.note("session %s has no entries", s.row.ID)
	}
	if !a.json {
		return a.drawTree(ctx, s, roots, last)
	}
	for depth, n := range jsonl.Walk(roots) {
		if err := ctx.Err(); err != nil {
			return err
		}
		node, err := nodeOf(s, n, depth)
		if err != nil {
			return err
		}
		node.Leaf = n.Entry == last
		if err := a.printJSON(node); err != nil {
			return err
		}
	}
	return nil
}

func nodeOf(s found, n *jsonl.Node, depth int) (nodeJSON, error) {
	e, err := s.entry(n.Entry)
	if err != nil {
		return nodeJSON{}, err
	}
	id, _ := e.ID()
	parent, _ := e.Parent()
	out := nodeJSON{
		ID: jsonl.Display(id), ParentID: orNull(jsonl.Display(parent)), Depth: depth, Type: jsonl.Display(e.Type()), Role: orNull(jsonl.Display(e.Role())),
		Line: e.Line, Label: orNull(jsonl.Display(n.Label)), Children: len(n.Children),
		Text: preview(jsonl.Display(describe(e).text), maxPreview), Archived: s.isArchived(e),
	}
	if t, ok := e.Time(); ok {
		out.Time = jsonTime(t)
	}
	return out, nil
}

// branch is a node that is still to be drawn: first and rest are what stands
// before its own line and before the lines below it.
type branch struct {
	node        *jsonl.Node
	first, rest string
}

// drawTree draws a chain straight down and indents only where it branches.
func (a *app) drawTree(ctx context.Context, s found, roots []*jsonl.Node, last *jsonl.Entry) error {
	stack := branches(roots, "", len(roots) > 1)
	for len(stack) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		e, err := s.entry(b.node.Entry)
		if err != nil {
			return err
		}
		end := ""
		switch {
		case b.node.Entry == last:
			end = " ← last"
		case s.isArchived(e):
			end = " (archived)"
		}
		a.drawNode(e, b.node.Label, b.first, end)
		stack = append(stack, branches(b.node.Children, b.rest, len(b.node.Children) > 1)...)
	}
	return nil
}

// branches are siblings in the order in which a stack gives them back.
func branches(nodes []*jsonl.Node, prefix string, fork bool) []branch {
	out := make([]branch, 0, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		switch {
		case !fork:
			out = append(out, branch{nodes[i], prefix, prefix})
		case i == len(nodes)-1:
			out = append(out, branch{nodes[i], prefix + "└─ ", prefix + "   "})
		default:
			out = append(out, branch{nodes[i], prefix + "├─ ", prefix + "│  "})
		}
	}
	return out
}

// drawNode draws one entry; end stands behind it.
func (a *app) drawNode(e *jsonl.Entry, label, prefix, end string) {
	width := a.screen.width
	// A session that branches a hundred times must not push its text off the screen.
	if deep := []rune(prefix); len(deep) > width/2 {
		prefix = "⋯ " + string(deep[len(deep)-width/2+2:])
	}
	d := describe(e)
	id, _ := e.ID()
	room := width - len([]rune(prefix+end))
	who := preview(id+" "+d.who, room)
	room -= uniseg.StringWidth(who)
	if label != "" {
		label = " " + preview("["+label+"]", max(room-1, 0))
		room -= uniseg.StringWidth(label)
	}
	text := ""
	if room > 4 {
		text = "  " + preview(strings.Join(append([]string{d.text}, d.calls...), " → "), room-2)
	}
	line := a.screen.paint(dim, prefix) + a.screen.paint(cyan, who) + a.screen.paint(bold, label) + strings.TrimRight(text, " ") + a.screen.paint(bold, end)
	a.printf("%s\n", line)
}
