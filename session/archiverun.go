package session

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
)

// writeRun folds the checkpoints and appends a run to the archive, synced. A
// run of the same bytes that is there already, since a kill came after it, is
// used again.
func (j *archiveJob) writeRun(ctx context.Context) (err error) {
	if j.opt.DryRun {
		return j.run(ctx, nil, 0)
	}
	runs, err := j.settleArchive(ctx)
	if err != nil {
		return err
	}
	// Now, since a store without a sequence is read for it, and would be with
	// the new archive.
	if j.eventID, err = j.st.seq.reserve(ctx, checkpoint.MaxCheckpoints, filepath.Dir(j.path)); err != nil {
		return err
	}
	if n := len(runs); n > 0 && runs[n-1].sum == j.scan.sum && runs[n-1].size == j.scan.size && runs[n-1].moved == j.plan.Moved {
		return j.again(ctx, &runs[n-1])
	}
	w, created, err := j.appendArchive()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := j.run(ctx, w, len(runs)+1); err != nil {
		return err
	}
	if err := w.finish(); err != nil {
		return err
	}
	if created {
		return j.st.fsys.SyncDir(filepath.Dir(j.path))
	}
	return nil
}

// again makes the checkpoints of a run that is there.
func (j *archiveJob) again(ctx context.Context, r *archiveRun) error {
	if err := j.run(ctx, nil, 0); err != nil {
		return err
	}
	if len(j.made) != len(r.checkpoints) {
		return nil
	}
	for i, e := range j.made { // as the run names them
		o := e.Value().Clone()
		o.Set("id", jsonl.StringValue(r.checkpoints[i]))
		j.made[i] = jsonl.NewEntry(o)
	}
	return nil
}

// run goes through the transcript once: each line is written to w, if that is
// not nil, and each entry folded.
func (j *archiveJob) run(ctx context.Context, w io.Writer, number int) error {
	id := j.scan.header.ID()
	if w != nil {
		head := archiveHead(archiveBegin, id, number, jsonl.Member{Key: "time", Value: jsonl.StringValue(j.st.timestamp())})
		if _, err := w.Write(head); err != nil {
			return err
		}
	}
	fold := j.plan.Fold(id)
	tail, err := j.copyLines(ctx, w, fold)
	if err != nil {
		return err
	}
	j.makeCheckpoints(fold)
	if w == nil {
		return nil
	}
	ids := make([]jsonl.Value, len(j.made))
	for i, e := range j.made {
		id, _ := e.ID()
		ids[i] = jsonl.StringValue(id)
	}
	_, err = w.Write(archiveHead(archiveEnd, id, number,
		jsonl.Member{Key: "size", Value: jsonl.NumberValue(float64(j.scan.size))},
		jsonl.Member{Key: "sha256", Value: jsonl.StringValue(j.scan.sum)},
		jsonl.Member{Key: "lines", Value: jsonl.NumberValue(float64(len(j.scan.lines)))},
		jsonl.Member{Key: "moved", Value: jsonl.NumberValue(float64(j.plan.Moved))},
		jsonl.Member{Key: "tail", Value: jsonl.StringValue(tail)},
		jsonl.Member{Key: "checkpoints", Value: jsonl.ArrayValue(ids...)}))
	return err
}

func (j *archiveJob) makeCheckpoints(fold *checkpoint.ArchiveFold) {
	j.made = nil
	used := map[string]bool{}
	for _, d := range fold.Checkpoints() {
		id := j.st.newEntryID(func(id string) bool {
			known := func(n checkpoint.Node) bool { return n.ID == id }
			return used[id] || slices.ContainsFunc(j.scan.nodes, known)
		})
		used[id] = true
		e := jsonl.NewEntry(jsonl.DataEntry(jsonl.Base{ID: id, Timestamp: j.st.timestamp()}, d))
		if !j.opt.DryRun {
			setEventID(e, j.eventID+jsonl.EventID(len(j.made)))
		}
		j.made = append(j.made, e)
	}
}
