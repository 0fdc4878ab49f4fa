package session

import "time"

// Info is what a listing says of one session. It comes from the first 4 KiB of
// the file and, for titles and moves, from its last 16 KiB.
// Source: behaviour part 15.
type Info struct {
	Path          string
	ID            string
	Cwd           string // "" if the header has none
	Title         string // the header's, after patches; else the last short summary seen
	HasTitle      bool
	ParentSession string // opaque; "" if none
	Created       time.Time
	HasCreated    bool // false where the header's time can't be read
	Modified      time.Time
	Size          int64 // bytes
	MessageCount  int   // of what was read
	Estimated     bool  // the file is longer than what was read
	FirstMessage  string
	AllText       string // of users and assistants, of what was read

	titleIsSummary bool   // Title is a compaction's short summary
	firstBlock     string // the first text of the first prompt
}

// Listing is a list of sessions and what was left out of it.
type Listing struct {
	Sessions []Info
	LeftOut  []LeftOut
	Foreign  int // transcripts of other workspaces, passed over
	Hidden   int // deleted sessions, and sources of migrated ones
}

// NoMessages stands for the first message of a session without one.
const NoMessages = "(no messages)"
