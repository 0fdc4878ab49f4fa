package index

import "time"

// State is what became of reading a file.
type State string

// The states. The first four are those of a transcript.
const (
	StateOK     State = "ok"
	StateEmpty  State = "empty"         // nothing but white space
	StateHeader State = "bad_header"    // no header where one must be
	StateNewer  State = "newer_version" // a version above ours
	// StateRefused is a name that ends in .jsonl and is no plain file of one
	// link: a symbolic link, FIFO, directory, hard link.
	StateRefused State = "refused"
	// StateUnreadable is a file that could not be opened or read to its end.
	StateUnreadable State = "unreadable"
)

// Row is one session as listed. Times are zero where the file says none.
type Row struct {
	ID          string // "" if the file has no header
	Path        string // absolute
	Scope       string // name of the directory under sessions; "" for a file right in it
	Cwd         string
	Project     string // the workspace, or the repository its worktrees share
	Title       string
	HasTitle    bool // an empty title is a title
	TitleSource string
	FirstPrompt string // first user text that is not empty, at most 16 KiB of it
	Created     time.Time
	Active      time.Time // the last record's time, or the file's (see Filter)
	Modified    time.Time // the file's
	Messages    int
	Entries     int
	Size        int64  // bytes
	Version     int    // as on disk; 1 if the header has none
	Parent      string // what the header says; for a child of a session's directory that session's id
	Child       bool   // a subagent transcript in its session's own directory

	State     State
	Malformed int    // lines that gave no record
	Damage    string // "" or what is wrong with the file, for people and programs

	CwdMissing bool // Cwd is given and no directory has that name now
	Estimated  bool // read from the file's prefix: counts are of the prefix only
}

// Sort is an order of sessions.
type Sort string

// The orders; each is newest, largest or (SortTitle) first letter first.
const (
	SortActive   Sort = "active"
	SortCreated  Sort = "created"
	SortModified Sort = "modified"
	SortTitle    Sort = "title"
	SortMessages Sort = "messages"
	SortSize     Sort = "size"
)

// Damaged says what to do with files that can't be read as sessions.
type Damaged uint8

// The choices of Filter.Damaged.
const (
	DamagedOmit Damaged = iota
	DamagedOnly         // also those that are readable and have malformed lines; not files that hold nothing
	DamagedToo          // and files that hold nothing
	DamagedLost         // those that can't be read as sessions alone; not files that hold nothing
)

// Filter selects and orders sessions. The zero Filter is all sessions but
// damaged files and children, the last active first.
//
// A session's last activity is the time of its last record. A time that can't
// be read, or lies more than 24 hours after now, counts as the file's time,
// since copies and syncs restamp files. That is judged when asked, not when
// indexed.
type Filter struct {
	Cwd      string // exactly this working directory
	Project  string // any workspace of this project
	Since    time.Time
	Until    time.Time // active before this time
	Sort     Sort      // "" is SortActive
	Reverse  bool
	Limit    int // 0 is no limit
	Offset   int
	Damaged  Damaged
	Children bool // children too

	ref   string // only what a reference may mean, or more; see Find
	brief bool   // numbers of rows don't matter
}

// EntryRow is one entry of a session and where it lies in the file.
type EntryRow struct {
	Seq    int    // place among the session's entries, from 0
	ID     string // "" if it has none
	Parent string // parentId as written; "" for null or none
	// ParentSeq is the entry that Parent means: the nearest earlier one with
	// that id, else the first later one; -1 if there is none.
	ParentSeq    int
	Type, Role   string
	Time         time.Time // zero if absent or unreadable
	Line         int
	Offset, Size int64 // bytes of the value in the file
}

// LabelRow is one label entry. Current marks the one that holds for its target.
type LabelRow struct {
	Seq     int
	Target  string
	Label   string // "" clears
	Current bool
}
