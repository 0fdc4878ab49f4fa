package main

import (
	"os"
	"runtime/debug"
)

// A list or a search ends before its garbage matters, and collecting it would
// take a tenth of the time: it begins at 16 MB. What reads many files, and so
// takes longer, goes back to what is usual.
const (
	shortGC = 400 // per cent
	usualGC = 100
)

// spareGC puts the collection of garbage off, unless the user has decided.
func (a *app) spareGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(shortGC)
		a.spared = true
	}
}

// collectGC ends what spareGC began.
func (a *app) collectGC() {
	if a.spared {
		debug.SetGCPercent(usualGC)
		a.spared = false
	}
}
