package index

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// Role says whose texts are searched.
type Role string

// The roles. A Hit of RoleAny may have others too, as the file says them.
const (
	RoleUser      Role = "user"      // messages of role user
	RoleAssistant Role = "assistant" // messages of role assistant
	RoleTool      Role = "tool"      // results of tools; commands and their output
	// RoleAny is all of them, and messages of any other role, custom messages,
	// and the summaries of compactions and branches.
	RoleAny Role = "any"
)

// ScanFile is one file to search.
type ScanFile struct {
	Path      string
	SessionID string
	Cwd       string
	// Newest is a time that no record of the file is later than; such a file
	// may be passed over once enough newer hits are there. Zero: not known.
	Newest time.Time
	// Archived says that an archive may lie beside the file: what only that
	// holds is searched as well.
	Archived bool
}

// ScanOptions says what Scan looks for. The zero value is all texts.
type ScanOptions struct {
	Role    Role // "" is RoleAny
	Since   time.Time
	Until   time.Time // before this time
	Limit   int       // 0: all
	MaxLine int64     // bytes; 0: jsonl.DefaultMaxLine
	Workers int       // files read at once; 0: one a core

	hidden *hidden // texts of the user that are not shown; nil: none
}

// ScanFailure is a file that was not searched whole.
type ScanFailure struct {
	Path string
	Err  error
}

// Scan searches all texts of transcripts by reading them: the texts that hold
// every term of q, the newest first, equal texts once. An empty q gives the
// newest texts.
//
// A message's text is that of its text blocks, joined with a blank; thinking
// and the arguments of tool calls are not searched. Where a patch replaced a
// message's text the new one counts. A text without a readable time is the
// oldest. Files that vanish or can't be read are reported, and never an error;
// the only errors are those of ctx. Files given first are read first.
//
// Memory is bounded by a chunk, or the longest line, for each worker and by the
// texts of the answer.
func Scan(ctx context.Context, fsys storage.FS, files []ScanFile, q Query, opt ScanOptions) ([]Hit, []ScanFailure, error) {
	sc := &scan{
		fsys: fsys, query: q, opt: opt, filter: newPrefilter(q),
		top: newTop(opt.Limit), failed: make([]error, len(files)), seed: maphash.MakeSeed(),
	}
	if sc.opt.Role == "" {
		sc.opt.Role = RoleAny
	}
	if sc.opt.MaxLine <= 0 {
		sc.opt.MaxLine = jsonl.DefaultMaxLine
	}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(workers, len(files)) {
		running.Go(func() {
			w := &scanWorker{scan: sc}
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				sc.failed[i] = w.file(ctx, &files[i])
			}
		})
	}
	running.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("search transcripts: %w", err)
	}
	var failures []ScanFailure
	for i, err := range sc.failed {
		if err != nil {
			failures = append(failures, ScanFailure{files[i].Path, err})
		}
	}
	return sc.top.hits(q), failures, nil
}

// scan is one search, shared by its workers.
type scan struct {
	fsys   storage.FS
	query  Query
	opt    ScanOptions
	filter *prefilter
	failed []error // by file
	seed   maphash.Seed

	mu  sync.Mutex
	top *top
}

// wants reports whether texts of a role are searched.
func (sc *scan) wants(role Role) bool {
	return sc.opt.Role == RoleAny || sc.opt.Role == role
}

// within reports whether a text of that time is searched.
func (sc *scan) within(at millis) bool {
	if !sc.opt.Since.IsZero() && (!at.known || at.ms < ceilMilli(sc.opt.Since)) {
		return false
	}
	return sc.opt.Until.IsZero() || at.known && at.ms < ceilMilli(sc.opt.Until)
}
