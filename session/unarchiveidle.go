package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
)

// A run is idle if its transcript was not written anew after it: a kill or
// another program's lines came in between, or it was brought back. Then the
// bytes that it holds still begin what follows it, the next run or the
// transcript, and to read them there again would give patches twice.

// dropIdle leaves idle runs out.
func (j *undoJob) dropIdle(ctx context.Context) error {
	st, err := j.file.Stat()
	if err != nil {
		return err
	}
	for i := len(j.runs) - 1; i >= 0; i-- {
		r, sum := &j.runs[i], ""
		if i == len(j.runs)-1 && r.size <= st.Size {
			h := sha256.New()
			if _, err := io.Copy(h, io.NewSectionReader(j.file, 0, r.size)); err != nil {
				return err
			}
			sum = hex.EncodeToString(h.Sum(nil))
		} else if i < len(j.runs)-1 && r.size <= j.runs[i+1].size {
			if sum, err = j.begins(ctx, &j.runs[i+1], r.size); err != nil {
				return err
			}
		}
		if sum == r.sum {
			j.runs = slices.Delete(j.runs, i, i+1)
		}
	}
	return ctx.Err()
}

// begins is the sum of the first n bytes that a run holds.
func (j *undoJob) begins(ctx context.Context, r *archiveRun, n int64) (string, error) {
	h := &firstBytes{h: sha256.New(), left: n}
	for l, err := range j.archive.lines(ctx, r) {
		if err != nil {
			return "", err
		}
		for _, text := range [][]byte{[]byte(l.Before), l.Record, []byte(l.After)} {
			if _, err := h.Write(text); errors.Is(err, io.EOF) {
				return hex.EncodeToString(h.h.Sum(nil)), nil
			}
		}
	}
	_, _ = h.Write([]byte(r.tail)) // it ends there in any case
	return hex.EncodeToString(h.h.Sum(nil)), nil
}
