package session

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

var errNoHeader = errors.New("no session header")

// readInfo makes the row of one file from its beginning and its end.
func readInfo(ctx context.Context, fsys storage.FS, path string) (Info, error) {
	e, err := readHead(fsys, path)
	if err != nil {
		return Info{}, err
	}
	in, kept := Info{}, false
	if e.cut() {
		in, kept = e.keptRow(fsys, path)
	}
	if !kept {
		if in, err = e.row(ctx, fsys, path); err != nil {
			return Info{}, err
		}
	}
	in.Path, in.Size, in.Modified = path, e.st.Size, time.Unix(0, e.st.ModTime).UTC()
	return in, nil
}

// row makes the row of a listing, but for what is not in the file.
func (e *ends) row(ctx context.Context, fsys storage.FS, path string) (Info, error) {
	p, err := parsePrefix(ctx, e.head, e.cut())
	if err != nil {
		return Info{}, err
	}
	in := p.info
	in.Estimated = e.cut()
	if in.Estimated && p.patchable {
		if err := e.readTail(fsys, path); err != nil {
			return Info{}, err
		}
		tail := patchesOf(e.tail, e.st.Size > int64(len(e.tail)))
		if tail.hasTitle {
			in.Title, in.HasTitle = tail.title, true
		}
		if tail.hasCwd {
			in.Cwd = tail.cwd
		}
	}
	return in, nil
}

type prefix struct {
	info      Info
	patchable bool // version 4 or 5: rename records may follow at the end
}

// parsePrefix reads what a file's beginning says. cut says that more follows;
// then a record that the cut goes through is as if it were not there.
func parsePrefix(ctx context.Context, data []byte, cut bool) (prefix, error) {
	whole := data
	if cut {
		whole = wholeRecords(data)
	}
	t, err := jsonl.ParseTranscript(ctx, bytes.NewReader(whole), jsonl.LoadOptions{})
	raw := wellFormed(data)
	var version *jsonl.VersionError
	switch {
	case err == nil:
		p := headerPrefix(t)
		p.info.messages(t.Records, raw)
		return p, nil
	case errors.As(err, &version) || !errors.Is(err, jsonl.ErrNotTranscript):
		return prefix{}, err
	}
	p, err := salvagePrefix(data)
	if err != nil {
		return prefix{}, err
	}
	p.info.messages(jsonl.ParseText(string(whole)), raw)
	return p, nil
}

// wholeRecords is data without the record that its end cuts through.
func wholeRecords(data []byte) []byte {
	end := bytes.LastIndexByte(data, '\n') + 1
	if v, n, err := jsonl.Parse(data[end:]); err == nil && v.Is(jsonl.Object) {
		return data[:end+n]
	}
	return data[:end]
}

func headerPrefix(t *jsonl.Transcript) prefix {
	h := t.Header
	p := prefix{info: Info{ID: h.ID(), Cwd: h.Cwd(), ParentSession: h.ParentSession()}}
	p.info.created(h.Value().Get("timestamp"))
	p.info.Title, p.info.HasTitle = t.Title()
	p.patchable = t.Stored == 4 || t.Stored == 5
	return p
}

// created takes the header's timestamp, which the original hands to Date.
func (in *Info) created(timestamp jsonl.Value) {
	if ms := jsonl.DateOf(timestamp); !math.IsNaN(ms) {
		in.Created, in.HasCreated = time.UnixMilli(int64(ms)).UTC(), true
	}
}

// messages fills in what the records of the prefix say, and salvages from the
// raw text what they don't.
func (in *Info) messages(records []*jsonl.Entry, raw string) {
	var all []string
	var first, short string
	var hasShort bool
	count := 0
	for _, e := range records {
		switch e.Type() {
		case "compaction":
			if v := e.Value().Get("shortSummary"); v.Is(jsonl.String) {
				short, hasShort = v.Str(), true
			}
		case "message":
			count++
			text := messageText(e.Value().Get("message").Get("content"))
			if text == "" || (e.Role() != "user" && e.Role() != "assistant") {
				continue
			}
			all = append(all, text)
			if e.Role() == "user" && first == "" {
				first = text
				in.firstBlock = firstBlock(e.Value().Get("message").Get("content"))
			}
		}
	}
	if !in.HasTitle && hasShort {
		in.Title, in.HasTitle, in.titleIsSummary = short, true, true
	}
	in.MessageCount = max(count, countMessageMarks(raw))
	in.texts(first, all, raw)
}

func (in *Info) texts(first string, all []string, raw string) {
	salvaged := ""
	if first == "" || len(all) == 0 {
		salvaged = salvageFirstUser(raw)
	}
	in.FirstMessage = NoMessages
	if first != "" {
		in.FirstMessage = first
	} else if salvaged != "" {
		in.FirstMessage = salvaged
	}
	in.AllText = salvaged
	if len(all) > 0 {
		in.AllText = strings.Join(all, " ")
	}
}

// messageText is a message's text: a string, or its text blocks joined with
// one space.
func messageText(content jsonl.Value) string {
	if content.Is(jsonl.String) {
		return content.Str()
	}
	var texts []string
	for _, block := range content.Items() {
		if text := block.Get("text"); block.Get("type").Str() == "text" && text.Is(jsonl.String) {
			texts = append(texts, text.Str())
		}
	}
	return strings.Join(texts, " ")
}

// firstBlock is a message's text, or the first of its text blocks that has any.
func firstBlock(content jsonl.Value) string {
	if content.Is(jsonl.String) {
		return content.Str()
	}
	for _, block := range content.Items() {
		if text := block.Get("text").Str(); text != "" {
			return text
		}
	}
	return ""
}

// countMessageMarks counts the keys "type" whose string value is "message",
// nested ones too, as the original does.
func countMessageMarks(raw string) int {
	n := 0
	for rest := raw; ; {
		i := strings.Index(rest, `"type"`)
		if i < 0 {
			return n
		}
		rest = rest[i+len(`"type"`):]
		if value, ok := stringAfterColon(rest); ok && value == "message" {
			n++
		}
	}
}

// recentName is what a list of recent sessions shows: the first line of the
// title, else of the first prompt; "" if there is neither.
func (in *Info) recentName() string {
	if in.HasTitle && in.Title != "" && !in.titleIsSummary {
		if name := displayLine(in.Title); name != "" {
			return name
		}
	}
	return displayLine(in.firstBlock)
}
