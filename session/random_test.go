package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// life is a session that random things happen to, beside another program that
// appends to its file.
type life struct {
	t   *rapid.T
	w   *writer
	st  *Store
	s   *Session
	n   int
	ids []string
}

func (l *life) do(err error) {
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *life) text() string {
	l.n++
	return fmt.Sprintf("text %d %s", l.n, strings.Repeat("x", rapid.SampledFrom([]int{0, 10, 1100, 6000}).Draw(l.t, "length")))
}

// snapshot is what a session is: its entries, its context, its leaf, its
// title. What is only in memory is written first.
func (l *life) snapshot() []string {
	l.do(l.s.EnsureOnDisk(context.Background()))
	var all []string
	l.do(l.s.View(context.Background(), func(tree *jsonl.Tree, leaf jsonl.Leaf) error {
		for _, e := range tree.Entries() {
			all = append(all, string(e.AppendJSON(nil, true)))
		}
		all = append(all, jsonl.BuildContext(tree.Path(leaf)).Value().JSON(), fmt.Sprint(tree.Labels()))
		if e := tree.LeafEntry(leaf); e != nil {
			id, _ := e.ID()
			all = append(all, id)
		}
		return nil
	}))
	title, has := l.s.Title()
	return append(all, fmt.Sprint(title, has), l.s.Cwd(), l.s.ID())
}

// reopen closes the session and opens it again: nothing may have changed.
func (l *life) reopen() {
	before := l.snapshot()
	path := l.s.Path()
	l.do(l.s.Close())
	var err error
	l.s, err = NewStore(l.w.fsys, l.w.opt).Open(context.Background(), path, OpenOptions{AppendOnly: rapid.Bool().Draw(l.t, "append only")})
	l.do(err)
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		l.t.Fatalf("after reopening (-before +after):\n%s", diff)
	}
}

func (l *life) known() string { return rapid.SampledFrom(l.ids).Draw(l.t, "entry") }

func (l *life) actions() map[string]func(*rapid.T) {
	ctx := context.Background()
	keep := func(r Receipt, err error) {
		l.do(err)
		l.ids = append(l.ids, r.IDs...)
	}
	return map[string]func(*rapid.T){
		"append": func(t *rapid.T) {
			l.t = t
			keep(l.s.AppendBatch(ctx, NewMessage(message(rapid.SampledFrom([]string{"user", "assistant"}).Draw(t, "role"), l.text()))))
		},
		"batch": func(t *rapid.T) {
			l.t = t
			keep(l.s.AppendBatch(ctx, append(SelectTools([]string{"a"}, nil), NewThinkingLevel(jsonl.StringValue("high")))...))
		},
		"label": func(t *rapid.T) {
			l.t = t
			id, err := l.s.SetLabel(ctx, l.known(), jsonl.StringValue(rapid.SampledFrom([]string{"", "mark"}).Draw(t, "label")))
			keep(Receipt{IDs: []string{id}}, err)
		},
		"branch": func(t *rapid.T) { l.t = t; l.do(l.s.Branch(ctx, l.known())) },
		"root":   func(t *rapid.T) { l.t = t; l.do(l.s.ResetLeaf(ctx)) },
		"title": func(t *rapid.T) {
			l.t = t
			_, err := l.s.SetTitle(ctx, l.text(), TitleByUser)
			l.do(err)
		},
		"rewrite": func(t *rapid.T) { l.t = t; l.do(l.s.RewriteEntries(ctx, nil)) },
		"fork": func(t *rapid.T) {
			l.t = t
			_, _, err := l.s.Fork(ctx)
			l.do(err)
		},
		"reopen": func(t *rapid.T) { l.t = t; l.reopen() },
		"evict": func(t *rapid.T) {
			l.t = t
			id := l.known()
			_, err := l.s.EvictCompacted(ctx, id, id)
			l.do(err)
			l.do(l.s.RewriteEntries(ctx, nil))
		},
	}
}

func TestASessionIsTheSameAfterReopening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := storage.NewMemory()
		dir := storagetest.CrashDir()
		if err := storage.MkdirAll(m, dir); err != nil {
			t.Fatal(err)
		}
		w := newWriter(m, dir, Options{})
		l := &life{t: t, w: w, st: NewStore(m, w.opt)}
		s, err := l.st.Create(context.Background(), dir, CreateOptions{Dir: w.sessions()})
		l.do(err)
		l.s = s
		id, err := s.AppendMessage(context.Background(), message("user", "first"))
		l.do(err)
		l.ids = append(l.ids, id)
		t.Repeat(l.actions())
		l.reopen()
		l.do(l.s.Close())
		if left, err := m.ReadDir(filepath.Join(dir, "s")); err != nil || len(left) == 0 {
			t.Fatalf("nothing is left: %v", err)
		}
	})
}
