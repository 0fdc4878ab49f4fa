// Package storage is the one place that touches a disk. Everything above it is
// written against FS, so each failure can be made to happen in a test.
package storage
