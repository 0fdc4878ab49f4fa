package session

import (
	"bytes"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// tailPatches is what the newest rename and move records at a file's end say.
type tailPatches struct {
	title, cwd       string
	hasTitle, hasCwd bool
}

// readTailPatches looks through the complete lines of the last 16 KiB, newest
// first, for the newest title and the newest cwd. Source: behaviour part 15.
func readTailPatches(fsys storage.FS, path string) (tailPatches, error) {
	data, st, err := storage.ReadTail(fsys, path, jsonl.ListingTail)
	if err != nil {
		return tailPatches{}, err
	}
	if st.Size > int64(len(data)) { // the first line is cut
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	var t tailPatches
	for len(data) > 0 && !(t.hasTitle && t.hasCwd) {
		end := bytes.LastIndexByte(data, '\n')
		t.take(data[end+1:])
		data = data[:max(end, 0)]
	}
	return t, nil
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
