package scope

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/gajae-code/gjc-index/storage"
)

// Action is what became of one legacy session.
type Action string

// The actions of a Migration.
const (
	Copied    Action = "copied"
	WouldCopy Action = "would_copy" // in a dry run
	Kept      Action = "kept"       // it was copied before, or the policy says so
	Refused   Action = "refused"    // Err says why
)

// Migration is what happened, or would happen, to one legacy session.
type Migration struct {
	Source      string
	SessionID   string
	Destination string // "" if refused
	Action      Action
	Err         error
}

// MigrateOptions say how Migrate works.
type MigrateOptions struct {
	Policy Policy // "" is CopyRetain
	DryRun bool   // nothing is written; conflicts are found as far as names and ids tell
	By     *Process
}

// Migrate copies every legacy session of the workspace into its scope, one
// after the other; a refused one stops no other. The answer has a line for each,
// also for those that were copied before. The scope comes from Ensure, or, for
// a dry run, from Lookup. The error is about the search, or the end of ctx.
func (s *Scope) Migrate(ctx context.Context, fsys storage.FS, o MigrateOptions) ([]Migration, error) {
	list, done, err := s.legacySessions(ctx, fsys)
	if err != nil {
		return nil, err
	}
	report := done
	for _, c := range list {
		if err := ctx.Err(); err != nil {
			return report, err
		}
		report = append(report, s.migrateOne(ctx, fsys, c, o))
	}
	return report, nil
}

func (s *Scope) migrateOne(ctx context.Context, fsys storage.FS, c Candidate, o MigrateOptions) Migration {
	m := Migration{Source: c.Path, SessionID: c.SessionID, Destination: filepath.Join(s.Dir, filepath.Base(c.Path))}
	var err error
	switch {
	case o.Policy == Disabled:
		m.Action, m.Destination = Kept, ""
		return m
	case o.DryRun:
		m.Action = WouldCopy
		err = (&migration{s: s, fsys: fsys, source: c}).free(ctx, m.Destination)
	default:
		m.Action = Copied
		_, err = s.Open(ctx, fsys, o.By, c, CopyRetain)
	}
	if err != nil {
		m.Action, m.Destination, m.Err = Refused, "", err
	}
	return m
}

// legacySessions are the legacy sessions that are left to copy, and, as
// reports, those whose copy is there.
func (s *Scope) legacySessions(ctx context.Context, fsys storage.FS) (list []Candidate, done []Migration, err error) {
	found, err := s.Candidates(ctx, fsys)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range found.Owned {
		if c.Provenance == Legacy {
			list = append(list, c)
		}
	}
	l, err := readLedger(ctx, fsys, s)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range l.sources() {
		c, err := s.Candidate(ctx, fsys, path)
		if err != nil {
			if ctx.Err() != nil {
				return nil, nil, errors.Join(err, ctx.Err())
			}
			continue // the source is gone; its copy is the session
		}
		if l.isRetired(ctx, fsys, c) {
			continue
		}
		if dest, ok := s.copied(ctx, fsys, l, c); ok {
			done = append(done, Migration{Source: path, SessionID: c.SessionID, Destination: dest.Path, Action: Kept})
		}
	}
	return list, done, nil
}
