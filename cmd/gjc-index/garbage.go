package main

import (
	"os"
	"runtime/debug"

	"github.com/gajae-code/gjc-index/index"
)

// A list or a search ends before its garbage matters, and collecting it would
// take a tenth of the time: it begins at 16 MB. What builds the index, and so
// takes longer, goes back to less: the rows of one huge file are most of what a
// build keeps, so where files are huge more garbage is collected.
const (
	shortGC  = 400 // per cent
	buildGC  = 100
	hugeGC   = 40
	hugeMean = 64 << 20 // bytes a file
)

// spareGC puts the collection of garbage off, unless the user has decided.
func (a *app) spareGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(shortGC)
	}
}

// collectGC is told of a build's progress, and makes it collect its garbage.
func (a *app) collectGC(p index.Progress) {
	if !a.collects && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(buildPercent(p))
	}
	a.collects = true
}

func buildPercent(p index.Progress) int {
	if p.TotalBytes > int64(p.TotalFiles)*hugeMean {
		return hugeGC
	}
	return buildGC
}
