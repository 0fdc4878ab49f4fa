package index

import "fmt"

// AmbiguousError is a reference that begins the ids of several sessions.
type AmbiguousError struct {
	Ref        string
	Candidates []Row // the last active first, at most 20
	Total      int
}

// Error names the reference and the number of candidates.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("session %s: %d sessions begin so", e.Ref, e.Total)
}
