package session

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// The bounds of an inventory.
const (
	inventoryDirs      = 256
	inventoryFiles     = 4096
	inventoryFileBytes = 64 << 10
	inventoryBytes     = 64 << 20
	inventoryTime      = 2 * time.Second
)

// InventoryRow is one session of an inventory.
type InventoryRow struct {
	Path      string
	ID        string
	Cwd       string
	Title     string // "" without one
	Modified  time.Time
	Size      int64
	Truncated bool // only the file's beginning and end were read
}

// Inventory is a bounded list of a home's sessions, for other programs.
type Inventory struct {
	Sessions []InventoryRow // the latest modified first
	Cut      string         // which bound ended it early, in words; "" if it is whole
	LeftOut  []LeftOut
}

// Inventory lists the sessions under the home, whatever their workspace and
// the name of their directory: at most 256 directories, the latest changed
// first, 4,096 files, 64 KiB a file, 64 MiB in all and 2 seconds. It only
// reads: no sidecar, lease, lock or index is made or touched, and a backup
// stays where it is.
func (s *Store) Inventory(ctx context.Context) (Inventory, error) {
	t := &taking{s: s, deadline: s.opt.Now().Add(inventoryTime)}
	root := s.opt.Home.Sessions()
	dirs, err := throughLinks(root, s.fsys.StatDir)
	if err != nil {
		return Inventory{}, fmt.Errorf("inventory: %w", err)
	}
	dirs = slices.DeleteFunc(dirs, func(e storage.DirEntry) bool { return e.Info.Kind != storage.Dir })
	sortNewest(dirs)
	if len(dirs) > inventoryDirs {
		t.cut("%d directories, of which %d were searched", len(dirs), inventoryDirs)
		dirs = dirs[:inventoryDirs]
	}
	for _, d := range dirs {
		if err := t.directory(ctx, filepath.Join(root, d.Name)); err != nil {
			return Inventory{}, fmt.Errorf("inventory: %w", err)
		}
		if t.done {
			break
		}
	}
	slices.SortStableFunc(t.inv.Sessions, func(a, b InventoryRow) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.Path, b.Path))
	})
	return t.inv, nil
}

// taking is an inventory in the making.
type taking struct {
	s        *Store
	deadline time.Time
	files    int
	bytes    int64
	done     bool // a bound was met: nothing more is read
	inv      Inventory
}

func (t *taking) cut(format string, args ...any) {
	if t.inv.Cut == "" {
		t.inv.Cut = fmt.Sprintf(format, args...)
	}
}

func (t *taking) directory(ctx context.Context, dir string) error {
	entries, err := t.s.fsys.StatDir(dir)
	if err != nil {
		t.inv.LeftOut = append(t.inv.LeftOut, leftOut(dir, err))
		return nil
	}
	sortNewest(entries)
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !scope.IsTranscriptName(e.Name) {
			continue
		}
		if t.exhausted() {
			return nil
		}
		path := filepath.Join(dir, e.Name)
		if reason := notPlain(e.Info); reason != "" {
			t.inv.LeftOut = append(t.inv.LeftOut, LeftOut{Path: path, Reason: reason})
			continue
		}
		t.file(ctx, path, e.Info)
	}
	return nil
}

// exhausted reports whether one more file would be one too many.
func (t *taking) exhausted() bool {
	switch {
	case t.files == inventoryFiles:
		t.cut("only the first %d files were read", inventoryFiles)
	case t.bytes+inventoryFileBytes > inventoryBytes:
		t.cut("only %d MiB were read", inventoryBytes>>20)
	case !t.s.opt.Now().Before(t.deadline):
		t.cut("only %v were taken", inventoryTime)
	default:
		return false
	}
	t.done = true
	return true
}

func (t *taking) file(ctx context.Context, path string, info storage.Info) {
	t.files++
	t.bytes += min(info.Size, jsonl.ListingPrefix+jsonl.ListingTail)
	in, err := readInfo(ctx, t.s.fsys, path)
	if err != nil {
		t.inv.LeftOut = append(t.inv.LeftOut, leftOut(path, err))
		return
	}
	row := InventoryRow{Path: path, ID: in.ID, Cwd: in.Cwd, Modified: in.Modified, Size: in.Size}
	row.Truncated = in.Size > jsonl.ListingPrefix+jsonl.ListingTail
	if in.HasTitle && !in.titleIsSummary {
		row.Title = in.Title
	}
	t.inv.Sessions = append(t.inv.Sessions, row)
}
