package jsonl

// State says what a file is as a transcript.
type State string

// The states of a transcript file.
const (
	StateOK           State = "ok"
	StateEmpty        State = "empty"      // nothing but white space
	StateBadHeader    State = "bad_header" // no valid header: never overwritten, listed as damaged
	StateNewerVersion State = "newer_version"
)

// Reason says why a line yielded no record, or that it did after all.
type Reason string

// The reasons of a LineReport.
const (
	NotJSON       Reason = "not_json"
	NotObject     Reason = "not_object"     // JSON, but no object
	OnlyNUL       Reason = "nul"            // nothing but NULs
	TooLong       Reason = "too_long"       // past the limit, skipped unread
	TruncatedTail Reason = "truncated_tail" // the last line, without a line end
	Recovered     Reason = "recovered"      // records were taken from a damaged line
	NotRecord     Reason = "not_record"     // an object of the wrong shape; strict inspection only
)

// LineReport is one damaged line. It never holds text of the line.
type LineReport struct {
	Line      int // 1-based, physical
	Reason    Reason
	Recovered int // how many records were taken from it; 0 unless Reason is Recovered
}

// WarningKind says what is odd about a record that did load.
type WarningKind string

// The kinds of a Warning.
const (
	OrphanParent       WarningKind = "orphan_parent"  // its parent is missing; the walk ends there
	BridgedParent      WarningKind = "bridged_parent" // its parent is missing where a line was lost; linked to the record before
	DuplicateID        WarningKind = "duplicate_id"   // its id was used before
	FirstKeptMissing   WarningKind = "first_kept_missing"
	PatchTargetMissing WarningKind = "patch_target_missing"
	UnknownType        WarningKind = "unknown_type" // strict inspection only
)

// Warning is one record that loaded and is odd.
type Warning struct {
	Line int // 1-based, physical
	Kind WarningKind
}
