package index

import "time"

// Failure is a file that was left out, and why. The reason holds none of the
// file's text.
type Failure struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Report says what a Refresh or Rebuild found and did.
type Report struct {
	Added, Changed, Removed, Same int // files
	Failed                        []Failure
	Files                         int   // session files on disk, the failed ones included
	Bytes                         int64 // read from session files
	Elapsed                       time.Duration
	Prompts                       int // rows of history.db added, changed or removed
	// History says why prompts of history.db are left out; "" if none are.
	History string

	// Busy says that another process was writing: what changed on disk is not
	// in the database yet and answers come from what was there.
	Busy bool
	// NoIndex says that there is no database to answer from: sessions are
	// listed from the files.
	NoIndex bool
	// Unwritten says in plain words why what changed could not be written; nil
	// if it was, or if there is no home.
	Unwritten error
}

// Progress is how far a build has come. Total is an estimate until the walk is
// done.
type Progress struct {
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

// Status says what the database holds and how it is kept.
type Status struct {
	Path     string // of the database; "" if there is none
	Journal  string // journal mode, as SQLite says it
	ReadOnly bool
	Schema   int64 // number of the last migration
	Extract  int   // which rules its rows were made by
	Built    time.Time
	Size     int64 // bytes of the database, its log included

	Files, Sessions, Children, Damaged int
	Empty                              int // files that hold nothing but white space
	Hidden                             int // sources of sessions that were migrated: their copies count
	Entries, Prompts, Labels, Usage    int64
	Estimated                          bool  // of large files only the beginnings are counted
	FileBytes                          int64 // of the session files indexed
	Notes                              []string
	Watcher                            *WatchedError // the process that watches the home; nil if none does
}

// Difference is one way in which the database and the files disagree. Line is 0
// where the difference is about the whole file.
type Difference struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
}
