package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// file is a transcript that is looked at.
type file struct {
	at    dirOf
	path  string
	info  storage.Info
	child bool

	faults int // findings that are not ok
	refs   map[string]bool

	checkpoints []string // ids of what stands for entries that were archived
}

// transcript looks at one session file.
func (d *doctor) transcript(ctx context.Context, at dirOf, path string, info storage.Info, child bool) {
	d.opt.Progress(path)
	f := &file{at: at, path: path, info: info, child: child, refs: map[string]bool{}}
	if reason := notPlain(info); reason != "" {
		d.notPlain(ctx, f, reason)
		return
	}
	if isOpen(info) && at.scoped {
		open := Finding{Check: "modes", State: HealthWarn, Path: path, Detail: fmt.Sprintf("others could read it (mode %04o), were its directory not yours alone", info.Mode)}
		d.mendable(ctx, open, d.tighten(path, info.Mode&newFileMode))
	}
	if info.Size > managedLimit {
		d.long(ctx, f)
	} else {
		d.whole(ctx, f)
	}
	d.missingBlobs(ctx, f)
	d.notArchived(ctx, f)
	if f.faults == 0 && ctx.Err() == nil {
		d.ok("session", path, "is whole")
	}
}

func (d *doctor) fault(f *file, state Health, check, detail, fix string) {
	f.faults++
	d.tell(Finding{Check: check, State: state, Path: f.path, Detail: detail, Fix: fix})
}

// notPlain tells of what has a session's name and is left out of all lists. The
// second name that a killed write has left is taken away.
func (d *doctor) notPlain(ctx context.Context, f *file, reason string) {
	if f.info.Kind != storage.Regular {
		d.fault(f, HealthWarn, "refused", reason+", so it is left out of all lists", "put the file itself in its place")
		return
	}
	for _, e := range f.at.entries {
		if of, ok := storage.TempOf(e.Name); ok && of == filepath.Base(f.path) && e.Info.SameFile(f.info) {
			two := Finding{Check: "refused", State: HealthBad, Path: f.path, Detail: "has a second name, which a write that was cut off has left: it is left out of all lists"}
			d.mendable(ctx, two, func(context.Context) (string, error) {
				return "its second name, which a write that was cut off had left, is gone", storage.HealTwin(d.st.fsys, f.path)
			})
			return
		}
	}
	d.fault(f, HealthBad, "refused", reason+", so it is left out of all lists", "copy it, and put the copy in its place")
}

// repairCommand is how a damaged file is mended.
func (f *file) repairCommand(flags string) string {
	if f.at.scoped || f.at.explicit {
		return "gjc-index repair " + quoted(f.path) + flags + " --replace"
	}
	return "gjc-index repair " + quoted(f.path) + flags + " --output NEW.jsonl"
}

// whole reads a file as both programs do.
func (d *doctor) whole(ctx context.Context, f *file) {
	opt := jsonl.LoadOptions{MaxLine: d.opt.MaxLine}
	in := f.at.ahead.take(f.path)
	if in.Verdict == jsonl.Unstable { // or its mode was mended while it was read
		in = f.at.ahead.read(f.path)
	}
	t := in.Transcript
	switch {
	case ctx.Err() != nil:
		return
	case in.Verdict == jsonl.Missing || in.Verdict == jsonl.Unstable:
		f.faults++
		d.ok("session", f.path, "is being written or removed now")
		return
	case in.Verdict == jsonl.ReadFailed:
		d.unreadable(f, in.Cause)
		return
	case t == nil || in.OnlyTail:
		var err error
		t, err = jsonl.Load(ctx, d.st.fsys, f.path, opt)
		if err != nil {
			d.noTranscript(f, t, err)
			return
		}
		t.Upgrade(nil)
	}
	d.lines(f, t.MalformedTotal, t.RecoveredTotal, t.Malformed)
	d.tree(f, t)
	if _, fault := t.StrictFault(); f.faults == 0 && !in.Verdict.Openable() || fault != nil && f.faults == 0 || len(in.Warnings) > 0 && f.faults == 0 {
		d.fault(f, HealthWarn, "strict", "can be read here, but the original program refuses to resume it: "+strictWords(in.Cause), f.repairCommand(""))
	}
	for _, e := range t.Records {
		d.record(f, e.Raw())
		f.checkpoint(e.Raw(), t.Header.ID())
		if id, ok := e.EventID(); ok {
			d.highest = max(d.highest, uint64(id))
		}
	}
	d.placed(f, t.Header.ID(), t.Header.Cwd())
}

func strictWords(err error) string {
	var line *jsonl.LineError
	if errors.As(err, &line) {
		return fmt.Sprintf("line %d has not the shape that it asks for", line.Line)
	}
	return "it holds records that it doesn't know"
}

func (d *doctor) unreadable(f *file, err error) {
	d.fault(f, HealthBad, "read", "can't be read: "+reasonOf(err), "")
}

// noTranscript tells of a file without a header that counts.
func (d *doctor) noTranscript(f *file, t *jsonl.Transcript, err error) {
	var version *jsonl.VersionError
	switch {
	case t == nil:
		if !errors.Is(err, fs.ErrNotExist) {
			d.unreadable(f, err)
		}
	case t.State == jsonl.StateEmpty:
		d.ok("session", f.path, "is empty: there is no session in it")
		f.faults++
	case errors.As(err, &version) && version.Version.Num() == math.Trunc(version.Version.Num()) && t.State == jsonl.StateNewerVersion:
		d.newer(f, version.Version.JSON())
	case errors.As(err, &version):
		d.fault(f, HealthBad, "header", "has a version that no program writes, so nothing of it is listed", f.repairCommand(" --header"))
	default:
		d.fault(f, HealthBad, "header", "has no valid header, so nothing of it is listed; nothing will write to it", f.repairCommand(" --header"))
	}
}

func (d *doctor) newer(f *file, version string) {
	d.fault(f, HealthWarn, "version", "was written by a newer program (version "+version+") and is left alone", "use a newer gjc-index")
}

// lines tells of damaged lines.
func (d *doctor) lines(f *file, lost, recovered int, first []jsonl.LineReport) {
	switch {
	case lost == 1 && len(first) == 1 && first[0].Reason == jsonl.TruncatedTail:
		if d.beingWritten(f.path) {
			f.faults++
			d.ok("torn", f.path, "its last line is being written now")
			return
		}
		d.fault(f, HealthBad, "torn", "its last line is cut off: the last write did not finish. All before it is there", f.repairCommand(""))
	case lost > 0:
		at := 0
		if len(first) > 0 {
			at = first[0].Line
		}
		d.fault(f, HealthBad, "lines", fmt.Sprintf("%s can't be read, the first is line %d; the rest is there", plural(lost, "line", "lines"), at), f.repairCommand(""))
	case recovered > 0:
		d.fault(f, HealthWarn, "lines", plural(recovered, "line is", "lines are")+" damaged; what stands there is read here, and less of it by the original program", f.repairCommand(""))
	}
}

// beingWritten reports whether a writer has the lease of a transcript.
func (d *doctor) beingWritten(path string) bool {
	lease, err := d.st.fsys.Open(leasePath(path))
	if err != nil {
		return false
	}
	err = lease.TryLock(true)
	return errors.Is(errors.Join(err, lease.Close()), storage.ErrLocked)
}

// plural is a number and the words for one or for several.
func plural(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + several
}

// tree tells of entries that hang on nothing.
func (d *doctor) tree(f *file, t *jsonl.Transcript) {
	kinds := map[jsonl.WarningKind]int{}
	for _, w := range append(t.Tree(false).Warnings(), t.Warnings...) {
		kinds[w.Kind]++
	}
	if n := kinds[jsonl.OrphanParent]; n > 0 {
		d.fault(f, HealthWarn, "tree", plural(n, "entry follows", "entries follow")+" one that is not in the file", f.repairCommand(""))
	}
	if n := kinds[jsonl.DuplicateID]; n > 0 {
		d.fault(f, HealthWarn, "tree", plural(n, "entry has", "entries have")+" an id that was used before", f.repairCommand(""))
	}
	if n := kinds[jsonl.FirstKeptMissing] + kinds[jsonl.PatchTargetMissing]; n > 0 {
		d.fault(f, HealthWarn, "tree", plural(n, "record speaks", "records speak")+" of one that is not in the file", f.repairCommand(""))
	}
}

// long reads a file line by line that is too long to be held.
func (d *doctor) long(ctx context.Context, f *file) {
	r, err := d.st.fsys.Open(f.path)
	if err != nil {
		d.unreadable(f, err)
		return
	}
	defer func() { _ = r.Close() }() // was only read
	lost, recovered, head := 0, 0, false
	var first []jsonl.LineReport
	var id, cwd string
	report := func(l jsonl.LineReport) {
		if l.Reason == jsonl.Recovered {
			recovered++
			return
		}
		if lost++; len(first) == 0 {
			first = append(first, l)
		}
	}
	for rec, err := range jsonl.Read(ctx, r, jsonl.ReadOptions{MaxLine: d.opt.MaxLine, Report: report}) {
		if err != nil {
			d.unreadable(f, err)
			return
		}
		if !head && rec.Fields.Type.Equal("session") {
			if v := rec.Fields.Version; rec.Fields.VersionKind == jsonl.Number && v > jsonl.CurrentVersion {
				d.newer(f, strconv.FormatFloat(v, 'g', -1, 64))
				return
			}
			head, id, cwd = true, rec.Fields.ID.Text(), rec.Fields.Cwd.Text()
		}
		if event, ok := jsonl.ParseEventID(rec.Fields.EventID.Text()); ok {
			d.highest = max(d.highest, uint64(event))
		}
		d.record(f, rec.Raw)
		f.checkpoint(rec.Raw, id)
	}
	if !head {
		d.fault(f, HealthBad, "header", "has no valid header, so nothing of it is listed; nothing will write to it", f.repairCommand(" --header"))
		return
	}
	d.lines(f, lost, recovered, first)
	if f.at.scoped && !f.child {
		d.fault(f, HealthWarn, "size", fmt.Sprintf("is %d MiB long, and the original program takes no more than 64", f.info.Size>>20), "gjc-index archive "+quoted(f.path))
	}
	d.placed(f, id, cwd)
}

// placed remembers the session of a scope, and whether it belongs there.
func (d *doctor) placed(f *file, id, cwd string) {
	if !f.at.scoped || f.child {
		return
	}
	d.ids[id] = append(d.ids[id], f.path)
	if f.at.workspace == "" || cwd == f.at.workspace || f.at.gone && isGone(cwd) {
		return
	}
	if who, err := scope.Identify(cwd); err == nil && who.Canonical == f.at.workspace {
		return
	}
	d.strays = append(d.strays, stray{path: f.path, id: id, cwd: cwd, workspace: f.at.workspace, gone: f.at.gone})
	f.faults++
}

var blobMark = []byte(`"blob:sha256:`)

// record remembers the images that a record refers to.
func (d *doctor) record(f *file, raw []byte) {
	for {
		i := bytes.Index(raw, blobMark)
		if i < 0 {
			return
		}
		raw = raw[i+len(blobMark):]
		if len(raw) > 64 && raw[64] == '"' {
			f.refs[string(raw[:64])] = true
		}
	}
}

// checkpoint remembers a record that stands for entries that were archived.
func (f *file) checkpoint(raw []byte, session string) {
	if id := ownCheckpoint(raw, session); id != "" {
		f.checkpoints = append(f.checkpoints, id)
	}
}
