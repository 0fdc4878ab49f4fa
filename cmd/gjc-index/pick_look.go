package main

import (
	"context"
	"slices"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

const (
	lookedBack   = 200     // entries, for the last answer
	lookedBytes  = 4 << 20 // of one entry
	lookedPrompt = 3       // so many prompts are shown without leaving any out
)

// look reads what the preview shows: places from the index, and a few entries.
func (p *pickIndex) look(ctx context.Context, item pickItem) (pickLook, error) {
	end, err := p.begin()
	if err != nil {
		return pickLook{}, err
	}
	defer end()
	x, err := p.open(ctx)
	if err != nil {
		return pickLook{}, err
	}
	l := pickLook{row: item.Row}
	short, err := shortIDs(ctx, x, []string{item.ID})
	if err != nil {
		return l, err
	}
	l.short = shortOf(item.ID, item.Path, short)
	if costs := p.costs.Load(); costs != nil {
		sum := (*costs)[item.Path]
		l.cost, l.tokens = sum.Cost, sum.Input+sum.Output+sum.CacheRead+sum.CacheWrite
	}
	l.pinned, _ = p.store.Pinned(item.Path) // what can't be read pins it
	_, err = p.app.fsys.Lstat(session.ArchivePath(item.Path))
	l.archived = err == nil
	f, trouble, err := p.read(ctx, x, item.Row)
	if err != nil || trouble != "" {
		l.trouble = trouble
		return l, err
	}
	t := talk{found: f, app: p.app, roles: map[int]string{}}
	err = t.tell(ctx, x, &l)
	if cerr := f.close(); err == nil {
		err = cerr
	}
	if err != nil && ctx.Err() == nil {
		l.trouble, err = sentence(err), nil
	}
	return l, err
}

// read opens a session. A long one is never read whole; trouble says in words
// why there is nothing to show.
func (p *pickIndex) read(ctx context.Context, x *index.Index, row index.Row) (f found, trouble string, err error) {
	f, ok, err := p.app.byLines(ctx, x, row)
	if err == nil && !ok {
		if row.Size > p.app.huge {
			return f, "it is too long to be read before it is indexed", nil
		}
		f, err = p.app.load(ctx, row, true)
	}
	switch {
	case ctx.Err() != nil:
		return f, "", ctx.Err()
	case err != nil:
		return f, sentence(err), nil
	}
	return f, "", nil
}

// talk is a conversation that is looked at.
type talk struct {
	found
	app   *app
	roles map[int]string // by line, of entries whose places alone are known
	path  []*jsonl.Entry
}

func (t *talk) tell(ctx context.Context, x *index.Index, l *pickLook) error {
	if err := t.learnRoles(ctx, x); err != nil {
		return err
	}
	leaf, ok, err := session.ReadLeaf(t.app.fsys, t.row.Path, t.row.ID, t.row.Size)
	if id, at := leaf.ID(); err != nil || !ok || at && t.tree.Entry(id) == nil {
		leaf = jsonl.LeafLast()
	}
	t.path = t.tree.Path(leaf)
	l.entries, l.leaves = t.tree.Len(), leavesOf(t.tree)
	for _, label := range t.tree.Labels() {
		if t.tree.Entry(label.Target) != nil {
			l.labels = append(l.labels, label.Text)
		}
	}
	t.findTarget(l)
	return t.read(l)
}

// leavesOf counts the ends of branches. What is only noted about a session, such
// as a label, makes no branch.
func leavesOf(tree *jsonl.Tree) int {
	n := 0
	for _, e := range tree.Leaves() {
		if e.Type() != "label" || len(tree.Leaves()) == 1 {
			n++
		}
	}
	return max(n, min(1, tree.Len()))
}

// learnRoles asks the index who says what, where entries are not read yet.
func (t *talk) learnRoles(ctx context.Context, x *index.Index) error {
	stubs := slices.ContainsFunc(t.tree.Entries(), func(e *jsonl.Entry) bool {
		return e.Type() == "message" && !e.Value().Has("message")
	})
	if !stubs {
		return nil
	}
	for row, err := range x.Entries(ctx, t.row.Path) {
		if err != nil {
			return err
		}
		t.roles[row.Line] = row.Role
	}
	return nil
}

func (t *talk) role(e *jsonl.Entry) string {
	if e.Type() != "message" {
		return ""
	}
	if m := e.Value().Get("message"); m.Is(jsonl.Object) {
		return m.Get("role").Str()
	}
	return t.roles[e.Line]
}

// findTarget finds the last message: that is what a label goes to.
func (t *talk) findTarget(l *pickLook) {
	for _, e := range slices.Backward(t.path) {
		if role := t.role(e); role != "user" && role != "assistant" {
			continue
		}
		if id, ok := e.ID(); ok && id != "" {
			l.target = id
			l.label, _ = t.tree.Label(id)
			return
		}
	}
}

// read reads the texts that are shown.
func (t *talk) read(l *pickLook) error {
	var asked []int // places of prompts on the path
	for i, e := range t.path {
		if t.role(e) == "user" {
			asked = append(asked, i)
		}
	}
	l.prompts = len(asked)
	shown := asked
	if len(asked) > lookedPrompt {
		if err := t.add(&l.first, asked[0], pickYou); err != nil {
			return err
		}
		shown = asked[len(asked)-2:]
	}
	for _, i := range shown {
		if err := t.add(&l.last, i, pickYou); err != nil {
			return err
		}
	}
	return t.answer(l)
}

// answer reads the last answer that says something, and which model gave it.
func (t *talk) answer(l *pickLook) error {
	for i := len(t.path) - 1; i >= max(0, len(t.path)-lookedBack); i-- {
		switch role := t.role(t.path[i]); {
		case role == "user":
			return nil // it is not answered yet
		case role != "assistant" || t.path[i].Size > lookedBytes:
			continue
		}
		e, err := t.entry(t.path[i])
		if err != nil {
			return err
		}
		m := e.Value().Get("message")
		if l.model == "" {
			l.model = m.Get("model").Str()
		}
		if d := describe(e); d.text != "" {
			when, _ := e.Time()
			l.last = append(l.last, cutPrompt("assistant", when, d.text))
			return nil
		}
	}
	return nil
}

func (t *talk) add(to *[]pickPrompt, at int, who string) error {
	text := "(too long to be shown here)"
	e := t.path[at]
	if e.Size <= lookedBytes {
		var err error
		if e, err = t.entry(e); err != nil {
			return err
		}
		text = describe(e).text
	}
	when, _ := e.Time()
	*to = append(*to, cutPrompt(who, when, text))
	return nil
}
