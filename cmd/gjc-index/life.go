package main

import (
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/session"
)

// lifeCommands are the commands about what becomes of sessions in the long run.
func (a *app) lifeCommands() []*cobra.Command {
	return []*cobra.Command{a.usageCommand(), a.archiveCommand(), a.unarchiveCommand(), a.rewindCommand(),
		a.filesCommand(), a.touchedCommand(), a.pruneCommand(), a.restoreCommand(), a.pinCommand(), a.unpinCommand(), a.gcCommand(),
		a.doctorCommand(), a.repairCommand()}
}

// lifeStore is the store of the home, for commands that keep house.
func (a *app) lifeStore() (*session.Store, error) {
	home, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	return session.NewStore(a.fsys, session.Options{
		Home: home, Now: a.now, Migration: scope.CopyRetain, Log: a.logger(), Unzstd: unzstd,
	}), nil
}

// unzstd reads a compressed archive.
func unzstd(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// ageFlag reads an age by which something may be removed: a whole number above
// 0 and h, d or w, and nothing else, so that a slip removes nothing.
func ageFlag(name, text string) (time.Duration, error) {
	wrong := usagef("--%s %q is no age: give a whole number above 0 and h, d or w, such as 30d; nothing was done", name, text)
	if text == "" {
		return 0, wrong
	}
	units := map[byte]time.Duration{'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit, ok := units[text[len(text)-1]]
	n, good := digits(text[:len(text)-1])
	if !ok || !good || n > int64(maxAge/unit) {
		return 0, wrong
	}
	return time.Duration(n) * unit, nil
}

// sizeFlag reads a number of bytes, or of kB, MB, GB, KiB, MiB, GiB.
func sizeFlag(name, text string) (int64, error) {
	wrong := usagef("--%s %q is no size: give a whole number above 0 and a unit, such as 500MB or 2GiB; nothing was done", name, text)
	units := map[string]int64{"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
	number := strings.TrimRight(text, "bBkKmMgGtTiI")
	unit, ok := units[strings.ToLower(text[len(number):])]
	n, good := digits(number)
	if !ok || !good || n > (1<<62)/unit {
		return 0, wrong
	}
	return n * unit, nil
}

// digits reads a whole number above 0 that is written in digits alone.
func digits(text string) (int64, bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n > 0
}
