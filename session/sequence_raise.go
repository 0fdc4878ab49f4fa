package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// MaxForeignEventID is the highest event id of another home that is taken over:
// one that is higher would use the ids of this home up.
const MaxForeignEventID = jsonl.EventID(1) << 62

// RaiseEventIDs makes sure that new blocks of event ids begin above highest,
// which files of another home bear that are about to be put into this one. The
// number is synced when it returns. It is never lowered.
//
// Errors: ErrSequence for an id above MaxForeignEventID or a sequence that is no
// number, storage.ErrLocked if ctx ends while another process holds it.
func (s *Store) RaiseEventIDs(ctx context.Context, highest jsonl.EventID) (err error) {
	if highest > MaxForeignEventID {
		return fmt.Errorf("%w: the event id %s is too high to go on from", ErrSequence, highest)
	}
	q := s.seq
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := s.prepare(); err != nil {
		return fmt.Errorf("raise event ids: %w", err)
	}
	lock, err := q.fsys.Lock(enter(ctx, rankSequence, q), q.home.EventSequence(), storage.Exclusive)
	if err != nil {
		return fmt.Errorf("raise event ids: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	next, known, err := readSequence(lock.File())
	if err != nil {
		return err
	}
	if !known {
		if next, err = q.recover(ctx, ""); err != nil {
			return fmt.Errorf("find the highest event id: %w", err)
		}
	}
	if q.next <= uint64(highest) {
		q.next, q.end = 0, 0 // what was left of a block would be among them
	}
	if known && next > uint64(highest) {
		return nil
	}
	if err := q.writeSequence(lock.File(), max(next, uint64(highest)+1), known); err != nil {
		return fmt.Errorf("raise event ids: %w", err)
	}
	return nil
}
