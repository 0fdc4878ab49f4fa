package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/storage"
)

// Health is how well something is.
type Health string

// What a Finding can be.
const (
	HealthOK   Health = "ok"
	HealthWarn Health = "warn" // nothing is lost, but somebody should know
	HealthBad  Health = "bad"  // bytes or records are lost, damaged, or unsafe to use
)

// Finding is what a check found, in words for people.
type Finding struct {
	Check  string // a short name, of a fixed set
	State  Health
	Path   string
	Detail string // what it means
	Fix    string // the command that mends it, or what to do; "" if nothing is to be done
	Fixed  bool   // it was mended just now
}

// DoctorOptions say how deep is looked and whether anything is mended.
type DoctorOptions struct {
	Fix      bool               // mend what can be mended without losing a byte
	Quick    bool               // leave out what reads every stored image and every archive
	Dir      string             // only the session files of this directory; "" is the home
	MaxLine  int64              // longest line that is read, in bytes; 0 is jsonl.DefaultMaxLine
	Progress func(path string)  // told what is looked at; may be nil
	Free     func(string) int64 // room on a file system in bytes, -1 if unknown; nil: storage.Free
	Network  func(string) bool  // is a network file system; nil: storage.IsNetwork
}

// Doctor looks at everything in the home but its databases, which are not this
// room's, and tells each finding as it comes; what needs the whole home comes
// last. Nothing is changed unless opt.Fix says so, and then no byte is lost:
// what it did is in the finding. Another run finds what was mended well.
//
// Memory grows with the number of sessions, not with their length: a file of
// more than 64 MiB is read line by line, and its tree is not looked at. The
// errors are those of ctx and tell; whatever is wrong with the home is a
// finding.
func (s *Store) Doctor(ctx context.Context, opt DoctorOptions, tell func(Finding) error) error {
	if opt.Progress == nil {
		opt.Progress = func(string) {}
	}
	if opt.Network == nil {
		opt.Network = storage.IsNetwork
	}
	if opt.Free == nil {
		opt.Free = func(path string) int64 {
			if free, ok := storage.Free(path); ok {
				return free
			}
			return -1
		}
	}
	d := &doctor{st: s, opt: opt, out: tell, ids: map[string][]string{}, blobs: map[string]bool{}}
	err := d.run(ctx)
	if err == nil {
		err = d.stop
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

// doctor is one run.
type doctor struct {
	st   *Store
	opt  DoctorOptions
	out  func(Finding) error
	stop error // of out: nothing more is looked at

	ids     map[string][]string // session id: transcripts in scopes
	orphans []orphan            // archives whose transcript is not there
	strays  []stray             // transcripts in another workspace's scope
	blobs   map[string]bool     // whether a blob is there, by its sum
	highest uint64              // event id of any transcript
}

// tell says a finding.
func (d *doctor) tell(f Finding) {
	if d.stop == nil {
		d.stop = d.out(f)
	}
}

func (d *doctor) ok(check, path, detail string) {
	d.tell(Finding{Check: check, State: HealthOK, Path: path, Detail: detail})
}

func (d *doctor) warn(check, path, detail, fix string) {
	d.tell(Finding{Check: check, State: HealthWarn, Path: path, Detail: detail, Fix: fix})
}

func (d *doctor) bad(check, path, detail, fix string) {
	d.tell(Finding{Check: check, State: HealthBad, Path: path, Detail: detail, Fix: fix})
}

// fixCommand mends what can be mended without a person.
const fixCommand = "gjc-index doctor --fix"

// mendable tells a finding that --fix mends. mend says what it did.
func (d *doctor) mendable(ctx context.Context, f Finding, mend func(ctx context.Context) (done string, err error)) {
	f.Fix = fixCommand
	if !d.opt.Fix || ctx.Err() != nil || d.stop != nil {
		d.tell(f)
		return
	}
	done, err := mend(ctx)
	switch {
	case err == nil:
		f.Detail, f.Fix, f.Fixed = done, "", true
	case errors.Is(err, ErrBusy), errors.Is(err, ErrProtected), errors.Is(err, storage.ErrLocked):
		f.Detail += "; it is in use now, so it was left alone"
		f.Fix = fixCommand + ", once nobody uses it"
	default:
		f.Detail += "; it could not be mended: " + reasonOf(err)
		f.Fix = ""
	}
	d.tell(f)
}

func (d *doctor) run(ctx context.Context) error {
	if d.opt.Dir != "" {
		d.directory(ctx, dirOf{path: d.opt.Dir, explicit: true})
		return ctx.Err()
	}
	if !d.homeThere() {
		return nil
	}
	d.place()
	d.modes()
	d.trash(ctx)
	for _, step := range []func(context.Context){d.directories, d.storedBlobs, d.sequence, d.sameIDs, d.lostArchives, d.halfMoves} {
		if ctx.Err() != nil || d.stop != nil {
			return ctx.Err()
		}
		step(ctx)
	}
	return nil
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r == '/' || r == '.' || r == '_' || r == '-' || r == ':' || r == '+' || r == '@' || r == '\\' && filepath.Separator == '\\' ||
			r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
