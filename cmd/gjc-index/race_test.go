//go:build race

package main

// raceDetector says that the tests run under the race detector, which needs
// several times the memory.
const raceDetector = true
