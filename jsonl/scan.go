package jsonl

// Scan fills f from one line. It returns false for a line it doesn't vouch
// for; then f means nothing, and Parse and Of decide.
func (f *Fields) Scan(line []byte) bool {
	v, n, err := Parse(line)
	if err != nil || !v.Is(Object) {
		return false
	}
	p := parser{data: line, pos: n}
	p.space()
	if p.pos != len(line) {
		return false
	}
	f.Of(line, v)
	return true
}
