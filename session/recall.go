package session

import (
	"context"
	"fmt"
)

// Recall says which session ContinueRecent would open, without opening it;
// path is "" if there is none. left says what was passed over on the way. Over
// a file system that refuses to be changed it changes nothing, and an orphaned
// backup is left out.
//
// Errors: ErrBusy if the file is being written just now, *scope.Error.
func (s *Store) Recall(ctx context.Context, cwd, dir string) (path string, left []LeftOut, err error) {
	all, left, err := s.choices(ctx, cwd, dir)
	if err != nil {
		return "", left, fmt.Errorf("continue in %s: %w", cwd, err)
	}
	at, passed, err := s.firstOpenable(ctx, all, func(choice) error { return nil })
	left = append(left, passed...)
	if err != nil || at < 0 {
		return "", left, err
	}
	return all[at].path, left, nil
}
