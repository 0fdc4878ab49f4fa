package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Discard moves one session to the trash, with what belongs to it, because
// somebody asked for it: whatever state it is in, unless it is pinned or used.
// It returns where it lies; Restore brings it back.
//
// Errors: ErrBusy or ErrProtected while anything writes or reads it,
// ErrNotManaged for one of an older layout, fs.ErrNotExist.
func (s *Store) Discard(ctx context.Context, path string) (trash string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	a := &aged{path: path, scopeDir: filepath.Dir(path)}
	if err := s.lookOver(ctx, a); err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	unlock, err := s.lockTrash(ctx)
	if err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := s.finishTrash(ctx); err != nil {
		return "", fmt.Errorf("discard session: finish what was begun: %w", err)
	}
	b := &burial{st: s}
	row := PruneRow{ID: a.id, Path: path, Title: a.title, LastActive: a.last, Bytes: a.bytes, Reason: "was deleted", found: a}
	if err := s.stillPrunable(ctx, row, b); err != nil {
		return "", fmt.Errorf("discard session: %w", err)
	}
	err = b.bury(ctx)
	g := b.graves[0]
	if err = errors.Join(err, g.failed, b.release()); err != nil {
		err = fmt.Errorf("discard session: %w", err)
	}
	if g.moved {
		trash = g.dir
	}
	return trash, err
}
