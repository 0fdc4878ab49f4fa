package session

import (
	"context"
	"fmt"
)

// rank is a lock's place in the one order in which locks are waited for:
// scope, writer, keep, activation, append, sequence. No lock is waited for
// while a later one is held, so two processes can't wait for each other. A
// lock that is only tried, never waited for, has no part in it: the keep lock,
// and the lease of the place that a fork or a move goes to.
type rank uint8

const (
	rankScope      rank = iota + 1 // taken by package scope
	rankWriter                     // the lease of a transcript
	rankKeep                       // the transcript's own lock
	rankActivation                 // one turn at a time
	rankAppend                     // one append or rewrite at a time on a file
	rankSequence                   // the event ids of the home
)

func (r rank) String() string {
	return [...]string{"no", "scope", "writer", "keep", "activation", "append", "sequence"}[r]
}

// admission says which locks the caller of a context holds, so that nested
// work takes none twice.
type admission struct {
	outer *admission
	rank  rank
	of    any // what the lock belongs to
}

type admissionKey struct{}

// enter notes in a context that a lock is about to be waited for. A lock that
// comes before one that ctx holds is a bug, and panics.
func enter(ctx context.Context, r rank, of any) context.Context {
	held, _ := ctx.Value(admissionKey{}).(*admission)
	for a := held; a != nil; a = a.outer {
		if a.rank > r || (a.rank == r && a.of == of) {
			panic(fmt.Sprintf("session: %v lock wanted while the %v lock is held", r, a.rank))
		}
	}
	return context.WithValue(ctx, admissionKey{}, &admission{outer: held, rank: r, of: of})
}

// mayWait reports whether a lock may be waited for in a context. Where it may
// not, since a later one is held, it can still be tried.
func mayWait(ctx context.Context, r rank) bool {
	for a, _ := ctx.Value(admissionKey{}).(*admission); a != nil; a = a.outer {
		if a.rank > r {
			return false
		}
	}
	return true
}

// admitted reports whether the caller of a context holds the lock already.
func admitted(ctx context.Context, r rank, of any) bool {
	for a, _ := ctx.Value(admissionKey{}).(*admission); a != nil; a = a.outer {
		if a.rank == r && a.of == of {
			return true
		}
	}
	return false
}
