package index

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxCandidates is how many sessions an AmbiguousError names.
const maxCandidates = 20

// Find is the session that ref names: a path, an id, a file name without
// .jsonl, or the beginning of an id, whatever its case. Damaged files and
// children are found too. Errors: fs.ErrNotExist; *AmbiguousError with the
// candidates.
func (x *Index) Find(ctx context.Context, ref string) (Row, error) {
	ranks := [8][]Row{} // those after 4 are sources of migrated sessions: their copies are meant first
	abs, want := ref, strings.ToLower(ref)
	f := Filter{Damaged: DamagedToo, Children: true, ref: want, brief: true}
	var err error
	if strings.ContainsRune(ref, filepath.Separator) || strings.HasSuffix(ref, ".jsonl") {
		if abs, err = filepath.Abs(ref); err != nil {
			return Row{}, err
		}
		f.ref = strings.ToLower(filepath.Base(abs))
	}
	if ascii := strings.IndexFunc(f.ref, func(r rune) bool { return r >= utf8.RuneSelf }) < 0; !ascii {
		f.ref = "" // SQLite lowers ASCII only
	}
	seen := map[string]bool{} // a file that is written just now may come twice
	rows, _, err := x.Sessions(ctx, f)
	if err != nil {
		return Row{}, err
	}
	hidden, err := x.migrated(ctx)
	if err != nil {
		return Row{}, err
	}
	for row, err := range rows {
		if err != nil {
			return Row{}, err
		}
		at := rankOf(&row, abs, ref, want)
		if _, isSource := hidden[row.Path]; isSource && at > 0 {
			at += 4
		}
		if at >= 0 && !seen[row.Path] {
			seen[row.Path] = true
			ranks[at] = append(ranks[at], row)
		}
	}
	for _, found := range ranks {
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Row{}, &AmbiguousError{Ref: ref, Candidates: found[:min(len(found), maxCandidates)], Total: len(found)}
		}
	}
	return Row{}, fmt.Errorf("session %s: %w", ref, fs.ErrNotExist)
}

// rankOf says how well a session fits a reference, 0 best; -1: not at all.
func rankOf(row *Row, abs, ref, want string) int {
	stem := strings.TrimSuffix(filepath.Base(row.Path), ".jsonl")
	switch {
	case row.Path == abs:
		return 0
	case ref == "":
		return -1
	case row.ID == ref, stem == ref:
		return 1
	case strings.HasPrefix(strings.ToLower(row.ID), want):
		return 2
	case strings.HasPrefix(strings.ToLower(stem), want),
		strings.HasPrefix(strings.ToLower(stem[strings.LastIndexByte(stem, '_')+1:]), want):
		return 3
	}
	return -1
}
