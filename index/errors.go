package index

import (
	"errors"
	"fmt"
)

// ErrStale is a session file that can't be read by the places the index knows:
// it has changed since it was indexed, or its lines mean something only
// together. Load it whole.
var ErrStale = errors.New("index does not have the file as it is")

// ErrNoIndex says that there is no database to ask: see Index.Notes.
var ErrNoIndex = errors.New("there is no index")

// errNewer is a database that a later version of this program made.
var errNewer = errors.New("it was made by a newer program")

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
