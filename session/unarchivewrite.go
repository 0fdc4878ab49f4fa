package session

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/gajae-code/gjc-index/jsonl"
)

// write writes the transcript as it was and what came since: first in the time
// between two runs, then since the last.
func (j *undoJob) write(ctx context.Context, w io.Writer) (int64, error) {
	j.out, j.size, j.ended = w, 0, true
	if err := j.first(ctx, &j.runs[0]); err != nil {
		return 0, err
	}
	for i := range j.runs[1:] {
		clear(j.met)
		for l, err := range j.archive.lines(ctx, &j.runs[i+1]) {
			if err == nil {
				err = j.since(l)
			}
			if err != nil {
				return 0, err
			}
		}
		if err := j.rest(j.runs[i+1].tail); err != nil {
			return 0, err
		}
	}
	if err := j.present(ctx, j.length); err != nil {
		return 0, err
	}
	err := j.headerSince()
	return j.size, err
}

// present writes what came since the last run.
func (j *undoJob) present(ctx context.Context, size int64) error {
	clear(j.met)
	at := int64(0)
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(j.file, 0, size), jsonl.ReadOptions{}) {
		if err == nil {
			err = j.presentRecord(&rec, at)
		}
		if err != nil {
			return err
		}
		at = rec.End
	}
	gap, blank, err := j.between(at, size)
	switch {
	case err != nil:
		return err
	case blank:
		return j.rest(gap)
	}
	return j.strange(at, size)
}

// presentRecord writes a record that the transcript has now, unless it was
// written already. What is no record and stands around it came since as well:
// nothing is archived where something can't be read.
func (j *undoJob) presentRecord(rec *jsonl.Record, at int64) (err error) {
	l := ArchivedLine{Record: rec.Raw}
	blank := true
	if l.Before, blank, err = j.between(at, rec.Offset); err != nil {
		return err
	}
	if !blank {
		if err := j.strange(at, rec.Offset); err != nil {
			return err
		}
		j.glued = true
	}
	end := rec.Offset + int64(len(rec.Raw))
	if l.After, blank, err = j.between(end, rec.End); err != nil {
		return err
	}
	err = j.since(l)
	if err == nil && !blank {
		j.glued = j.news
		err = j.strange(end, rec.End)
	}
	j.glued = false
	return err
}

// maxGap bounds the white space that is kept between two records, in bytes.
const maxGap = 1 << 20

// between is the white space between two places of the transcript; blank is
// false if there is something else.
func (j *undoJob) between(from, to int64) (text string, blank bool, err error) {
	if to <= from {
		return "", true, nil
	}
	b := make([]byte, min(to-from, maxGap+1))
	if _, err := j.file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	if len(b) > maxGap || len(bytes.TrimSpace(b)) > 0 {
		return "", false, nil
	}
	return string(b), true, nil
}

// strange writes a part of the transcript as it is.
func (j *undoJob) strange(from, to int64) error {
	if !j.ended && !j.glued {
		if err := j.put([]byte("\n")); err != nil {
			return err
		}
	}
	_, err := io.Copy(putter{j}, io.NewSectionReader(j.file, from, to-from))
	return err
}

// putter is put as a writer.
type putter struct{ j *undoJob }

func (p putter) Write(b []byte) (int, error) { return len(b), p.j.put(b) }
