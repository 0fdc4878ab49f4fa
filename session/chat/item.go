package chat

import "github.com/gajae-code/gjc-index/jsonl"

// Kind is what an item is.
type Kind string

// The kinds of items.
const (
	User      Kind = "user"
	Assistant Kind = "assistant"
	Thinking  Kind = "thinking"
	ToolUse   Kind = "tool"
	Command   Kind = "command" // that the person ran
	Note      Kind = "note"    // a message of the host program, meant to be seen
	Summary   Kind = "summary" // what stands for entries that were summed up, or for a branch
)

// Item is one thing of a chat. Texts are redacted and valid UTF-8.
type Item struct {
	ID      string // unique in the chat, the same whenever the session is read
	Entry   string // id of the entry that it comes from
	Kind    Kind
	Turn    string // id of the user's message that began the turn; "" before the first
	Time    string // timestamp as recorded
	Text    string
	Cut     bool // Text was longer
	Images  int
	Partial bool // streamed so far; no final message has come
	Tool    *Tool
}

// ToolState is how far a tool call has got.
type ToolState string

// The states of a tool call.
const (
	Running ToolState = "running" // no result yet
	Done    ToolState = "done"
	Failed  ToolState = "failed"
)

// Tool is a tool call in one line.
type Tool struct {
	Call       string // id of the call
	Parent     string // id of the call whose code made this one, as the result's details.parent says; "" for the model's own
	Name       string
	Summary    string // what it was about, in one line; may be ""
	State      ToolState
	Preview    *Preview    // nil: none was recorded
	Attachment *Attachment // nil: none, or more than one
}

// Preview is what a person is shown of a change that a tool made.
type Preview struct {
	Available bool // false: it was damaged, recorded twice, too large or too old
	Path      string
	Lines     []string
	Truncated bool
}

// AttachmentKey names an attachment: a call id is unique only in its turn and
// below its parent.
type AttachmentKey struct{ Turn, Parent, Call string }

// Attachment tells of what a call has attached; Chat.OpenAttachment opens it.
type Attachment struct {
	Key  AttachmentKey
	Name string
	MIME string
	Blob string // a blob reference; "" if the text is in the transcript
}

// Options say what is shown. The zero Options show all that a person may see,
// without redaction.
type Options struct {
	Session  string         // id of the session; previews of others are not shown
	Redact   jsonl.Redactor // nil: nothing is redacted
	MaxText  int            // bytes of an item's text; 0 means DefaultMaxText
	Thinking bool           // show the model's thinking
	Public   bool           // for readers elsewhere: leave out what is local only
	Revision int64          // where revisions begin
}

// DefaultMaxText bounds the text of an item, in bytes.
const DefaultMaxText = 64 << 10

const (
	maxSummary = 160 // bytes of a tool's line
	maxStream  = 4 << 20
)
