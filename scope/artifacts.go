package scope

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// The bounds of a session's artifacts. A tree beyond one of them is refused as
// a whole, never copied in part.
const (
	MaxArtifactDepth = 32
	MaxArtifacts     = 10_000
	MaxArtifactBytes = 1 << 30
)

// artifact is one file or directory of a session's artifact directory.
type artifact struct {
	rel  string // with slashes; "" is the directory itself
	info storage.Info
	sum  string // of a file
}

// artifactsOf is the directory of a transcript's artifacts.
func artifactsOf(transcript string) string { return strings.TrimSuffix(transcript, ".jsonl") }

// snapshot lists an artifact directory, parents first, and hashes its files.
// Nothing there is nil. Links of either kind, anything that is neither file
// nor directory, and trees past the bounds are unsafe_artifacts.
func snapshot(ctx context.Context, fsys storage.FS, root string) ([]artifact, error) {
	list, err := walkArtifacts(ctx, fsys, root)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].info.Kind != storage.Regular {
			continue
		}
		at := filepath.Join(root, filepath.FromSlash(list[i].rel))
		list[i].sum, err = Candidate{Path: at, Info: list[i].info}.Sum(ctx, fsys)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func walkArtifacts(ctx context.Context, fsys storage.FS, root string) ([]artifact, error) {
	info, err := fsys.Lstat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("inspect artifacts: %w", err)
	}
	if info.Kind != storage.Dir {
		return nil, unsafeArtifact(root, "is not a directory")
	}
	w := artifactWalk{fsys: fsys, root: root, list: []artifact{{info: info}}}
	if err := w.directory(ctx, "", 1); err != nil {
		return nil, err
	}
	sort.Slice(w.list, func(i, j int) bool { return w.list[i].rel < w.list[j].rel })
	return w.list, nil
}

type artifactWalk struct {
	fsys  storage.FS
	root  string
	list  []artifact
	bytes int64
}

func (w *artifactWalk) directory(ctx context.Context, rel string, depth int) error {
	dir := filepath.Join(w.root, filepath.FromSlash(rel))
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > MaxArtifactDepth {
		return unsafeArtifact(dir, fmt.Sprintf("lies deeper than %d directories", MaxArtifactDepth))
	}
	entries, err := w.fsys.StatDir(dir)
	if err != nil {
		return fmt.Errorf("list artifacts: %w", err)
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name)
		if len(w.list) >= MaxArtifacts {
			return unsafeArtifact(w.root, fmt.Sprintf("holds more than %d files and directories", MaxArtifacts))
		}
		w.list = append(w.list, artifact{rel: path.Join(rel, e.Name), info: e.Info})
		switch {
		case e.Info.Kind == storage.Dir:
			if err := w.directory(ctx, path.Join(rel, e.Name), depth+1); err != nil {
				return err
			}
		case e.Info.Kind == storage.Symlink:
			return unsafeArtifact(at, "is a symbolic link")
		case e.Info.Kind != storage.Regular:
			return unsafeArtifact(at, "is not a regular file")
		case e.Info.Links > 1:
			return unsafeArtifact(at, "has more than one hard link")
		default:
			if w.bytes += e.Info.Size; w.bytes > MaxArtifactBytes {
				return unsafeArtifact(w.root, fmt.Sprintf("holds more than %d bytes", MaxArtifactBytes))
			}
		}
	}
	return nil
}

func unsafeArtifact(at, reason string) *Error {
	return refuse(UnsafeArtifacts, at, reason, "unsafe_artifacts", nil)
}

// copyArtifacts copies what snapshot found to another directory, files 0600
// and directories 0700, replacing nothing. What is there already and equal is
// kept, so a copy that was cut off is finished by the next.
func copyArtifacts(ctx context.Context, fsys storage.FS, list []artifact, from, to string, step func(context.Context) error) error {
	for _, a := range list {
		if err := step(ctx); err != nil {
			return err
		}
		source, dest := filepath.Join(from, filepath.FromSlash(a.rel)), filepath.Join(to, filepath.FromSlash(a.rel))
		if a.info.Kind == storage.Dir {
			if err := makeOwnerOnly(fsys, dest); err != nil {
				return err
			}
			if err := sweepTemps(fsys, dest); err != nil {
				return err
			}
			continue
		}
		if err := copyFile(ctx, fsys, Candidate{Path: source, Info: a.info}, dest, a.sum, step); err != nil {
			return err
		}
	}
	return nil
}

func makeOwnerOnly(fsys storage.FS, dir string) error {
	if err := makeDir(fsys, dir); err != nil {
		return err
	}
	if _, err := storage.CheckOwnerOnly(fsys, dir, storage.Dir); err != nil {
		return refuse(DestinationConflict, dir, "is in the way", "destination_conflict", err)
	}
	return nil
}

// sweepTemps removes temporary files that a copy left when it was killed. The
// lock is held, so no other copy is at work here.
func sweepTemps(fsys storage.FS, dir string) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, ok := storage.TempOf(e.Name); ok && e.Info.Kind == storage.Regular {
			if err := fsys.Remove(filepath.Join(dir, e.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFile publishes a copy of source, whose bytes must have the given sum.
// If the destination has them already, it stays.
func copyFile(ctx context.Context, fsys storage.FS, source Candidate, dest, sum string, step func(context.Context) error) error {
	err := storage.Publish(ctx, fsys, dest, 0o600, func(w io.Writer) error {
		f, err := fsys.Open(source.Path)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		h := sha256.New()
		if _, err := io.Copy(io.MultiWriter(w, h, stepWriter{ctx, step}), f); err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		if !unchanged(info, source.Info) || hex.EncodeToString(h.Sum(nil)) != sum {
			return changed(source.Path)
		}
		return nil
	})
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := storage.HealTwin(fsys, dest); err != nil {
		return err
	}
	info, err := storage.CheckOwnerOnly(fsys, dest, storage.Regular)
	if err == nil {
		var have string
		if have, err = (Candidate{Path: dest, Info: info}).Sum(ctx, fsys); err == nil && have == sum {
			return nil
		}
	}
	return refuse(DestinationConflict, dest, "holds something else", "destination_conflict", err)
}

// stepWriter keeps the lock alive during a long copy.
type stepWriter struct {
	ctx  context.Context
	step func(context.Context) error
}

func (s stepWriter) Write(p []byte) (int, error) { return len(p), s.step(s.ctx) }

// sameArtifacts reports whether the directory is as it was, without hashing.
func sameArtifacts(ctx context.Context, fsys storage.FS, root string, before []artifact) (bool, error) {
	now, err := walkArtifacts(ctx, fsys, root)
	if err != nil || len(now) != len(before) {
		return false, err
	}
	for i := range now {
		a, b := now[i], before[i]
		if a.rel != b.rel || a.info.Kind != b.info.Kind || !a.info.SameFile(b.info) {
			return false, nil
		}
		if a.info.Kind == storage.Regular && !unchanged(a.info, b.info) {
			return false, nil
		}
	}
	return true, nil
}

// manifest is the artifactManifest of a receipt.
func manifest(list []artifact) jsonl.Value {
	var items []jsonl.Value
	for _, a := range list {
		if a.info.Kind == storage.Dir {
			items = append(items, object("kind", text("directory"), "path", text(a.rel)))
			continue
		}
		items = append(items, object("kind", text("file"), "path", text(a.rel), "size", number(a.info.Size), "sha256", text(a.sum)))
	}
	return jsonl.ArrayValue(items...)
}

// treeOf is the snapshot of an artifact directory as the protocol writes it.
func treeOf(list []artifact) jsonl.Value {
	var items []jsonl.Value
	for _, a := range list {
		i, kind := a.info, "directory"
		if i.Kind == storage.Regular {
			kind = "file"
		}
		o := object("relativePath", text(a.rel), "kind", text(kind), "dev", bigUint(i.Dev), "ino", bigUint(i.Inode),
			"nlink", bigUint(i.Links), "size", bigInt(i.Size), "mtimeNs", bigInt(i.ModTime), "ctimeNs", bigInt(i.ChangeTime))
		if i.Kind == storage.Regular {
			o.Obj().Set("sha256", text(a.sum))
		}
		items = append(items, o)
	}
	root := list[0].info
	return object("rootDev", bigUint(root.Dev), "rootIno", bigUint(root.Inode), "entries", jsonl.ArrayValue(items...))
}
