package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
)

// orphan is what belongs to a transcript that is not beside it.
type orphan struct {
	path, stem, end string
	explicit        bool
}

// stray is a transcript in a scope whose header names another workspace: a move
// was cut off, or somebody has put it there.
type stray struct {
	path, id, cwd, workspace string
	gone                     bool // the scope's workspace does not exist
}

// sameIDs tells of sessions that are there more than once.
func (d *doctor) sameIDs(ctx context.Context) {
	var ids []string
	for id, paths := range d.ids {
		if len(paths) > 1 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		paths := d.ids[id]
		d.warn("twice", paths[0], fmt.Sprintf("its session id stands in %d files, so lists show the latest only; the others: %s", len(paths), join(paths[1:], filepath.Dir(paths[0]))),
			"look at them with gjc-index show, and delete the one that you don't want")
	}
}

// join names files, those in dir by their names alone.
func join(paths []string, dir string) string {
	text := ""
	for i, p := range paths {
		if i == 5 {
			return text + fmt.Sprintf(" and %d more", len(paths)-i)
		}
		if i > 0 {
			text += ", "
		}
		if filepath.Dir(p) == dir {
			p = filepath.Base(p)
		}
		text += p
	}
	return text
}

// lostArchives brings what belongs to a session back beside it: an archive by
// the session id in it, the rest by its name. A move that was cut off leaves
// such, and so does a rename by hand.
func (d *doctor) lostArchives(ctx context.Context) {
	stems := map[string][]string{}
	for _, paths := range d.ids {
		for _, p := range paths {
			stems[stemName(p)] = append(stems[stemName(p)], p)
		}
	}
	for _, o := range d.orphans {
		if ctx.Err() != nil {
			return
		}
		owners := stems[o.stem]
		if o.isArchive() {
			owners = d.ids[d.archiveOf(o.path)]
		}
		d.orphan(ctx, o, owners)
	}
}

// isArchive reports whether it is an archive, compressed or not.
func (o *orphan) isArchive() bool {
	return o.end == archiveEnding || o.end == archiveEnding+packedEnding
}

// archiveOf is the id of the session that an archive was made of.
func (d *doctor) archiveOf(path string) string {
	a, err := openArchiveAt(d.st.fsys, path)
	if err != nil {
		return ""
	}
	defer func() { _ = a.Close() }() // was only read
	head, err := a.head()
	if err != nil {
		return ""
	}
	v, _, err := jsonl.Parse(head)
	if err != nil || v.Get("type").Str() != archiveBegin {
		return ""
	}
	return v.Get("session").Str()
}

func (d *doctor) orphan(ctx context.Context, o orphan, owners []string) {
	f := Finding{Check: "orphan", State: HealthWarn, Path: o.path, Detail: "belongs to a session that is not there; it is kept"}
	if o.end == ".meta.json" || o.end == ".leaf.json" {
		if !o.explicit {
			d.ok("orphan", o.path, f.Detail)
		}
		return
	}
	if o.end == "" && len(owners) != 1 {
		return // of a session that has not begun, or is deleted
	}
	if o.isArchive() {
		f.State, f.Detail = HealthBad, "is an archive whose session is not there; it is kept"
	}
	if len(owners) != 1 {
		if len(owners) > 1 {
			f.Detail = fmt.Sprintf("may belong to %d sessions: %s", len(owners), join(owners, ""))
		}
		d.tell(f)
		return
	}
	to := stemOf(owners[0]) + o.end
	there, err := d.st.isThere(to)
	if o.isArchive() && err == nil && !there {
		there, err = d.st.isThere(archivePathOf(d.st.fsys, owners[0]))
	}
	if err != nil || there {
		f.Detail = "belongs to " + filepath.Base(owners[0]) + ", which has another one"
		f.Fix = "look at both, and move the one that you don't want aside"
		d.tell(f)
		return
	}
	f.Detail = "belongs to " + owners[0] + ", and is not beside it"
	d.mendable(ctx, f, func(ctx context.Context) (string, error) {
		return "is beside its session again: " + to, d.st.attach(ctx, o.path, owners[0], to)
	})
}

// attach puts what belongs to a session beside it, while nobody uses it.
func (s *Store) attach(ctx context.Context, from, session, to string) (err error) {
	release, err := s.holdAlone(ctx, session, placeScope)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release(false)) }()
	if _, err := s.moveOne(ctx, from, to); err != nil {
		return err
	}
	return errors.Join(s.fsys.SyncDir(filepath.Dir(to)), s.fsys.SyncDir(filepath.Dir(from)))
}

// halfMoves finishes moves that were cut off before the header was written: the
// session lies in its new scope and names its old workspace, so no list has it.
func (d *doctor) halfMoves(ctx context.Context) {
	for _, x := range d.strays {
		if ctx.Err() != nil {
			return
		}
		f := Finding{Check: "moved", State: HealthBad, Path: x.path,
			Detail: fmt.Sprintf("lies with the sessions of %s and says it is of %s, so no list has it: a move was cut off, or it was put there by hand", x.workspace, x.cwd)}
		switch {
		case len(d.ids[x.id]) > 1:
			f.Detail += "; the same session lies elsewhere too"
			f.Fix = "look at both, and delete the one that you don't want"
			d.tell(f)
		case x.gone:
			f.Fix = "gjc-index rebind " + quoted(x.id) + " --from " + quoted(x.workspace) + " --to NEW"
			d.tell(f)
		default:
			d.mendable(ctx, f, func(ctx context.Context) (string, error) {
				return "is a session of " + x.workspace + " now; it said it was of " + x.cwd, d.st.finishMove(ctx, x)
			})
		}
	}
}

// finishMove makes a session say that it is of the workspace whose scope it is
// in.
func (s *Store) finishMove(ctx context.Context, x stray) error {
	session, err := s.Open(ctx, x.path, OpenOptions{})
	if err != nil {
		return err
	}
	return errors.Join(session.Move(ctx, x.workspace), session.Close())
}
