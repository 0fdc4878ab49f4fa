package scope

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// maxRecord bounds one file of the protocol; a receipt grows with the number
// of artifacts.
const maxRecord = 16 << 20

// record is a transcript as a receipt or a tombstone describes it. Numbers of
// the file system are kept as the text they are written as.
type record struct {
	path, sessionID, cwd       string
	provenance                 Provenance
	canonical                  string
	dev, ino, mtimeNs, ctimeNs string
	nlink                      uint64 // only of what is described now
	size                       int64
	mtimeMs                    float64
	sum                        string
}

// receipt says that source was copied to destination.
type receipt struct{ source, destination record }

// ledger is what the protocol's files say of a scope: what was migrated and
// what was deleted. A file that can't be read or understood grants nothing, as
// in the original, so the worst it does is to show a session twice.
type ledger struct {
	scope    *Scope
	receipts map[string][]receipt // committed, by source path
	retired  map[string][]record  // by path
}

func readLedger(ctx context.Context, fsys storage.FS, s *Scope) (*ledger, error) {
	l := &ledger{scope: s, receipts: map[string][]receipt{}, retired: map[string][]record{}}
	err := eachRecord(ctx, fsys, s.Receipts(), func(_ string, v jsonl.Value) {
		if r, ok := l.committed(v); ok {
			l.receipts[r.source.path] = append(l.receipts[r.source.path], r)
		}
	})
	if err != nil {
		return nil, err
	}
	err = eachRecord(ctx, fsys, s.Tombstones(), func(_ string, v jsonl.Value) {
		targets, _ := s.retiredTargets(v)
		for _, t := range targets {
			l.retired[t.path] = append(l.retired[t.path], t)
		}
	})
	return l, err
}

// eachRecord calls do for each JSON file of a directory of the protocol.
// Staged receipts and cleanup receipts are left out: they decide nothing here.
func eachRecord(ctx context.Context, fsys storage.FS, dir string, do func(name string, v jsonl.Value)) error {
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return scanFailed(dir, err)
	}
	for _, e := range entries {
		staged := strings.HasSuffix(e.Name, ".prepared.json") || strings.HasSuffix(e.Name, ".published.json")
		if !strings.HasSuffix(e.Name, ".json") || staged || strings.Contains(e.Name, ".cleanup-") {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if v, ok := readRecord(fsys, filepath.Join(dir, e.Name)); ok {
			do(e.Name, v)
		}
	}
	return nil
}

// readRecord reads one JSON file of the protocol; false if it can't be read
// safely or is no JSON.
func readRecord(fsys storage.FS, path string) (jsonl.Value, bool) {
	info, err := fsys.Lstat(path)
	if err != nil || plainFile(path, info) != nil {
		return jsonl.Value{}, false
	}
	raw, err := storage.ReadFile(fsys, path, maxRecord)
	if err != nil {
		return jsonl.Value{}, false
	}
	v, err := jsonl.ParseString(string(raw))
	return v, err == nil && v.Is(jsonl.Object)
}

// committed reads a receipt that has the whole authority: our scope, the only
// policy, and whole descriptions of both files.
func (l *ledger) committed(v jsonl.Value) (receipt, bool) {
	if v.Get("schemaVersion").Num() != 2 || v.Get("state").Str() != "committed" ||
		v.Get("policy").Str() != "copy-retain" || v.Get("scope").Str() != l.scope.Digest {
		return receipt{}, false
	}
	source, ok1 := sideOf(v.Get("source"))
	destination, ok2 := sideOf(v.Get("destination"))
	return receipt{source, destination}, ok1 && ok2
}

func sideOf(v jsonl.Value) (record, bool) {
	r, ok := identityOf(v.Get("identity"))
	r.path, r.sessionID, r.cwd = v.Get("path").Str(), v.Get("sessionId").Str(), v.Get("header").Get("cwd").Str()
	return r, ok && r.path != "" && v.Get("header").Get("id").Str() == r.sessionID && v.Get("sha256").Str() == r.sum
}

func identityOf(v jsonl.Value) (record, bool) {
	r := record{
		canonical: v.Get("canonicalPath").Str(), sum: v.Get("sha256").Str(),
		dev: v.Get("dev").Str(), ino: v.Get("ino").Str(), mtimeNs: v.Get("mtimeNs").Str(), ctimeNs: v.Get("ctimeNs").Str(),
		size: int64(v.Get("size").Num()), mtimeMs: v.Get("mtimeMs").Num(),
	}
	return r, r.dev != "" && r.ino != "" && r.mtimeNs != "" && len(r.sum) == 64 && v.Get("size").Is(jsonl.Number)
}

// retiredTargets reads a tombstone of this scope.
func (s *Scope) retiredTargets(v jsonl.Value) ([]record, bool) {
	if v.Get("schemaVersion").Num() != 2 || v.Get("state").Str() != "retired" || v.Get("scope").Str() != s.Digest {
		return nil, false
	}
	var targets []record
	for _, item := range v.Get("targets").Items() {
		r, ok := identityOf(item.Get("identity"))
		r.path, r.sessionID, r.cwd = item.Get("path").Str(), item.Get("sessionId").Str(), item.Get("cwd").Str()
		r.provenance = Provenance(item.Get("provenance").Str())
		if _, inside := below(s.Root, r.path); !ok || !inside || !item.Get("sessionId").Is(jsonl.String) || !item.Get("cwd").Is(jsonl.String) {
			return nil, false // nothing of a tombstone counts unless all of it does
		}
		if r.provenance != V2 && r.provenance != Legacy {
			r.provenance = Legacy
			if filepath.Dir(r.path) == s.Dir {
				r.provenance = V2
			}
		}
		targets = append(targets, r)
	}
	return targets, len(targets) > 0
}

// is reports whether the record describes c as it is now. Where everything but
// the content is equal, the change time included, the content is too; only a
// file whose owner or mode was touched since is hashed.
func (r record) is(ctx context.Context, fsys storage.FS, c Candidate) bool {
	i := c.Info
	if r.path != c.Path || r.sessionID != c.SessionID || r.cwd != c.Cwd || r.size != i.Size ||
		r.ino != strconv.FormatUint(i.Inode, 10) || r.mtimeNs != strconv.FormatInt(i.ModTime, 10) {
		return false
	}
	if i.ChangeTime != 0 && r.ctimeNs == strconv.FormatInt(i.ChangeTime, 10) {
		return true
	}
	sum, err := c.Sum(ctx, fsys)
	return err == nil && sum == r.sum
}

// Deleted reports whether a session was deleted whose transcript had a name in
// this scope. It reads the protocol's files.
func (s *Scope) Deleted(ctx context.Context, fsys storage.FS, sessionID, name string) (bool, error) {
	l, err := readLedger(ctx, fsys, s)
	if err != nil {
		return false, err
	}
	for _, r := range l.retired[filepath.Join(s.Dir, name)] {
		if r.sessionID == sessionID && r.provenance == V2 {
			return true, nil
		}
	}
	return false, nil
}

// isRetired reports whether c was deleted.
func (l *ledger) isRetired(ctx context.Context, fsys storage.FS, c Candidate) bool {
	for _, r := range l.retired[c.Path] {
		if r.is(ctx, fsys, c) {
			return true
		}
	}
	return false
}

// copyOf is the committed receipt of a legacy source, if there is one.
func (l *ledger) copyOf(ctx context.Context, fsys storage.FS, c Candidate) (receipt, bool) {
	for _, r := range l.receipts[c.Path] {
		if r.source.is(ctx, fsys, c) {
			return r, true
		}
	}
	return receipt{}, false
}

// sources are the paths of the legacy files with a receipt, sorted.
func (l *ledger) sources() []string { return slices.Sorted(maps.Keys(l.receipts)) }

// gone reports whether the copy was deleted: then its source is too.
func (l *ledger) gone(r receipt) bool {
	for _, t := range l.retired[r.destination.path] {
		if t.sessionID == r.destination.sessionID {
			return true
		}
	}
	return false
}

// apply hides what was deleted and what was migrated, and says of each copy
// whether it still is one. A legacy source stays hidden as long as its copy is
// there, also once the copy was rewritten (then the copy is native).
func (l *ledger) apply(ctx context.Context, fsys storage.FS, list *Listing) {
	if len(l.receipts) == 0 && len(l.retired) == 0 {
		return
	}
	visible := list.Owned[:0:0]
	at := map[string]int{} // v2 candidates by path
	for _, c := range list.Owned {
		if l.isRetired(ctx, fsys, c) {
			list.Hidden++
			continue
		}
		if c.Provenance == Legacy {
			if r, ok := l.copyOf(ctx, fsys, c); ok {
				i, there := at[r.destination.path]
				there = there && visible[i].SessionID == r.destination.sessionID
				if there {
					visible[i].State = stillCopy(r, c, visible[i])
				}
				if there || l.gone(r) {
					list.Hidden++
					continue
				}
			}
		} else {
			at[c.Path] = len(visible)
		}
		visible = append(visible, c)
	}
	list.Owned = visible
}

// stillCopy is MigratedV2 while the copy begins with the source's bytes. A
// rewrite gives the copy another inode, an append does not.
func stillCopy(r receipt, source, dest Candidate) State {
	if r.destination.ino == strconv.FormatUint(dest.Info.Inode, 10) && dest.Info.Size >= source.Info.Size &&
		string(dest.headerLine) == string(source.headerLine) {
		return MigratedV2
	}
	return NativeV2
}
