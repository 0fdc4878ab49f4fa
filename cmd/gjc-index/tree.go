package main

import (
	"fmt"
	"strings"

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
brackets, the last entry marked.`,
		Example: "  gjc-index tree 0195c2\n  gjc-index tree 0195c2 --json | jq -r 'select(.label) | .id'",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withIndex(cmd.Context(), func(x *index.Index) error {
				s, err := a.find(cmd.Context(), x, args[0], !strict)
				if err != nil {
					return err
				}
				return a.printTree(s)
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
}

// maxPreview is how much of an entry's text a tree shows, in columns.
const maxPreview = 200

func (a *app) printTree(s found) error {
	last := s.tree.LeafEntry(jsonl.LeafLast())
	roots := s.tree.Roots()
	if a.json {
		for depth, n := range jsonl.Walk(roots) {
			if err := a.printJSON(nodeOf(n, depth, n.Entry == last)); err != nil {
				return err
			}
		}
		return nil
	}
	if len(roots) == 0 {
		a.note("session %s has no entries", s.row.ID)
	}
	a.drawTree(roots, last)
	return nil
}

func nodeOf(n *jsonl.Node, depth int, leaf bool) nodeJSON {
	id, _ := n.Entry.ID()
	parent, _ := n.Entry.Parent()
	out := nodeJSON{
		ID: id, ParentID: orNull(parent), Depth: depth, Type: n.Entry.Type(), Role: orNull(n.Entry.Role()),
		Line: n.Entry.Line, Label: orNull(n.Label), Leaf: leaf, Children: len(n.Children),
		Text: fit(plain(describe(n.Entry).text), maxPreview),
	}
	if t, ok := n.Entry.Time(); ok {
		out.Time = jsonTime(t)
	}
	return out
}

// branch is a node that is still to be drawn: first and rest are what stands
// before its own line and before the lines below it.
type branch struct {
	node        *jsonl.Node
	first, rest string
}

// drawTree draws a chain straight down and indents only where it branches.
func (a *app) drawTree(roots []*jsonl.Node, last *jsonl.Entry) {
	stack := branches(roots, "", len(roots) > 1)
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		a.drawNode(b.node, b.first, b.node.Entry == last)
		stack = append(stack, branches(b.node.Children, b.rest, len(b.node.Children) > 1)...)
	}
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

func (a *app) drawNode(n *jsonl.Node, prefix string, leaf bool) {
	// A session that branches a hundred times must not push its text off the screen.
	if deep := []rune(prefix); len(deep) > a.screen.width/2 {
		prefix = "⋯ " + string(deep[len(deep)-a.screen.width/2+2:])
	}
	d := describe(n.Entry)
	id, _ := n.Entry.ID()
	label, end := "", ""
	if n.Label != "" {
		label = "[" + plain(n.Label) + "] "
	}
	if leaf {
		end = " ← last"
	}
	who := fmt.Sprintf("%s %s  ", plain(id), plain(d.who))
	text := plain(strings.Join(append([]string{d.text}, d.calls...), " → "))
	room := a.screen.width - len([]rune(prefix+who+label+end))
	a.printf("%s%s%s%s%s\n", a.screen.paint(dim, prefix), a.screen.paint(cyan, who), a.screen.paint(bold, label), fit(text, max(room, 10)), a.screen.paint(bold, end))
}
