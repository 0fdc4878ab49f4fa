// Package session lists, opens and writes sessions: transcripts with their
// lease, their sidecars and their leaf.
package session
