package corpus

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"
)

// plan is what one session file shall be.
type plan struct {
	id      string
	version int
	cwd     string
	created time.Time
	bytes   int // about
	parent  string
	blobs   []string // hex sums that images may refer to
	pool    []string
}

// session writes one transcript and the time of its last record.
func session(rnd *rand.Rand, p plan) ([]byte, time.Time) {
	s := &sessionWriter{writer: writer{rnd: rnd, buf: make([]byte, 0, p.bytes+8192)}, plan: p, now: p.created}
	s.header()
	if rnd.IntN(3) == 0 {
		s.begin("model_change")
		s.field("model", "acme/acme-large-2")
		s.end()
	}
	for len(s.buf) < p.bytes || s.prompts == 0 {
		s.turn()
		s.extras()
	}
	return s.buf, s.now
}

type sessionWriter struct {
	writer
	plan
	now     time.Time
	last    string   // id of the last entry
	ids     []string // ids of all entries
	users   []string // ids of prompts
	prompts int
	index   int // of the next record, the header counted
}

func (s *sessionWriter) stamp() string { return s.now.UTC().Format("2006-01-02T15:04:05.000Z") }

func (s *sessionWriter) header() {
	s.buf = append(s.buf, `{"type":"session"`...)
	if s.version > 1 {
		s.buf = append(s.buf, `,"version":`...)
		s.buf = strconv.AppendInt(s.buf, int64(s.version), 10)
	}
	s.field("id", s.id)
	s.field("timestamp", s.stamp())
	s.field("cwd", s.cwd)
	if s.parent != "" {
		s.field("parentSession", s.parent)
	}
	if s.rnd.IntN(4) == 0 {
		s.field("title", s.sentence(3+s.rnd.IntN(5)))
		s.field("titleSource", "auto")
	}
	s.buf = append(s.buf, "}\n"...)
	s.index++
}

func (s *sessionWriter) field(key, value string) {
	s.buf = append(s.buf, ',')
	s.quote(key)
	s.buf = append(s.buf, ':')
	s.quote(value)
}

// begin opens an entry below the last one; v1 files have no ids.
func (s *sessionWriter) begin(kind string) {
	s.now = s.now.Add(time.Duration(500+s.rnd.IntN(40_000)) * time.Millisecond)
	s.buf = append(s.buf, `{"type":`...)
	s.quote(kind)
	id := fmt.Sprintf("%08x", s.rnd.Uint32())
	if s.version > 1 {
		s.field("id", id)
		if s.last == "" {
			s.buf = append(s.buf, `,"parentId":null`...)
		} else {
			s.field("parentId", s.last)
		}
	}
	s.field("timestamp", s.stamp())
	s.last = id
	s.ids = append(s.ids, id)
}

func (s *sessionWriter) end() {
	s.buf = append(s.buf, "}\n"...)
	s.index++
}

func (s *sessionWriter) turn() {
	s.begin("message")
	s.users = append(s.users, s.last)
	s.buf = append(s.buf, `,"message":{"role":"user","content":`...)
	text := s.prompt()
	if s.rnd.IntN(2) == 0 {
		s.quote(text)
	} else {
		s.buf = append(s.buf, `[{"type":"text"`...)
		s.field("text", text)
		s.buf = append(s.buf, '}')
		if len(s.blobs) > 0 && s.rnd.IntN(12) == 0 {
			s.buf = append(s.buf, `,{"type":"image","data":"blob:sha256:`...)
			s.buf = append(s.buf, s.blobs[s.rnd.IntN(len(s.blobs))]...)
			s.buf = append(s.buf, `","mimeType":"image/png"}`...)
		}
		s.buf = append(s.buf, ']')
	}
	s.messageEnd()
	s.prompts++
	for range 2 + s.rnd.IntN(4) {
		s.assistant(true)
		s.toolResult()
	}
	s.assistant(false)
}

func (s *sessionWriter) messageEnd() {
	s.buf = append(s.buf, `,"timestamp":`...)
	s.buf = strconv.AppendInt(s.buf, s.now.UnixMilli(), 10)
	s.buf = append(s.buf, '}')
	s.end()
}

func (s *sessionWriter) assistant(callsTool bool) {
	s.begin("message")
	s.buf = append(s.buf, `,"message":{"role":"assistant","content":[{"type":"thinking"`...)
	s.field("thinking", s.sentence(10+s.rnd.IntN(60)))
	s.buf = append(s.buf, `},{"type":"text"`...)
	s.field("text", s.sentence(15+s.rnd.IntN(80)))
	s.buf = append(s.buf, '}')
	stop := "stop"
	if callsTool {
		stop = "toolUse"
		s.buf = append(s.buf, `,{"type":"toolCall"`...)
		s.field("id", "call_"+s.last)
		s.field("name", "bash")
		s.buf = append(s.buf, `,"arguments":{"command":`...)
		s.quote("rg -n '" + s.word() + "' ./" + s.word())
		s.buf = append(s.buf, `}}`...)
	}
	model := []string{"acme-large-2", "acme-small-1", "nova-3"}[s.rnd.IntN(3)]
	in, out := 500+s.rnd.IntN(40_000), 20+s.rnd.IntN(2_000)
	s.buf = append(s.buf, ']')
	s.field("provider", "acme")
	s.field("model", model)
	s.buf = fmt.Appendf(s.buf, `,"usage":{"input":%d,"output":%d,"cacheRead":%d,"cacheWrite":%d,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":%s}}`,
		in, out, in/2, in/10, strconv.FormatFloat(float64(in+5*out)/1e6, 'f', -1, 64))
	s.field("stopReason", stop)
	s.messageEnd()
}

func (s *sessionWriter) toolResult() {
	call := "call_" + s.last
	n := 300 + s.rnd.IntN(3_000)
	if s.rnd.IntN(12) == 0 {
		n = 8_000 + s.rnd.IntN(92_000)
	}
	s.begin("message")
	s.buf = append(s.buf, `,"message":{"role":"toolResult"`...)
	s.field("toolCallId", call)
	s.field("toolName", "bash")
	s.buf = append(s.buf, `,"content":[{"type":"text"`...)
	s.field("text", s.output(n, s.pool))
	s.buf = append(s.buf, `}],"isError":false`...)
	s.messageEnd()
}

// extras adds the records that are not messages, now and then.
func (s *sessionWriter) extras() {
	switch s.rnd.IntN(16) {
	case 0:
		s.begin("label")
		s.field("targetId", s.ids[s.rnd.IntN(len(s.ids))])
		s.field("label", s.word())
		s.end()
	case 1:
		s.begin("thinking_level_change")
		s.field("thinkingLevel", []string{"off", "low", "high"}[s.rnd.IntN(3)])
		s.end()
	case 2:
		s.compaction()
	case 3:
		if s.version > 1 {
			s.last = s.ids[s.rnd.IntN(len(s.ids))] // a branch starts at an earlier entry
		}
	case 4:
		s.begin("custom")
		s.field("customType", "acme-plan")
		s.buf = append(s.buf, `,"data":{"step":1}`...)
		s.end()
	case 5:
		s.begin("custom_message")
		s.field("customType", "acme-note")
		s.field("content", s.sentence(12))
		s.buf = append(s.buf, `,"display":true`...)
		s.field("attribution", "agent")
		s.end()
	case 6:
		s.headerPatch()
	case 7:
		s.begin("mode_change")
		s.field("mode", []string{"plan", "none"}[s.rnd.IntN(2)])
		s.end()
	}
}

func (s *sessionWriter) compaction() {
	kept := len(s.users) - 1
	s.begin("compaction")
	s.field("summary", s.sentence(60+s.rnd.IntN(100)))
	s.field("shortSummary", s.sentence(6))
	if s.version > 1 {
		s.field("firstKeptEntryId", s.users[kept])
	} else {
		s.buf = append(s.buf, `,"firstKeptEntryIndex":`...)
		s.buf = strconv.AppendInt(s.buf, int64(s.index-1), 10)
	}
	s.buf = append(s.buf, `,"tokensBefore":42000`...)
	s.end()
}

func (s *sessionWriter) headerPatch() {
	if s.version < 4 {
		return
	}
	s.buf = append(s.buf, `{"type":"header_patch","patch":{"title":`...)
	s.quote(s.sentence(3 + s.rnd.IntN(4)))
	s.field("titleSource", "user")
	s.buf = append(s.buf, '}')
	s.end()
}
