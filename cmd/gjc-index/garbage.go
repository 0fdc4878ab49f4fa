package main

import (
	"os"
	"runtime/debug"
)

// A list or a search ends before its garbage matters, and collecting it would
// take a tenth of the time: it begins at 16 MB. What builds the index, and so
// takes longer, goes back to less: the rows of one huge file are most of what a
// build keeps.
const (
	shortGC = 400 // per cent
	buildGC = 40
)

// spareGC puts the collection of garbage off, unless the user has decided.
func (a *app) spareGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(shortGC)
	}
}

// collectGC is told of a build's progress, and makes it collect its garbage.
func (a *app) collectGC() {
	if !a.collects && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(buildGC)
	}
	a.collects = true
}
