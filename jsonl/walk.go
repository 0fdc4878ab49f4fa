package jsonl

// What the walker expects next.
type expect uint8

const (
	wantValue   expect = iota
	wantElement        // a value or ]
	wantFirst          // a key or }
	wantKey
	wantColon
	wantMore // a comma or the closing bracket
)

// frame is an open array or object.
type frame struct {
	array bool
	start int // where it begins, in the line it begins on
	note  int // index of its note, or -1
}

// note is what a failed attempt learned about a container that began a line.
type note struct {
	line    int   // where it begins
	whole   bool  // it ended well
	endLine int   // where it ended
	end     int64 // just after it, in UTF-8 bytes of the file
}

// How a walk over one line ended.
type walkEnd uint8

const (
	walkDone walkEnd = iota // the value ended
	walkMore                // the line ended inside the value
	walkFail                // a syntax error
)

// walker goes over one JSON value line by line, without recursion and without
// keeping the bytes. Strings, numbers and words end with their line, so
// between lines only the open containers and the expectation remain.
type walker struct {
	stack []frame
	want  expect
	notes []note // of containers that begin a line after the first

	// Of the last token that was taken or that breaks off, for recovery:
	token  int  // where it begins
	after  int  // just after it
	quoted bool // it is a string
	closed int  // if it closed an object inside the value: where that begins, else -1
}

func (w *walker) reset() {
	w.stack = w.stack[:0]
	w.notes = w.notes[:0]
	w.want = wantValue
	w.closed, w.quoted = -1, false
	w.token, w.after = 0, 0
}

// walk goes over the line b from byte i. pos is just after the value, or
// where the error is. line and base, the number of the line and how many bytes
// of the file lie before b, go into notes; first says that a container at i
// gets one.
func (w *walker) walk(b []byte, i, line int, base int64, first bool) (end walkEnd, pos int) {
	for ; i < len(b); first = first && isSpace(b[i-1]) {
		c := b[i]
		if isSpace(c) {
			i++
			continue
		}
		next, ok := w.step(b, i)
		if !ok {
			if next > i && c == '"' { // a string that breaks off
				w.token, w.quoted, w.closed = i, true, -1
			}
			return walkFail, next
		}
		w.token, w.quoted, w.closed = i, c == '"', -1
		switch c {
		case '{', '[':
			f := frame{array: c == '[', start: i, note: -1}
			if first {
				f.note = len(w.notes)
				w.notes = append(w.notes, note{line: line})
			}
			w.stack = append(w.stack, f)
		case '}', ']':
			f := w.stack[len(w.stack)-1]
			w.stack = w.stack[:len(w.stack)-1]
			if f.note >= 0 {
				n := &w.notes[f.note]
				n.whole, n.endLine, n.end = true, line, base+int64(next)
			}
			if !f.array {
				w.closed = f.start
			}
		}
		w.after, i = next, next
		if len(w.stack) == 0 {
			return walkDone, i
		}
	}
	return walkMore, i
}

// step takes one token at i, if it is one that may stand here, and says where
// it ends. Brackets are pushed and popped by the caller.
func (w *walker) step(b []byte, i int) (next int, ok bool) {
	switch c := b[i]; c {
	case '{', '[':
		if !w.value() || len(w.stack) >= maxDepth {
			return i, false
		}
		w.want = wantFirst
		if c == '[' {
			w.want = wantElement
		}
		return i + 1, true
	case '}', ']':
		return i + 1, w.closes(c == ']')
	case ',':
		if w.want != wantMore {
			return i, false
		}
		w.want = wantKey
		if w.stack[len(w.stack)-1].array {
			w.want = wantValue
		}
		return i + 1, true
	case ':':
		if w.want != wantColon {
			return i, false
		}
		w.want = wantValue
		return i + 1, true
	case '"':
		return w.text(b, i)
	}
	if !w.value() {
		return i, false
	}
	w.want = wantMore
	return scalar(b, i)
}

// value reports whether a value may stand here.
func (w *walker) value() bool { return w.want == wantValue || w.want == wantElement }

// closes takes a closing bracket, if it may stand here.
func (w *walker) closes(array bool) bool {
	if len(w.stack) == 0 || w.stack[len(w.stack)-1].array != array {
		return false
	}
	empty := w.want == wantElement
	if !array {
		empty = w.want == wantFirst
	}
	if !empty && w.want != wantMore {
		return false
	}
	w.want = wantMore
	return true
}

// text takes a string, as key or value.
func (w *walker) text(b []byte, i int) (next int, ok bool) {
	switch w.want {
	case wantFirst, wantKey:
		w.want = wantColon
	case wantValue, wantElement:
		w.want = wantMore
	default:
		return i, false
	}
	p := parser{data: b, pos: i + 1}
	for p.pos < len(b) {
		switch c := b[p.pos]; {
		case c == '"':
			return p.pos + 1, true
		case c < 0x20:
			return p.pos, false
		case c == '\\':
			p.buf = p.buf[:0]
			if p.escape() != nil {
				return p.pos, false
			}
		default:
			p.pos++
		}
	}
	return p.pos, false
}

// scalar takes a number, true, false or null.
func scalar(b []byte, i int) (next int, ok bool) {
	p := parser{data: b, pos: i}
	var err error
	switch c := b[i]; {
	case c == '-' || (c >= '0' && c <= '9'):
		_, err = p.number()
	case c == 't':
		err = p.literal("true")
	case c == 'f':
		err = p.literal("false")
	case c == 'n':
		err = p.literal("null")
	default:
		return i, false
	}
	return p.pos, err == nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
