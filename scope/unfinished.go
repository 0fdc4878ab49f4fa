package scope

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// BindingPath is the file in a scope's directory that says whose it is.
func BindingPath(dir string) string { return filepath.Join(dir, bindingName) }

// BoundTo is the workspace that a directory's binding names; "" if there is no
// binding there that is the directory's own. It reads only.
func BoundTo(fsys storage.FS, dir string) string {
	digest, ok := DigestOf(filepath.Base(dir))
	if !ok {
		return ""
	}
	v, ok := readRecord(fsys, BindingPath(dir))
	if !ok || Digest(v.Get("platform").Str(), v.Get("canonicalPath").Str()) != digest {
		return ""
	}
	return v.Get("canonicalPath").Str()
}

// Unfinished counts the deletions of the scope that were cut off after their
// tombstone: Reconcile finishes them. It reads only.
func (s *Scope) Unfinished(ctx context.Context, fsys storage.FS) (n int, err error) {
	err = eachRecord(ctx, fsys, s.Tombstones(), func(name string, v jsonl.Value) {
		targets, ok := s.retiredTargets(v)
		if !ok {
			return
		}
		d := &deletion{s: s, fsys: fsys, op: strings.TrimSuffix(name, ".json")}
		for _, t := range targets {
			if d.exists(d.step(t, "pending", 1)) && !d.exists(d.step(t, "completed", 1)) {
				n++
				return
			}
		}
	})
	if err != nil {
		return n, fmt.Errorf("look for deletions: %w", err)
	}
	return n, nil
}
