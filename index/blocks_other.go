//go:build !amd64

package index

// passStrange passes over nothing: nextStrange looks at 8 bytes at once.
func passStrange(_ []byte, pos int, _ uint64) int { return pos }

// passTriple passes over nothing: skipNone looks at 8 bytes at once.
func (p *prefilter) passTriple(_ []byte, pos int) int { return pos }
