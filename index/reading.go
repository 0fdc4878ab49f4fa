package index

import (
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// Values of entry.parentSeq that are no entry.
const (
	noParent      = -1 // none was named
	missingParent = -2 // the one named is not there
)

// entry is a row of entries.
type entry struct {
	id, parent     string
	kind, role     string
	time           millis
	offset, size   int64
	seq, parentSeq int32
	run, line      int32
	use            int32 // its row in reading.use, from 1; 0: none
	hasID          bool
	hasParent      bool
	state          bool
	gap            bool
}

// millis is a time in Unix ms that may be unknown.
type millis struct {
	ms    int64
	known bool
}

func (m millis) value() any {
	if !m.known {
		return nil
	}
	return m.ms
}

type labelRow struct {
	seq       int
	target    string
	label     string
	set       bool // a string was given
	overtaken bool // a later entry of this reading names the same target
}

type usageRow struct {
	seq             int
	time            millis
	provider, model string
	stop            string
	use             jsonl.UsageFields
}

type patchRow struct {
	seq, line    int
	offset, size int64
}

type promptRow struct {
	seq  int
	id   string
	line int
	time millis
	text string
}

// blobSum is the SHA-256 a blob reference names.
type blobSum [32]byte

// facts are what a session's row says besides its fingerprint.
type facts struct {
	state   State
	reason  string
	id      string
	version int // as on disk; 1 if the header has none
	cwd     string
	parent  string
	created millis
	last    millis

	messages, entries    int
	seconds              int // headers after the first
	malformed, recovered int

	title       string
	hasTitle    bool
	titleSource string
	firstPrompt string
}

// resume says where the next reading of a grown file may begin.
type resume struct {
	offset    int64 // 0: at the beginning
	line      int
	malformed int    // lines before it that gave no record
	sum       []byte // of the bytes right before offset
}

// reading is what one pass over a file, or over what was appended to it, gave.
// A tail's rows are only those that are new; what it changes of earlier rows
// is in missing, rerole and reuse and in patches whose seq is below first.
type reading struct {
	facts
	resume
	tail  bool
	first int // seq of the first new entry

	rows    chunks[entry]
	use     chunks[usageRow]
	labels  []labelRow
	prompts []promptRow
	patches map[int]patchRow
	refs    map[blobSum]bool
	missing map[int]int    // earlier entries whose parent has come: its seq
	rerole  map[int]string // earlier entries whose role a patch changed
	reuse   map[int]usageRow
	spent   *factList
	respent map[int]*usageFact // of earlier entries that were patched; nil: nothing any more
	bytes   int64              // read

	archived []archivedRow
	archives []archiveRow // as the files were before they were read
	// effects and calls replace those that are known, if folded.
	folded  bool
	effects []checkpoint.Effect
	calls   []checkpoint.EffectCall
}

// weight is about how many bytes of memory the reading holds.
func (r *reading) weight() int64 {
	n := int64(r.rows.len())*150 + int64(r.use.len())*150 + r.spent.weight() + int64(len(r.archived)+len(r.effects))*250 + 4096
	for i := range r.prompts {
		n += int64(len(r.prompts[i].text)) + 100
	}
	return n
}
