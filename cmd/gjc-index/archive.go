package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/session"
)

type archiveFlags struct {
	dryRun, keepBranches, zstd bool
	olderThan                  string
}

func (f *archiveFlags) options() session.ArchiveOptions {
	return session.ArchiveOptions{DryRun: f.dryRun, KeepBranches: f.keepBranches, Compress: f.zstd}
}

// spareMemory lets what was used be given back soon: a session may be far
// larger than memory.
func spareMemory() { debug.SetGCPercent(40) }

func (a *app) archiveCommand() *cobra.Command {
	var f archiveFlags
	cmd := &cobra.Command{
		Use:   "archive ID",
		Short: "Move what no context needs any more out of a long session",
		Long: `Move the entries that a compaction has summed up, and that the context at no
live leaf needs, from a session's file to an archive beside it. The context,
labels and totals stay as they are, here and in the agent; unarchive brings all
back. Branches that nobody can be at move whole, which --keep-branches
prevents. With --older-than every session is archived that was last active
before then. --zstd compresses the archive, also what it holds already; every
command reads it.`,
		Example: `  gjc-index archive 0195c2 --dry-run
  gjc-index archive 0195c2
  gjc-index archive --older-than 30d --zstd --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("older-than") {
				return noArgs(cmd, args)
			}
			return oneArg("a session id")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			spareMemory()
			if len(args) == 0 {
				return a.archiveOld(cmd.Context(), f)
			}
			return a.archiveOne(cmd.Context(), args[0], f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would move and change nothing")
	fl.BoolVar(&f.keepBranches, "keep-branches", false, "let no branch move whole")
	fl.BoolVar(&f.zstd, "zstd", false, "compress the archive")
	fl.StringVar(&f.olderThan, "older-than", "", "all sessions last active before `AGE`: a whole number and h, d or w")
	return cmd
}

// archiveJSON is what archive and unarchive did to a session; fields are only
// ever added.
type archiveJSON struct {
	ID          string   `json:"id"`
	Moved       int      `json:"moved"` // entries
	BytesBefore int64    `json:"bytesBefore"`
	BytesAfter  int64    `json:"bytesAfter"`
	Archive     *string  `json:"archive"` // null: there is none
	Path        string   `json:"path"`
	Branches    []string `json:"branches,omitempty"` // last entries of branches that move whole
}

func (a *app) archiveOne(ctx context.Context, ref string, f archiveFlags) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	r, err := st.Archive(ctx, t.Path, f.options())
	if err != nil {
		return a.archiveError(t.ID, t.Path, err)
	}
	return a.printArchived(r, f.dryRun)
}

func (a *app) archiveError(id, path string, err error) error {
	switch {
	case errors.Is(err, session.ErrNotManaged):
		return usagef("%s is of an older layout, in which nothing is written", path)
	case errors.Is(err, session.ErrOldFormat):
		return fmt.Errorf("%s is of an older version: archive without --dry-run brings it to the present one first, and only then shows what moves%w", id, silent{err})
	case errors.Is(err, session.ErrProtected):
		return fmt.Errorf("%s is being read or written: nothing was changed%w", id, silent{err})
	}
	return openError(id, err)
}

func (a *app) printArchived(r session.Archived, dry bool) error {
	if a.json {
		out := archiveJSON{ID: r.ID, Moved: r.Moved, BytesBefore: r.BytesBefore, BytesAfter: r.BytesAfter, Path: r.Path, Branches: r.Branches}
		if there := a.isThere(r.Archive); r.Moved > 0 || there {
			out.Archive = &r.Archive
		}
		return a.printJSON(out)
	}
	if r.Moved == 0 {
		a.printf("%s  nothing to archive\n", plain(r.ID))
		return nil
	}
	word := "archived"
	if dry {
		word = "would archive"
	}
	a.printf("%s  %s %s, %s → %s\n", plain(r.ID), word, countEntries(r.Moved), humanize.Bytes(uint64(r.BytesBefore)), humanize.Bytes(uint64(r.BytesAfter)))
	if len(r.Branches) > 0 {
		a.note("branches that nobody is at and that move whole, by their last entries: %s", strings.Join(r.Branches, ", "))
	}
	return nil
}

func countEntries(n int) string { return count(n, "entry") }

// archiveOld archives all sessions of an age; one that can't be is told and the
// others go on.
func (a *app) archiveOld(ctx context.Context, f archiveFlags) error {
	age, err := ageFlag("older-than", f.olderThan)
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	dir, err := a.explicitDir()
	if err != nil {
		return err
	}
	paths, left, err := st.OlderThan(ctx, age, dir)
	if err != nil {
		return err
	}
	for _, l := range left {
		a.note("%s: left out: %s", l.Path, l.Reason)
	}
	a.leftOut += len(left)
	older := 0
	for _, path := range paths {
		r, err := st.Archive(ctx, path, f.options())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EROFS) {
			return err // the next one would fail as well
		}
		if errors.Is(err, session.ErrOldFormat) {
			older++
			continue
		}
		if err != nil {
			a.note("%s: left out: %s", path, briefly(err))
			a.leftOut++
			continue
		}
		if r.Moved > 0 {
			if err := a.printArchived(r, f.dryRun); err != nil {
				return err
			}
		}
	}
	if older > 0 {
		a.note("of %s of an older version only a run without --dry-run shows what moves", count(older, "session"))
	}
	return nil
}

func (a *app) unarchiveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "unarchive ID",
		Short: "Bring back what was archived of a session",
		Long: `Bring back everything that was archived of a session: its file is what it was
before, followed by what was appended since. The archive is removed.`,
		Example: "  gjc-index unarchive 0195c2",
		Args:    oneArg("a session id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			spareMemory()
			return a.unarchive(cmd.Context(), args[0])
		},
	}
}

func (a *app) unarchive(ctx context.Context, ref string) error {
	t, err := a.target(ctx, ref)
	if err != nil {
		return err
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	u, err := st.Unarchive(ctx, t.Path)
	if err != nil {
		return a.archiveError(t.ID, t.Path, err)
	}
	if a.json {
		return a.printJSON(archiveJSON{ID: u.ID, Moved: u.Moved, BytesBefore: u.BytesBefore, BytesAfter: u.BytesAfter, Path: u.Path})
	}
	if u.Moved == 0 {
		a.printf("%s  has no archive\n", plain(u.ID))
		return nil
	}
	a.printf("%s  brought back %s, %s → %s\n", plain(u.ID), countEntries(u.Moved), humanize.Bytes(uint64(u.BytesBefore)), humanize.Bytes(uint64(u.BytesAfter)))
	return nil
}
