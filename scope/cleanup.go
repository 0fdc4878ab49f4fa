package scope

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// A cleanup leaves the same receipts as the original's: what is planned
// (attempt 1), and, if there are artifacts, that they are emptied (attempts 2
// and 3, then artifacts_removed), and in the end that all is completed.
const lastAttempt = 3

// plan publishes what is about to be removed, before the tombstone says that
// it is. So a tombstone without a plan is one of Retire and removes nothing.
func (d *deletion) plan(ctx context.Context, t record) error {
	list, err := snapshot(ctx, d.fsys, artifactsOf(t.path))
	if err != nil {
		return err
	}
	o := d.pending(t, 1)
	if len(list) > 0 {
		o.Obj().Set("expectedArtifactsIdentity", directory(list[0].info, false))
		o.Obj().Set("expectedArtifactsTree", treeOf(list))
	}
	setPlanned(o, t, 1)
	return d.publish(ctx, d.step(t, "pending", 1), o)
}

func (d *deletion) pending(t record, attempt int) jsonl.Value {
	return object("schemaVersion", number(2), "state", text("cleanup_pending"), "scope", text(d.s.Digest),
		"tombstone", text(d.tombstone), "attempt", number(int64(attempt)), "target", t.short())
}

func setPlanned(o jsonl.Value, t record, attempt int) {
	o.Obj().Set("plannedArtifactsPath", text(remains(t, "artifacts", attempt)))
	o.Obj().Set("plannedTranscriptPath", text(remains(t, "transcript", attempt)))
}

// clean removes what was planned, step by step; each can be repeated.
func (d *deletion) clean(ctx context.Context, t record) error {
	if d.exists(d.step(t, "completed", 1)) {
		return nil
	}
	plan, ok := readRecord(d.fsys, d.step(t, "pending", 1))
	if !ok {
		return refuse(DurabilityFailed, d.step(t, "pending", 1), "plan of the deletion can't be read", "durability_failed", nil)
	}
	attempt := 1
	if planned := plan.Get("expectedArtifactsIdentity"); planned.Is(jsonl.Object) {
		attempt = lastAttempt
		if err := d.cleanArtifacts(ctx, t, planned); err != nil {
			return err
		}
	}
	if err := d.cleanTranscript(ctx, t, attempt); err != nil {
		return err
	}
	return d.publish(ctx, d.step(t, "completed", 1), object("schemaVersion", number(1), "state", text("cleanup_completed"),
		"scope", text(d.s.Digest), "tombstone", text(d.tombstone), "attempt", number(1), "target", t.short()))
}

func (d *deletion) cleanArtifacts(ctx context.Context, t record, planned jsonl.Value) error {
	root, removing := artifactsOf(t.path), remains(t, "artifacts", 1)+".removing"
	if err := d.held.held(ctx); err != nil {
		return err
	}
	if !d.exists(removing) {
		info, err := d.fsys.Lstat(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !isPlanned(info, planned) {
			return nil // gone, or another directory that took the name since
		}
		if err := d.move(root, removing); err != nil {
			return err
		}
	}
	list, err := d.emptyTree(ctx, removing)
	if err != nil || len(list) == 0 {
		return err
	}
	for attempt := 2; attempt <= lastAttempt; attempt++ {
		if err := d.publish(ctx, d.step(t, "pending", attempt), d.emptied(t, attempt, removing, list)); err != nil {
			return err
		}
	}
	o := d.emptied(t, lastAttempt, removing, list)
	o.Obj().Set("state", text("artifacts_removed"))
	o.Obj().Set("retainedArtifactsRoot", object("path", text(removing), "identity", directory(list[0].info, false), "tree", treeOf(list)))
	return d.publish(ctx, d.step(t, "artifacts_removed", lastAttempt), o)
}

func isPlanned(info storage.Info, planned jsonl.Value) bool {
	return info.Kind == storage.Dir && strconv.FormatUint(info.Inode, 10) == planned.Get("ino").Str() &&
		strconv.FormatUint(info.Dev, 10) == planned.Get("dev").Str()
}

func (d *deletion) emptied(t record, attempt int, removing string, list []artifact) jsonl.Value {
	o := d.pending(t, attempt)
	o.Obj().Set("expectedArtifactsIdentity", directory(list[0].info, true))
	o.Obj().Set("expectedArtifactsTree", treeOf(list))
	o.Obj().Set("artifactsPayloadDurable", jsonl.BoolValue(true))
	o.Obj().Set("detachedArtifactsPath", text(removing))
	setPlanned(o, t, attempt)
	return o
}

// emptyTree cuts every file under root to nothing and lists what is left.
func (d *deletion) emptyTree(ctx context.Context, root string) ([]artifact, error) {
	list, err := walkArtifacts(ctx, d.fsys, root)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.info.Kind != storage.Regular || a.info.Size == 0 {
			continue
		}
		if err := d.held.held(ctx); err != nil {
			return nil, err
		}
		if err := empty(d.fsys, filepath.Join(root, filepath.FromSlash(a.rel))); err != nil {
			return nil, err
		}
	}
	return snapshot(ctx, d.fsys, root)
}

// cleanTranscript moves the transcript aside, if the file at its path still is
// the one that was deleted, and empties it.
func (d *deletion) cleanTranscript(ctx context.Context, t record, attempt int) error {
	aside := remains(t, "transcript", attempt)
	if err := d.held.held(ctx); err != nil {
		return err
	}
	if !d.exists(aside) {
		info, err := d.fsys.Lstat(t.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if info.Kind != storage.Regular || !t.describes(info) {
			return nil
		}
		if err := d.move(t.path, aside); err != nil {
			return err
		}
	}
	info, err := d.fsys.Lstat(aside)
	if err != nil {
		return err
	}
	if info.Size == 0 {
		return nil
	}
	// A run that was cut off while it emptied the file may have changed its time.
	if info.Kind != storage.Regular || t.ino != strconv.FormatUint(info.Inode, 10) {
		return refuse(DurabilityFailed, aside, "is not the session that was deleted", "durability_failed", nil)
	}
	return empty(d.fsys, aside)
}

func (d *deletion) move(from, to string) error {
	if err := d.fsys.RenameNoReplace(from, to); err != nil {
		return fmt.Errorf("move %s aside: %w", from, err)
	}
	return d.fsys.SyncDir(filepath.Dir(from))
}

// describes compares the record with a file without reading it.
func (r record) describes(i storage.Info) bool {
	return r.dev == strconv.FormatUint(i.Dev, 10) && r.ino == strconv.FormatUint(i.Inode, 10) &&
		r.size == i.Size && r.mtimeNs == strconv.FormatInt(i.ModTime, 10)
}
