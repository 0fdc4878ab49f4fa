package jsonl

import "bytes"

// attempt walks the value that begins at byte first of the current line, n
// bytes long, and says where it ends: at byte to of the window, on line last.
//
// A value over several lines that fails drops only its first line, and the
// next line is tried anew. So that many such lines (100,000 of "[") don't cost
// a walk each, a failed walk leaves notes about every container that began a
// line on its way: it ended well there, or it fails where the walk failed.
func (r *reader) attempt(n int, ended bool, first int) (to, last int, ok bool) {
	for len(r.notes) > 0 && r.notes[0].line < r.line {
		r.notes = r.notes[1:]
	}
	if len(r.notes) > 0 && r.notes[0].line == r.line {
		known := r.notes[0]
		return int(known.end - r.taken), known.endLine, known.whole
	}
	r.walker.reset()
	end, pos := r.walker.walk(r.rest()[:n], first, r.line, r.taken, false)
	at, line := 0, r.line
	for end == walkMore && ended {
		at += n + 1
		state := lineLong
		if int64(at) <= r.maxLine || at < minValue {
			n, ended, state = r.span(r.ctx, at)
		}
		if state != lineWhole {
			end = walkFail
			break
		}
		line++
		end, pos = r.walker.walk(r.rest()[at:at+n], 0, line, r.taken+int64(at), true)
	}
	if end == walkDone {
		return at + pos, line, true
	}
	if c := r.rest()[first]; c == '{' || c == '[' {
		r.notes = append([]note(nil), r.walker.notes...)
	}
	return 0, 0, false
}

// minValue is how long a value over several lines may be although the limit
// of a line is lower.
const minValue = 16 << 20

// recover finds complete objects of record shape in b from byte from on and
// adds them to r.found. What stands before and between them is skipped, be it
// torn records, NULs or garbage. An object inside a torn record counts only if
// nothing but the break follows it, since only then it may be a record that
// was written there; one inside a string never does, its quotes are escaped.
// Linear: a try that fails goes on where it failed, or at the string before.
func (r *reader) recover(b []byte, from int) {
	for i := from; ; {
		next := bytes.IndexByte(b[i:], '{')
		if next < 0 {
			return
		}
		i += next
		w := &r.walker
		w.reset()
		end, pos := w.walk(b, i, r.line, 0, false)
		switch {
		case end == walkDone:
			r.take(b, i, pos)
			i = pos
		case w.closed >= 0:
			r.take(b, w.closed, w.after)
			i = w.after
		case w.quoted:
			i = max(w.token, i) + 1
		default:
			i = max(pos, i+1)
		}
	}
}

// take adds an object to r.found if it has the shape of a record.
func (r *reader) take(b []byte, from, to int) {
	raw := b[from:to]
	r.fields.read(raw)
	if (r.fields.Type.Ok() && r.fields.Timestamp.Ok()) || isPatch(raw, &r.fields) {
		r.found = append(r.found, extent{from, to})
	}
}

// read fills f from a value that is known to be an object: the fast way, or
// the exact one where that declines.
func (f *Fields) read(raw []byte) {
	if f.Scan(raw) {
		return
	}
	v, _, err := Parse(raw)
	if err != nil {
		f.reset()
		return
	}
	f.Of(raw, v)
}
