package session

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// sidecarEndings are the endings of what stands beside a transcript, but for its
// own directory.
var sidecarEndings = []string{".meta.json", ".leaf.json", ".pin.json", ".archive.ndjson", ".archive.ndjson.zst", ".psm.ndjson", ".psm.status.json"}

// sidecarOf is the ending of a sidecar's name; "" of any other name.
func sidecarOf(name string) string {
	for _, end := range sidecarEndings {
		if strings.HasSuffix(name, end) && len(name) > len(end) {
			return end
		}
	}
	return ""
}

// cutOffAfter is how old a temporary file must be so that nobody is at it.
const cutOffAfter = time.Hour

// beside looks at a file that is no transcript. entries are all of the directory,
// by name.
func (d *doctor) beside(ctx context.Context, at dirOf, path string, e storage.DirEntry, entries []storage.DirEntry) {
	if of, ok := storage.TempOf(e.Name); ok {
		age := d.st.opt.Now().Sub(time.Unix(0, e.Info.ModTime))
		if age > cutOffAfter && e.Info.Links == 1 {
			d.warn("leftover", path, "was left by a write of "+of+" that was cut off; nothing reads it", "if you don't miss anything: rm "+quoted(path))
		}
		return
	}
	if !at.scoped && !at.explicit {
		return // an older layout has nothing of ours
	}
	if of, ok := strings.CutSuffix(e.Name, ".lease"); ok && strings.HasPrefix(of, ".") {
		if !hasSorted(entries, of[1:]+".jsonl") {
			d.lease(ctx, path)
		}
		return
	}
	if of, ok := copyOf(e.Name); ok {
		d.mendedCopy(ctx, at, path, of, entries)
		return
	}
	if primary, ok := backupOf(e.Name); ok && !hasSorted(entries, primary) {
		f := Finding{Check: "backup", State: HealthBad, Path: path, Detail: "is what a write that was cut off has left of " + primary + ", which is missing"}
		d.mendable(ctx, f, func(context.Context) (string, error) {
			left, err := d.st.promoteBackups(at.path)
			if err == nil && slices.ContainsFunc(left, func(l LeftOut) bool { return l.Path == path }) {
				err = fs.ErrPermission
			}
			return "the newest backup of " + primary + " has its name again", err
		})
		return
	}
	if end := sidecarOf(e.Name); end != "" {
		d.sidecar(ctx, at, path, end, entries)
	}
}

// lease takes the lock file away of a session that is gone, if nobody has it.
func (d *doctor) lease(ctx context.Context, path string) {
	f := Finding{Check: "leftover", State: HealthWarn, Path: path, Detail: "is the lock file of a session that is not there; it stands in nobody's way"}
	d.mendable(ctx, f, func(context.Context) (string, error) {
		lock, err := d.st.fsys.TryLock(path, storage.Exclusive)
		if err != nil {
			return "", err
		}
		stem := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "."), ".lease")
		there, err := d.st.isThere(filepath.Join(filepath.Dir(path), stem+".jsonl"))
		if err == nil && !there {
			err = d.st.fsys.Remove(path)
		}
		return "the lock file of a session that is not there is gone", errors.Join(err, lock.Unlock())
	})
}

// mendedCopy tells of a copy that a repair has made.
func (d *doctor) mendedCopy(ctx context.Context, at dirOf, path, of string, entries []storage.DirEntry) {
	session := filepath.Join(at.path, of)
	damaged := strings.TrimSuffix(filepath.Base(path), repairedSuffix) + damagedSuffix
	switch {
	case hasSorted(entries, of):
		d.ok("repaired", path, "is a sound copy of "+of)
	case hasSorted(entries, damaged):
		f := Finding{Check: "repaired", State: HealthBad, Path: session, Detail: "is missing: a repair was cut off before its sound copy had the name"}
		d.mendable(ctx, f, func(context.Context) (string, error) {
			_, err := d.st.finishRepair(session)
			return "a repair that was cut off is finished: the sound copy has the name", err
		})
	default:
		d.warn("repaired", path, "is a sound copy of a session that is not there", "mv -n "+quoted(path)+" "+quoted(session))
	}
}

// sidecar looks at a file about a transcript.
func (d *doctor) sidecar(ctx context.Context, at dirOf, path, end string, entries []storage.DirEntry) {
	stem := strings.TrimSuffix(path, end)
	if !hasSorted(entries, filepath.Base(stem)+".jsonl") {
		d.orphans = append(d.orphans, orphan{path: path, stem: filepath.Base(stem), end: end, explicit: at.explicit})
		return
	}
	session := stem + ".jsonl"
	switch end {
	case ".meta.json":
		d.meta(ctx, session)
	case ".leaf.json":
		if !d.holdsJSON(path, maxLeafFile) {
			f := Finding{Check: "sidecars", State: HealthWarn, Path: path, Detail: "can't be read, so the branch that was chosen is forgotten; the last entry counts"}
			d.mendable(ctx, f, func(context.Context) (string, error) {
				name, err := d.st.renameAside(path)
				return "it could not be read and is kept as " + filepath.Base(name), err
			})
		}
	case archiveEnding, archiveEnding + packedEnding:
		if end != archiveEnding && hasSorted(entries, filepath.Base(stem)+archiveEnding) {
			return // the plain one counts
		}
		d.archive(ctx, session)
	case ".psm.ndjson":
		d.psm(ctx, path)
	case ".psm.status.json":
		if !d.holdsJSON(path, maxMetaFile) {
			d.warn("sidecars", path, "can't be read; the next pass writes it anew", "")
		}
	}
}

// holdsJSON reports whether a file is one JSON object.
func (d *doctor) holdsJSON(path string, most int64) bool {
	text, err := storage.ReadFile(d.st.fsys, path, most)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	v, err := jsonl.ParseString(string(text))
	return err == nil && v.Is(jsonl.Object)
}

// renameAside gives a file that can't be read another name.
func (s *Store) renameAside(path string) (name string, err error) {
	for n := range asideTries {
		name = s.asideName(path, n)
		if err = s.fsys.RenameNoReplace(path, name); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		err = s.fsys.SyncDir(filepath.Dir(path))
	}
	return name, err
}

// meta looks at metadata. They are made from the transcript, so nothing of them
// can be lost.
func (d *doctor) meta(ctx context.Context, session string) {
	path := MetaPath(session)
	if d.holdsJSON(path, maxMetaFile) {
		if _, fits, err := ReadMeta(d.st.fsys, session); err == nil && !fits {
			d.ok("sidecars", path, "is out of date, and made anew when it is needed")
		}
		return
	}
	f := Finding{Check: "sidecars", State: HealthWarn, Path: path, Detail: "can't be read, which costs time and nothing else"}
	d.mendable(ctx, f, func(ctx context.Context) (string, error) {
		return "was made anew from its session", d.st.remakeMeta(ctx, session)
	})
}

// remakeMeta writes the metadata of a transcript anew, under its lease.
func (s *Store) remakeMeta(ctx context.Context, path string) (err error) {
	held, err := s.hold(ctx, path, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.release(false)) }()
	m, err := BuildMeta(ctx, s.fsys, path)
	if err != nil {
		return err
	}
	return s.writeMetaFile(ctx, path, m)
}

// psm reads the log of summaries.
func (d *doctor) psm(ctx context.Context, path string) {
	r, err := d.st.fsys.Open(path)
	if err != nil {
		d.warn("sidecars", path, "can't be read: "+reasonOf(err), "")
		return
	}
	defer func() { _ = r.Close() }() // was only read
	lost := 0
	count := func(l jsonl.LineReport) {
		if l.Reason != jsonl.TruncatedTail {
			lost++
		}
	}
	for _, err := range jsonl.Read(ctx, r, jsonl.ReadOptions{Report: count}) {
		if err != nil {
			d.warn("sidecars", path, "can't be read: "+reasonOf(err), "")
			return
		}
	}
	if lost > 0 {
		d.warn("sidecars", path, plural(lost, "summary", "summaries")+" can't be read; the next pass makes what is missing again", "")
	}
}
