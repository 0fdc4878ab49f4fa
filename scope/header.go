package scope

import (
	"bytes"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// maxHeader is how far into a transcript its first line may reach to count as
// a header here. Most end within firstRead.
const (
	maxHeader = 64 << 10
	firstRead = 4 << 10
)

// header is what a scope needs of a transcript's first line.
type header struct {
	id, cwd string
	line    []byte
	info    storage.Info // of the file that was opened
}

// Why a file is no candidate, in the original's words.
const (
	invalidHeader   = "invalid_header"
	unreadableFile  = "unreadable_candidate"
	changedMeantime = "source_changed"
)

// readHeader reads the first line of path: strict JSON, an object of type
// session with string id and cwd, ended by a line end. The version does not
// matter. code other than "" says what is wrong.
func readHeader(fsys storage.FS, path string) (h header, code string) {
	for _, n := range []int{firstRead, maxHeader} {
		data, info, err := storage.ReadPrefix(fsys, path, n)
		if err != nil || info.Kind != storage.Regular || info.Links > 1 {
			return header{info: info}, unreadableFile
		}
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			h, code := parseHeader(data[:end])
			h.info = info
			return h, code
		}
		if len(data) < n {
			break
		}
	}
	return header{}, invalidHeader
}

func parseHeader(line []byte) (h header, code string) {
	v, err := jsonl.ParseString(strings.ToValidUTF8(string(line), "\uFFFD"))
	if err != nil {
		return header{}, unreadableFile
	}
	id, cwd := v.Get("id"), v.Get("cwd")
	if !v.Is(jsonl.Object) || v.Get("type").Str() != "session" || !id.Is(jsonl.String) || !cwd.Is(jsonl.String) {
		return header{}, invalidHeader
	}
	return header{id: id.Str(), cwd: cwd.Str(), line: bytes.Clone(line)}, ""
}
