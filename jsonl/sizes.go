package jsonl

// The limits of what is read, in original bytes. They are named here only.
const (
	DefaultMaxLine = 256 << 20 // one line of a transcript, without its line end
	ScopeHeader    = 64 << 10  // the first line of a file that a scope may own
	ListingPrefix  = 4 << 10   // what listing reads of a file's beginning
	ListingTail    = 16 << 10  // and of its end
)

// CurrentVersion is the version of the session files that this program writes
// and the highest that it reads.
const CurrentVersion = 5

// MaxText is how long a string of a session file may be, in UTF-16 code units:
// what goes beyond is cut when it is written. Source: behaviour part 12.
const MaxText = 500_000

// MaxReports is how many damaged lines of one file are named, of those that
// yielded nothing and of those that yielded records: the rest is counted.
const MaxReports = 10_000
