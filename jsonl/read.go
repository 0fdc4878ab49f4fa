package jsonl

// Record is one object of a transcript as Read finds it.
type Record struct {
	Line        int     // 1-based physical line where the value begins
	Offset, End int64   // original bytes: where the value begins; just after its line end, or the file's end
	Raw         []byte  // the value's bytes as UTF-8; valid until the next record
	Fields      *Fields // filled; valid until the next record
	Recovered   bool    // taken from a damaged line
	Terminated  bool    // a line end follows
}
