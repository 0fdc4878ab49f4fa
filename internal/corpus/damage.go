package corpus

import (
	"bytes"
	"math/rand/v2"
)

// damage spoils a transcript in one of the ways that people's files are spoilt
// in, and names the way.
func damage(rnd *rand.Rand, data []byte) ([]byte, string) {
	lines := bytes.SplitAfter(data, []byte{'\n'})
	mid := 1 + rnd.IntN(len(lines)-2)
	join := func(ls ...[]byte) []byte { return bytes.Join(ls, nil) }
	before, after := join(lines[:mid]...), join(lines[mid+1:]...)
	line := lines[mid]
	switch rnd.IntN(9) {
	case 0:
		return data[:len(data)-1-rnd.IntN(len(lines[len(lines)-2])-2)-1], "torn tail"
	case 1:
		return join(before, make([]byte, 300), []byte{'\n'}, after), "NULs for a record"
	case 2:
		return join(bytes.TrimSuffix(before, []byte{'\n'}), line, after), "glued records"
	case 3:
		return join(before, []byte("tail\":\"of another record\"}\n"), line, after), "garbage line"
	case 4:
		return data[2:], "header damaged"
	case 5:
		return nil, "empty"
	case 6:
		return join([]byte(`{"type":"session","version":6,"id":"newer-`), []byte{'a' + byte(rnd.IntN(26))}, []byte("\",\"timestamp\":\"2026-02-01T00:00:00.000Z\",\"cwd\":\"/proj/newer\"}\n"), join(lines[1:]...)), "newer version"
	case 7:
		return join([]byte("{\"type\":\"title\",\"title\":\"before the header\"}\n"), data), "title before the header"
	}
	return join(before, line[:len(line)/2], []byte{'\n'}, after), "torn record inside"
}
