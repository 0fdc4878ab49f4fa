package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

type gcFlags struct {
	yes, dryRun, full bool
	grace             string
	extra             []string
}

func (a *app) gcCommand() *cobra.Command {
	var f gcFlags
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Collect stored images that no session refers to",
		Long: `Say which stored images (blobs) no session refers to, and with --yes move them
to the trash. References are looked for in all sessions of the home, archives,
the trash, exports and sidecars, in workspaces' own sessions, in directories
that a terminal had a session in, and in those given with --extra. If one of
these files can't be read nothing is collected. An image that was stored less
than the grace period ago stays. What a session file names is taken from the
index as long as the file is as it was indexed; --full searches all files.`,
		Example: `  gjc-index gc
  gjc-index gc --extra ~/my-sessions --yes
  gjc-index gc --grace 24h --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.gc(cmd, f) },
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.yes, "yes", false, "do it")
	fl.BoolVar(&f.dryRun, "dry-run", false, "change nothing, which is so without --yes too")
	fl.BoolVar(&f.full, "full", false, "search all files and take nothing from the index")
	fl.StringVar(&f.grace, "grace", "7d", "keep what was stored less than `AGE` ago: a whole number and h, d or w")
	fl.StringArrayVar(&f.extra, "extra", nil, "also look for references in `DIR`; may be repeated")
	return cmd
}

// blobJSON is a blob that is collected, or would be; fields are only ever
// added.
type blobJSON struct {
	Blob   string  `json:"blob"`
	Bytes  int64   `json:"bytes"`
	Put    *string `json:"lastPut"`
	Action string  `json:"action"` // would_trash or trashed
}

func (a *app) gc(cmd *cobra.Command, f gcFlags) error {
	grace, err := ageFlag("grace", f.grace)
	if err != nil {
		return err
	}
	for _, dir := range f.extra {
		if dir == "" {
			return usagef("--extra is empty: give it a directory or leave it out")
		}
	}
	extra := f.extra
	if dir, err := a.explicitDir(); err != nil {
		return err
	} else if dir != "" {
		extra = append(extra, dir)
	}
	st, err := a.lifeStore()
	if err != nil {
		return err
	}
	opt := session.GCOptions{Grace: grace, Extra: extra, Act: f.yes && !f.dryRun}
	if !f.full {
		if opt.Known, err = a.knownBlobs(cmd.Context()); err != nil {
			return err
		}
	}
	return a.collect(cmd, st, opt)
}

// knownBlobs tells of files which blobs they name, as the index has it. Where
// that can't be used all files are searched.
func (a *app) knownBlobs(ctx context.Context) (func(string, storage.Info) ([][32]byte, bool), error) {
	var refs *index.BlobRefs
	err := a.withIndex(ctx, func(x *index.Index) (err error) {
		refs, err = x.BlobRefs(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		a.note("the index can't be used now: all files are searched")
		return nil, nil
	}
	return refs.Of, nil
}

func (a *app) collect(cmd *cobra.Command, st *session.Store, opt session.GCOptions) error {
	var sum int64
	n := 0
	rep, err := st.CollectBlobs(cmd.Context(), opt, func(row session.GCRow) error {
		sum, n = sum+row.Bytes, n+1
		action := "would_trash"
		if row.Moved {
			action = "trashed"
		}
		if a.json {
			return a.printJSON(blobJSON{row.Ref.Hex(), row.Bytes, jsonTime(row.LastPut), action})
		}
		a.printf("%s  %s  %s\n", row.Ref.Hex(), padLeft(humanize.Bytes(uint64(row.Bytes)), 7), day(row.LastPut))
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("a directory of --extra is not there, so nothing was collected: %w", err)
	}
	if err != nil {
		return err
	}
	a.note("%s stored: %s referred to, %s kept for their age (%s), %s loose (%s)", count(rep.Blobs, "blob"),
		comma(rep.Referenced), comma(rep.Young), ageWords(opt.Grace), comma(n), humanize.Bytes(uint64(sum)))
	switch {
	case rep.Restored > 0:
		a.note("%s brought back from the trash, since a session refers to them", count(rep.Restored, "blob"))
	case n > 0 && !opt.Act:
		a.note("nothing was changed: --yes moves them to the trash")
	case rep.Trash != "":
		a.note("moved to %s", rep.Trash)
	}
	return nil
}

// ageWords is an age in days, or in hours.
func ageWords(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return count(int(d/(24*time.Hour)), "day")
	}
	return count(int(d/time.Hour), "hour")
}
