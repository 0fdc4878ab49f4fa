package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// archivePathOf is the archive of a transcript, compressed or not: the one that
// is read, or else the one that there would be.
func archivePathOf(fsys storage.FS, session string) string {
	if _, err := fsys.Lstat(ArchivePath(session)); missing(err) {
		if _, err := fsys.Lstat(PackedArchivePath(session)); err == nil {
			return PackedArchivePath(session)
		}
	}
	return ArchivePath(session)
}

// archive reads what was archived of a session.
func (d *doctor) archive(ctx context.Context, session string) {
	path := archivePathOf(d.st.fsys, session)
	f := &file{at: dirOf{scoped: true}, path: path, refs: map[string]bool{}}
	if !d.opt.Quick {
		d.opt.Progress(path)
		for l, err := range ReadArchive(ctx, d.st.fsys, session) {
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				d.bad("archive", path, "is damaged: what was archived can't all be read ("+reasonOf(err)+"); the session itself is not touched by it", "put a good copy of it in its place")
				return
			}
			d.record(f, l.Record)
		}
		d.missingBlobs(ctx, f)
	}
	if f.faults == 0 {
		d.ok("archive", path, "is whole")
	}
}

// notArchived tells of a session that says that some of it was archived where
// no archive holds that: the archive is gone, or its end is, which looks as if
// a crash had cut it off.
func (d *doctor) notArchived(ctx context.Context, f *file) {
	if len(f.checkpoints) == 0 || d.opt.Quick || ctx.Err() != nil {
		return
	}
	lost, err := unbacked(ctx, d.st.fsys, f.path, f.checkpoints)
	if err != nil || lost == 0 { // one that can't be read is told where it stands
		return
	}
	f.faults++
	name := archivePathOf(d.st.fsys, f.path)
	d.bad("archive", f.path, "has had entries archived that no archive holds: "+filepath.Base(name)+" is missing, or was cut off", "put a good copy of it in its place: "+quoted(name))
}

// unbacked is how many of a transcript's checkpoints no run of its archive has
// left there.
func unbacked(ctx context.Context, fsys storage.FS, path string, checkpoints []string) (lost int, err error) {
	a, err := openArchive(fsys, path)
	if missing(err) {
		return len(checkpoints), nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	runs, err := a.runs(ctx)
	if err != nil {
		return 0, err
	}
	return withoutRun(runs, checkpoints), nil
}

func withoutRun(runs []archiveRun, checkpoints []string) (lost int) {
	left := map[string]bool{}
	for _, r := range runs {
		for _, id := range r.checkpoints {
			left[id] = true
		}
	}
	for _, id := range checkpoints {
		if !left[id] {
			lost++
		}
	}
	return lost
}

// notInArchive is why what a transcript says was archived can't be brought
// back; nil if its archive holds it.
func notInArchive(runs []archiveRun, checkpoints []string) error {
	if n := withoutRun(runs, checkpoints); n > 0 {
		return fmt.Errorf("%w: it is missing, or was cut off, and the session says that entries were archived", ErrArchive)
	}
	return nil
}

var checkpointMark = []byte(`"` + jsonl.KindUsageCheckpoint + `"`)

// ownCheckpoint is the id of a record that stands for entries of the session id
// that were archived; "" of any other record. A copy of a session has those of
// the session that it was made from, whose archive has what they stand for.
func ownCheckpoint(raw []byte, id string) string {
	if !bytes.Contains(raw, checkpointMark) {
		return ""
	}
	v, _, err := jsonl.Parse(raw)
	if err != nil || v.Get("type").Str() != "custom" || v.Get("customType").Str() != jsonl.KindUsageCheckpoint {
		return ""
	}
	for _, t := range v.Get("data").Get("totals").Items() {
		if t.Get("origin").Str() == id {
			return v.Get("id").Str()
		}
	}
	return ""
}
