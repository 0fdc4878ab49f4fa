package session

import (
	"bytes"

	"github.com/gajae-code/gjc-index/jsonl"
)

// tailPatches is what the newest rename and move records at a file's end say.
type tailPatches struct {
	title, cwd       string
	hasTitle, hasCwd bool
}

// patchesOf looks through the complete lines of the last 16 KiB, newest first,
// for the newest title and the newest cwd. cut says that the first line is none.
// Source: behaviour part 15.
func patchesOf(data []byte, cut bool) (t tailPatches) {
	if cut {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	for len(data) > 0 && !(t.hasTitle && t.hasCwd) {
		end := bytes.LastIndexByte(data, '\n')
		t.take(data[end+1:])
		data = data[:max(end, 0)]
	}
	return t
}

func (t *tailPatches) take(line []byte) {
	if !bytes.Contains(line, []byte("header_patch")) && !bytes.Contains(line, []byte(`\u`)) {
		return // not worth parsing: no other text can mean it
	}
	p, ok := jsonl.ParseHeaderPatch(line)
	if !ok {
		return
	}
	if title := p.Get("title"); title.Is(jsonl.String) && !t.hasTitle {
		t.title, t.hasTitle = title.Str(), true
	}
	if cwd := p.Get("cwd"); cwd.Is(jsonl.String) && !t.hasCwd {
		t.cwd, t.hasCwd = cwd.Str(), true
	}
}
