package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// The strict reader of the original (docs/spec/behaviour.md, part 10), made
// again from its description and of nothing else of this project, to judge
// what we write.

type record = map[string]any

// strictly reads a transcript of version 5 as the original's strict reader
// does: its header and its entries, patches applied.
func strictly(data []byte) (header record, entries []record, err error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, nil, errors.New("not UTF-8")
	}
	for n, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line == "" {
			continue
		}
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil || r == nil {
			return nil, nil, fmt.Errorf("line %d: %v", n+1, err)
		}
		switch {
		case r["type"] == "session" && header == nil:
			if version, ok := r["version"].(float64); !ok || version != 5 {
				return nil, nil, fmt.Errorf("version %v", r["version"])
			}
			header = r
		case header == nil:
			return nil, nil, fmt.Errorf("line %d: no header before it", n+1)
		case r["type"] == "header_patch":
			patchHeader(header, r)
		case r["type"] == "entry_patch":
			patchEntry(entries, r)
		default:
			entries = append(entries, r)
		}
	}
	if err := allStrings(header, "id", "cwd", "timestamp"); err != nil {
		return nil, nil, fmt.Errorf("header: %w", err)
	}
	for i, e := range entries {
		if err := judge(e); err != nil {
			return nil, nil, fmt.Errorf("entry %d: %w: %v", i+1, err, e)
		}
	}
	return header, entries, nil
}

// keysAre reports whether all keys of r are among keys.
func keysAre(r record, keys ...string) bool {
	for k := range r {
		if !strings.Contains(" "+strings.Join(keys, " ")+" ", " "+k+" ") {
			return false
		}
	}
	return true
}

func patchHeader(header, r record) {
	patch, ok := r["patch"].(record)
	if !ok || !keysAre(r, "type", "patch") || !keysAre(patch, "cwd", "title", "titleSource") {
		return
	}
	for k, v := range patch {
		if text, ok := v.(string); !ok || k == "titleSource" && text != "auto" && text != "user" {
			return
		}
	}
	for k, v := range patch {
		header[k] = v
	}
}

func patchEntry(entries []record, r record) {
	patch, ok := r["patch"].(record)
	id, named := r["entryId"].(string)
	if !ok || !named || !keysAre(r, "type", "entryId", "patch") || !keysAre(patch, "message") {
		return
	}
	message, ok := patch["message"].(record)
	for i := len(entries) - 1; ok && i >= 0; i-- {
		if entries[i]["id"] == id {
			if entries[i]["type"] == "message" {
				entries[i]["message"] = message
			}
			return
		}
	}
}

func allStrings(r record, keys ...string) error {
	for _, k := range keys {
		if _, ok := r[k].(string); !ok {
			return fmt.Errorf("%s is %T", k, r[k])
		}
	}
	return nil
}

func isStrings(v any) bool {
	list, ok := v.([]any)
	for _, s := range list {
		if _, is := s.(string); !is {
			return false
		}
	}
	return ok
}

// absentOr reports whether a field is absent or what ok says.
func absentOr(r record, key string, ok func(any) bool) bool {
	v, there := r[key]
	return !there || ok(v)
}

func isString(v any) bool          { _, ok := v.(string); return ok }
func isBool(v any) bool            { _, ok := v.(bool); return ok }
func isNumber(v any) bool          { n, ok := v.(float64); return ok && !math.IsNaN(n) }
func stringOrNull(v any) bool      { return v == nil || isString(v) }
func fault(ok bool) error          { return map[bool]error{false: errors.New("malformed")}[ok] }
func both(err error, b bool) error { return errors.Join(err, fault(b)) }

// judge says what the strict reader has against an entry.
func judge(e record) error {
	if err := both(allStrings(e, "type", "id", "timestamp"), stringOrNull(e["parentId"])); err != nil {
		return err
	}
	switch e["type"] {
	case "session":
		return nil
	case "message":
		m, ok := e["message"].(record)
		return fault(ok && isString(m["role"]))
	case "model_change":
		return fault(isString(e["model"]) || isString(e["provider"]) && isString(e["modelId"]))
	case "compaction":
		return both(allStrings(e, "summary", "firstKeptEntryId"), isNumber(e["tokensBefore"]))
	case "branch_summary":
		return allStrings(e, "fromId", "summary")
	case "custom":
		return allStrings(e, "customType")
	case "custom_message":
		_, list := e["content"].([]any)
		return both(allStrings(e, "customType"), (list || isString(e["content"])) && isBool(e["display"]))
	case "label":
		return both(allStrings(e, "targetId"), absentOr(e, "label", isString))
	case "ttsr_injection":
		return fault(isStrings(e["injectedRules"]) && absentOr(e, "ttsrMessageCount", isNumber))
	case "mcp_tool_selection", "discovered_builtin_tool_selection":
		return fault(isStrings(e["selectedToolNames"]) && absentOr(e, "mutationCorrelationId", isString))
	case "session_init":
		return both(allStrings(e, "systemPrompt", "task"), isStrings(e["tools"]))
	case "mode_change":
		return allStrings(e, "mode")
	case "thinking_level_change":
		return fault(absentOr(e, "thinkingLevel", stringOrNull))
	case "service_tier_change":
		return fault(stringOrNull(e["serviceTier"]))
	case "configured_model_chain":
		role, ok := e["role"].(string)
		return fault(ok && role != "" && (e["cleared"] == true || isStrings(e["entries"]) && len(e["entries"].([]any)) > 0))
	}
	return fmt.Errorf("unknown type %v", e["type"])
}

// judged fails if the original would refuse a file of ours, or would read
// other entries in it than we do.
func judged(fsys storage.FS, path string) error {
	data, err := storage.ReadFile(fsys, path, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing of it is on disk yet
	}
	if err != nil {
		return err
	}
	header, entries, err := strictly(data)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(path), err, data)
	}
	t, err := jsonl.Load(context.Background(), fsys, path, jsonl.LoadOptions{})
	if err != nil {
		return err
	}
	if diff := cmp.Diff(header, decoded(jsonl.ObjectValue(t.Header.Value()).JSON())); diff != "" {
		return fmt.Errorf("header (-original +ours):\n%s", diff)
	}
	var ours []record
	for _, e := range t.Records {
		ours = append(ours, decoded(string(e.AppendJSON(nil, true))))
	}
	if diff := cmp.Diff(entries, ours); diff != "" {
		return fmt.Errorf("entries (-original +ours):\n%s", diff)
	}
	return nil
}

func decoded(text string) record {
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return record{"broken": text}
	}
	return r
}

// oddKinds are entries of each kind, with what each may leave out.
func oddKinds(kept string) []New {
	text := jsonl.StringValue
	null, none := jsonl.NullValue(), jsonl.Value{}
	return []New{
		NewThinkingLevel(null), NewThinkingLevel(none), NewThinkingLevel(text("high")), NewServiceTier(null), NewServiceTier(text("fast")),
		NewMode("plan", none), NewMode("", text("x")), NewModel(jsonl.ModelChange{Model: "p/m"}),
		NewModel(jsonl.ModelChange{Model: "p/m", Role: text("smol"), PreviousModel: text("p/n"), Reason: text("asked"), ThinkingLevel: null}),
		NewModelChain(jsonl.ModelChain{Role: "default", Entries: []string{"p/m"}, Origin: "session"}),
		NewModelChain(jsonl.ModelChain{Role: "default", Cleared: true}),
		NewMCPSelection(nil, ""), NewMCPSelection([]string{"a"}, "c"), NewBuiltinSelection([]string{}, ""), NewBuiltinSelection([]string{"b"}, "c"),
		NewCustom("host/any", none), NewCustom("host/any", text("\u2028\x00\U0001f600")), NewContextClear(none),
		NewCustomMessage(jsonl.CustomMessage{CustomType: "irc:x", Content: text("hi"), Display: true, Details: jsonl.ObjectValue(jsonl.NewObj())}),
		NewCustomMessage(jsonl.CustomMessage{CustomType: "c", Content: jsonl.ArrayValue(text("not a block"))}),
		NewTTSR([]string{"r"}, none, none), NewTTSR(nil, none, jsonl.NumberValue(3)), NewData(&jsonl.Diagnostic{Text: "d"}),
		NewCompaction(jsonl.Compaction{Summary: "s", FirstKeptEntryID: kept, TokensBefore: 1e21}),
		NewCompaction(jsonl.Compaction{Summary: "", ShortSummary: text("t"), FirstKeptEntryID: "nowhere", Details: null, FromExtension: jsonl.BoolValue(true)}),
	}
}

// gjc appends as the original does: without event ids, by its own path to the file.
func (l *life) gjc(t *rapid.T) {
	l.t = t
	if _, err := l.w.fsys.Lstat(l.s.Path()); errors.Is(err, fs.ErrNotExist) {
		return // it is not begun on disk
	}
	f, err := l.w.fsys.Append(l.s.Path())
	l.do(err)
	l.n++
	_, err = fmt.Fprintf(f, `{"type":"message","id":"gjc%d","parentId":%q,"timestamp":"2026-03-01T00:00:00.000Z","message":{"role":"user","content":"as gjc %d"}}`+"\n", l.n, l.known(), l.n)
	l.do(errors.Join(err, f.Close()))
	path := l.s.Path()
	l.do(l.s.Close())
	l.s, err = NewStore(l.w.fsys, l.w.opt).Open(context.Background(), path, OpenOptions{Strict: true})
	l.do(err)
}

// archived archives the session, and sometimes brings it back.
func (l *life) archived(t *rapid.T) {
	l.t = t
	ctx, path := context.Background(), l.s.Path()
	l.do(l.s.EnsureOnDisk(ctx))
	l.do(l.s.Close())
	st := NewStore(l.w.fsys, l.w.opt)
	if _, err := st.Archive(ctx, path, ArchiveOptions{}); err != nil && !strings.Contains(err.Error(), "can't be archived") {
		t.Fatal(err)
	}
	l.do(judged(l.w.fsys, path))
	if rapid.Bool().Draw(t, "unarchive") {
		_, err := st.Unarchive(ctx, path)
		l.do(err)
	}
	var err error
	l.s, err = st.Open(ctx, path, OpenOptions{})
	l.do(err)
	l.ids = l.ids[:0]
	l.do(l.s.View(ctx, func(tree *jsonl.Tree, _ jsonl.Leaf) error {
		for _, e := range tree.Entries() {
			if id, ok := e.ID(); ok {
				l.ids = append(l.ids, id)
			}
		}
		return nil
	}))
}

// Whatever is done to a session, by us and by the original, the original's
// strict reader takes the file, and reads in it what we read.
func TestTheStrictReaderOfTheOriginalReadsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := storage.NewMemory()
		dir := storagetest.CrashDir()
		if err := storage.MkdirAll(m, dir); err != nil {
			t.Fatal(err)
		}
		l := &life{t: t, w: newWriter(m, dir, Options{})}
		l.st = NewStore(m, l.w.opt)
		s, err := l.st.Create(context.Background(), dir, CreateOptions{Dir: l.w.sessions()})
		l.do(err)
		l.s = s
		id, err := s.AppendMessage(context.Background(), message("user", "first"))
		l.do(err)
		l.ids = append(l.ids, id)
		actions := l.actions()
		actions["kinds"] = func(t *rapid.T) {
			l.t = t
			r, err := l.s.AppendBatch(context.Background(), rapid.SampledFrom(oddKinds(l.known())).Draw(t, "kind"))
			l.do(err)
			l.ids = append(l.ids, r.IDs...)
		}
		actions["gjc"] = l.gjc
		actions["archive"] = l.archived
		actions[""] = func(t *rapid.T) {
			l.t = t
			names, err := m.ReadDir(l.w.sessions())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			for _, e := range names {
				if strings.HasSuffix(e.Name, ".jsonl") {
					l.do(judged(m, filepath.Join(l.w.sessions(), e.Name)))
				}
			}
		}
		t.Repeat(actions)
		l.do(l.s.Close())
	})
}
