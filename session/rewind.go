package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
)

// Rewound is the session that a rewind began.
type Rewound struct {
	ID, Path string
	Prompt   Prompt // the one that was not copied
	Entries  int    // copied
}

// Rewind begins a session with what came before a prompt of another: every
// entry that stands before it, in order, also those that were archived. Entry
// ids stay and event ids are new. Where our own records name the session they
// name the new one. The prompt itself is kept as a note for the person. The
// source is not touched. ref is a prompt's number, or its entry's id.
//
// Errors: ErrNoPrompt, those of Whole and Create.
func (s *Store) Rewind(ctx context.Context, source, ref string) (r Rewound, err error) {
	if source, err = filepath.Abs(source); err != nil {
		return r, err
	}
	t, err := s.Whole(ctx, source)
	if err != nil {
		return r, fmt.Errorf("rewind: %w", err)
	}
	t.Upgrade(s.opt.UpgradeIDs)
	tree := t.Tree(false)
	leaf, err := s.leafOf(source, t)
	if err != nil {
		return r, fmt.Errorf("rewind: %w", err)
	}
	prompt, err := findPrompt(Prompts(tree.Path(leaf)), ref)
	if err != nil {
		return r, fmt.Errorf("rewind: %w", err)
	}
	session, err := s.createBeside(ctx, source, t.Header)
	if err != nil {
		return r, fmt.Errorf("rewind: %w", err)
	}
	r = Rewound{ID: session.ID(), Path: session.Path(), Prompt: prompt}
	r.Entries, err = session.fillRewound(ctx, t, prompt)
	if err = errors.Join(err, session.Close()); err != nil {
		return r, fmt.Errorf("rewind: %w", err)
	}
	return r, nil
}

// leafOf is the leaf that was chosen for a transcript.
func (s *Store) leafOf(path string, t *jsonl.Transcript) (jsonl.Leaf, error) {
	info, err := s.fsys.Lstat(path)
	if err != nil {
		return jsonl.LeafLast(), err
	}
	leaf, _, err := ReadLeaf(s.fsys, path, t.Header.ID(), info.Size)
	return leaf, err
}

// createBeside begins a session of the same workspace; that of a session in a
// directory of the user's own lies there too.
func (s *Store) createBeside(ctx context.Context, source string, h *jsonl.Header) (*Session, error) {
	opt := CreateOptions{ParentSession: h.ID()}
	place, err := s.placeOf(source)
	if err != nil {
		return nil, err
	}
	if place == placeExplicit {
		opt.Dir = filepath.Dir(source)
	}
	return s.Create(ctx, h.Cwd(), opt)
}

// fillRewound copies what stands before a prompt and says where it came from.
func (s *Session) fillRewound(ctx context.Context, t *jsonl.Transcript, prompt Prompt) (copied int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var before []*jsonl.Entry
	for _, e := range t.Records {
		if e == prompt.Entry {
			break
		}
		before = append(before, e)
	}
	copies, err := s.st.copiesOf(ctx, before)
	if err != nil {
		return 0, err
	}
	for _, e := range copies {
		renameSession(e, t.Header.ID(), s.header.ID())
	}
	s.setRecords(copies)
	if parent, kind := prompt.Entry.Parent(); kind == jsonl.String && s.tree.Entry(parent) != nil {
		s.leaf = jsonl.LeafAt(parent)
	} else {
		s.leaf = jsonl.LeafRoot()
	}
	if title, ok := t.Title(); ok {
		s.header.Set("title", jsonl.StringValue(title))
		if source := t.TitleSource(); source != "" {
			s.header.Set("titleSource", jsonl.StringValue(source))
		}
	}
	id, _ := prompt.Entry.ID()
	origin, _, err := s.makeLocked([]New{NewData(&jsonl.RewindOrigin{Session: t.Header.ID(), Prompt: id,
		EventCutoff: int64(len(copies)), PromptOffset: int64(prompt.Number - 1), Unsent: prompt.Text})})
	if err != nil {
		return 0, err
	}
	s.takeLocked(origin)
	return len(copies), s.ensureOnDiskLocked(ctx)
}

// renameSession makes a record of ours that names a session name another one:
// at the top level of its data, and in the ids of observations.
func renameSession(e *jsonl.Entry, from, to string) {
	if e.Type() != "custom" || !strings.HasPrefix(e.Kind().Name, "gjc-index/") {
		return
	}
	data := e.Value().Get("data")
	if !data.Is(jsonl.Object) {
		return
	}
	o := data.Obj().Clone()
	for _, m := range data.Obj().Members() {
		o.Set(m.Key, renamed(m.Value, from, to, m.Key == "session"))
	}
	whole := e.Value().Clone()
	whole.Set("data", jsonl.ObjectValue(o))
	e.SetValue(whole)
}

// renamed is a value with the ids of observations renamed; if plain is set, a
// bare session id too.
func renamed(v jsonl.Value, from, to string, plain bool) jsonl.Value {
	switch {
	case v.Is(jsonl.String):
		if plain && v.Str() == from {
			return jsonl.StringValue(to)
		}
		if rest, ok := strings.CutPrefix(v.Str(), "session:"+from+":entry:"); ok {
			return jsonl.StringValue("session:" + to + ":entry:" + rest)
		}
	case v.Is(jsonl.Array):
		items := make([]jsonl.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = renamed(item, from, to, false)
		}
		return jsonl.ArrayValue(items...)
	case v.Is(jsonl.Object):
		o := v.Obj().Clone()
		for _, m := range v.Obj().Members() {
			o.Set(m.Key, renamed(m.Value, from, to, false))
		}
		return jsonl.ObjectValue(o)
	}
	return v
}

// Prompts are the prompts of the session at path, on the way to its leaf, also
// those that were archived.
//
// Errors: those of Whole.
func (s *Store) Prompts(ctx context.Context, path string) ([]Prompt, error) {
	t, err := s.Whole(ctx, path)
	if err != nil {
		return nil, err
	}
	t.Upgrade(s.opt.UpgradeIDs)
	leaf, err := s.leafOf(path, t)
	if err != nil {
		return nil, err
	}
	return Prompts(t.Tree(false).Path(leaf)), nil
}
