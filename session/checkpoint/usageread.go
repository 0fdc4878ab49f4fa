package checkpoint

import "github.com/gajae-code/gjc-index/jsonl"

// OpenAnswer is an answer that a usage checkpoint keeps by itself, since
// records of its request may still come.
type OpenAnswer struct {
	Entry     string // id of the message
	Timestamp string // as it stood
	Response
}

// ReadUsage reads the data of a usage checkpoint: the totals, and the answers
// that it keeps by themselves. ok is false if its shape is wrong.
func ReadUsage(data jsonl.Value) (totals []UsageTotal, open []OpenAnswer, ok bool) {
	u := readUsage(data)
	if u == nil {
		return nil, nil, false
	}
	for _, a := range u.open {
		open = append(open, OpenAnswer{a.id, a.timestamp, a.r})
	}
	return u.Totals(), open, true
}
