package session_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
)

// call runs a method of a session by the original's name.
func (r *caseRunner) call(s *session.Session, method string, args []jsonl.Value) jsonl.Value {
	arg := func(i int) jsonl.Value {
		if i < len(args) {
			return args[i]
		}
		return jsonl.Value{}
	}
	if n := newEntry(method, arg); n != nil {
		id, err := s.Append(r.ctx(), n)
		return orError(text(id), err)
	}
	if name, getter := strings.CutPrefix(method, "get"); getter {
		if v, known := property(s, strings.ToLower(name[:1])+name[1:]); known {
			return ok(v)
		}
	}
	if v, known := r.callRead(s, method, arg); known {
		return v
	}
	if v, known := r.callWrite(s, method, arg); known {
		return v
	}
	return object("err", text("unknown method "+method))
}

func (r *caseRunner) ctx() context.Context { return context.Background() }

// property is a plain fact about a session, by the original's name.
func property(s *session.Session, name string) (v jsonl.Value, known bool) {
	switch name {
	case "sessionFile":
		return pathOrNothing(s.Path()), true
	case "sessionId":
		return text(s.ID()), true
	case "sessionDir":
		return text(s.Dir()), true
	case "cwd":
		return text(s.Cwd()), true
	case "header":
		return jsonl.ObjectValue(s.Header()), true
	case "titleSource":
		return pathOrNothing(string(s.TitleSource())), true
	case "sessionName":
		if title, has := s.Title(); has {
			v = text(title)
		}
		return v, true
	}
	return jsonl.Value{}, false
}

// newEntry is the entry that an append method makes; nil for other methods.
func newEntry(method string, arg func(int) jsonl.Value) session.New {
	switch method {
	case "appendMessage":
		return session.NewMessage(arg(0))
	case "appendThinkingLevelChange":
		return session.NewThinkingLevel(arg(0))
	case "appendServiceTierChange":
		return session.NewServiceTier(arg(0))
	case "appendModeChange":
		return session.NewMode(arg(0).Str(), arg(1))
	case "appendModelChange":
		more := arg(2)
		return session.NewModel(jsonl.ModelChange{Model: arg(0).Str(), Role: arg(1), PreviousModel: more.Get("previousModel"),
			Reason: more.Get("reason"), ThinkingLevel: more.Get("thinkingLevel")})
	case "appendSessionInit":
		return session.NewSessionInit(arg(0).Obj())
	case "appendCompaction":
		return session.NewCompaction(jsonl.Compaction{Summary: arg(0).Str(), ShortSummary: arg(1), FirstKeptEntryID: arg(2).Str(),
			TokensBefore: arg(3).Num(), Details: arg(4), FromExtension: arg(5), PreserveData: arg(6)})
	case "appendCustomEntry":
		return session.NewCustom(arg(0).Str(), arg(1))
	case "appendCustomMessageEntry":
		return session.NewCustomMessage(jsonl.CustomMessage{CustomType: arg(0).Str(), Content: arg(1), Display: arg(2).Bool(),
			Details: arg(3), Attribution: arg(4).Str()})
	case "appendContextClearEntry":
		return session.NewContextClear(arg(0))
	case "appendMCPToolSelection":
		return session.NewMCPSelection(stringsOf(arg(0)), arg(1).Str())
	case "appendDiscoveredBuiltinToolSelection":
		return session.NewBuiltinSelection(stringsOf(arg(0)), arg(1).Str())
	case "appendTtsrInjection":
		return session.NewTTSR(stringsOf(arg(0)), arg(1), arg(2))
	case "appendConfiguredModelChain":
		c := arg(0)
		return session.NewModelChain(jsonl.ModelChain{Role: c.Get("role").Str(), Entries: stringsOf(c.Get("entries")), Origin: c.Get("origin").Str(),
			Identity: c.Get("identity"), ExplicitHead: c.Get("explicitHead").Bool(), Cleared: c.Get("cleared").Bool()})
	}
	return nil
}

func stringsOf(v jsonl.Value) []string {
	names := make([]string, 0, len(v.Items()))
	for _, item := range v.Items() {
		names = append(names, item.Str())
	}
	return names
}

// callRead runs the methods that only look.
func (r *caseRunner) callRead(s *session.Session, method string, arg func(int) jsonl.Value) (got jsonl.Value, known bool) {
	known = true
	err := s.View(r.ctx(), func(tree *jsonl.Tree, leaf jsonl.Leaf) error {
		if arg(0).Is(jsonl.String) && method == "getBranch" {
			leaf = jsonl.LeafAt(arg(0).Str())
		}
		switch method {
		case "getEntries":
			got = r.entriesOf(s, tree.Entries())
		case "getBranch":
			got = r.entriesOf(s, tree.Path(leaf))
		case "getChildren":
			got = r.entriesOf(s, tree.Children(arg(0).Str()))
		case "getEntry":
			got = r.entryOf(s, tree.Entry(arg(0).Str()))
		case "getLeafEntry":
			got = r.entryOf(s, tree.LeafEntry(leaf))
		case "getLeafId":
			got = leafID(tree, leaf)
		case "getTree":
			got = r.nodes(s, tree.Roots())
		case "getLabel":
			if label, has := tree.Label(arg(0).Str()); has {
				got = text(label)
			}
		case "getLastModelChangeRole":
			if role, has := jsonl.LastModelChangeRole(tree.Path(leaf)); has {
				got = text(role)
			}
		case "getInjectedTtsrRules":
			got = list(jsonl.InjectedTTSRRules(tree.Path(leaf)), text)
		default:
			known = false
		}
		return nil
	})
	if known {
		return orError(got, err), true
	}
	switch method {
	case "buildSessionContext":
		c, err := s.Context(r.ctx())
		if err != nil {
			return failure(err), true
		}
		return ok(c.Value()), true
	case "getUsageStatistics":
		return ok(r.usage(s)), true
	case "getEntriesForExport":
		entries, _, err := s.EntriesForExport(r.ctx())
		return orError(list(entries, func(o *jsonl.Obj) jsonl.Value { return jsonl.ObjectValue(o) }), err), true
	}
	return jsonl.Value{}, false
}

// callWrite runs the methods that change the session.
func (r *caseRunner) callWrite(s *session.Session, method string, arg func(int) jsonl.Value) (got jsonl.Value, known bool) {
	ctx := r.ctx()
	switch method {
	case "setSessionName":
		source := session.TitleSource(arg(1).Str())
		if source == "" {
			source = session.TitleAuto
		}
		set, err := s.SetTitle(ctx, arg(0).Str(), source)
		return orError(jsonl.BoolValue(set), err), true
	case "appendLabelChange":
		id, err := s.SetLabel(ctx, arg(0).Str(), arg(1))
		return orError(text(id), err), true
	case "branch":
		return done(s.Branch(ctx, arg(0).Str())), true
	case "resetLeaf":
		return done(s.ResetLeaf(ctx)), true
	case "branchWithSummary":
		id, err := s.BranchWithSummary(ctx, arg(0).Str(), arg(1).Str(), arg(2), arg(3))
		return orError(text(id), err), true
	case "rewriteEntries":
		return done(s.RewriteEntries(ctx, nil)), true
	case "flush":
		if err := s.Flush(ctx); err != nil { // the original rethrows the cause
			return object("err", text("Error")), true
		}
		return ok(jsonl.Value{}), true
	case "ensureOnDisk":
		return done(s.EnsureOnDisk(ctx)), true
	case "close":
		return done(s.Close()), true
	case "createBranchedSession":
		path, err := s.Branched(ctx, arg(0).Str())
		return orError(pathOrNothing(path), err), true
	case "fork":
		from, to, err := s.Fork(ctx)
		return orError(object("oldSessionFile", text(from), "newSessionFile", text(to)), err), true
	case "newSession":
		path, err := s.NewSession(ctx, arg(0).Get("parentSession").Str())
		return orError(pathOrNothing(path), err), true
	case "moveTo":
		return done(s.Move(ctx, arg(0).Str())), true
	case "setSessionFile":
		return done(s.SetFile(ctx, arg(0).Str())), true
	case "saveDraft":
		return done(s.SaveDraft(ctx, arg(0).Str())), true
	case "consumeDraft":
		return r.draft(s), true
	case "evictCompactedContent":
		return r.evict(s, arg(0).Str(), arg(1).Str()), true
	}
	return jsonl.Value{}, false
}

func pathOrNothing(path string) jsonl.Value {
	if path == "" {
		return jsonl.Value{}
	}
	return text(path)
}

func (r *caseRunner) draft(s *session.Session) jsonl.Value {
	draft, ok, err := s.ConsumeDraft(r.ctx())
	if !ok {
		return orError(jsonl.NullValue(), err)
	}
	return orError(text(draft), err)
}

func (r *caseRunner) evict(s *session.Session, firstKept, compaction string) jsonl.Value {
	st, err := s.EvictCompacted(r.ctx(), firstKept, compaction)
	n := func(v int) jsonl.Value { return number(float64(v)) }
	return orError(object("evictedEntries", n(st.Entries), "hotCharsRemoved", n(0), "coldBlobBytes", number(float64(st.Bytes)),
		"payloadRefs", n(st.Payloads), "alreadyEvictedEntries", n(st.AlreadyEvicted), "coldSpillWriteCount", n(st.Payloads),
		"coldSpillReadCount", n(0), "residentTextReadCount", n(st.Payloads), "residentImageReadCount", n(0)), err)
}

func (r *caseRunner) usage(s *session.Session) jsonl.Value {
	u, err := s.Usage(r.ctx())
	if err != nil {
		return text(err.Error())
	}
	return object("input", number(u.Input), "output", number(u.Output), "cacheRead", number(u.CacheRead), "cacheWrite", number(u.CacheWrite),
		"premiumRequests", number(u.PremiumRequests), "cost", number(u.Cost))
}

// entryOf is an entry with its blobs in place, as the original shows it.
func (r *caseRunner) entryOf(s *session.Session, e *jsonl.Entry) jsonl.Value {
	if e == nil {
		return jsonl.Value{}
	}
	v, _, err := s.Resolve(r.ctx(), e)
	if err != nil {
		return text(fmt.Sprint(err))
	}
	return v
}

func (r *caseRunner) entriesOf(s *session.Session, entries []*jsonl.Entry) jsonl.Value {
	return list(entries, func(e *jsonl.Entry) jsonl.Value { return r.entryOf(s, e) })
}

func (r *caseRunner) nodes(s *session.Session, nodes []*jsonl.Node) jsonl.Value {
	return list(nodes, func(n *jsonl.Node) jsonl.Value {
		var label jsonl.Value
		if n.Label != "" {
			label = text(n.Label)
		}
		return object("entry", r.entryOf(s, n.Entry), "children", r.nodes(s, n.Children), "label", label)
	})
}

// leafID is the id of the entry at the leaf: null before all of them, absent
// if it has none.
func leafID(tree *jsonl.Tree, leaf jsonl.Leaf) jsonl.Value {
	e := tree.LeafEntry(leaf)
	if e == nil {
		return jsonl.NullValue()
	}
	if id, ok := e.ID(); ok {
		return text(id)
	}
	return jsonl.Value{}
}
