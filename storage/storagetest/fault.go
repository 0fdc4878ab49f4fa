package storagetest

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
)

// Fault is an FS whose N-th operation of a kind fails and, with Sticky, all
// later ones of the kind. Make it with NewFault. Safe for several goroutines.
type Fault struct {
	Hook
	plan FaultPlan

	mu    sync.Mutex
	count int
	fired int
}

// FaultPlan says what fails. The zero value fails nothing.
type FaultPlan struct {
	Op       Op                            // which operations count; OpAny: all
	N        int                           // the operation that fails, from 1; 0: none
	Times    int                           // how many in a row fail; 0: one
	Sticky   bool                          // it and all later ones fail
	Err      error                         // what they fail with; nil: syscall.EIO
	Short    int                           // bytes that a failing write writes nevertheless
	NeverFor func(op Op, name string) bool // operations that don't count; nil: none
}

// NewFault wraps fsys so that it fails as plan says.
func NewFault(fsys storage.FS, plan FaultPlan) *Fault {
	if plan.Err == nil {
		plan.Err = syscall.EIO
	}
	f := &Fault{plan: plan}
	f.Hook = Hook{FS: fsys, Before: f.before}
	return f
}

func (f *Fault) before(op Op, name string) error {
	if f.plan.Op != OpAny && f.plan.Op != op || f.plan.NeverFor != nil && f.plan.NeverFor(op, name) {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.plan.N == 0 || f.count < f.plan.N {
		return nil
	}
	if !f.plan.Sticky && f.count >= f.plan.N+max(f.plan.Times, 1) {
		return nil
	}
	f.fired++
	if op == OpWrite && f.plan.Short > 0 {
		return &ShortWrite{N: f.plan.Short, Err: f.plan.Err}
	}
	return f.plan.Err
}

// Count is how many operations of the kind there were, failed ones included.
func (f *Fault) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Fired is how many operations failed.
func (f *Fault) Fired() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// EachFault runs try with a plan that fails the first operation of kind op,
// the second, and so on, until one run has no failing operation: once with
// only that operation failing, once with all later ones failing too. plan gives
// the rest of each plan. try makes its own Fault of it and returns it.
func EachFault(t *testing.T, plan FaultPlan, try func(t *testing.T, plan FaultPlan) *Fault) {
	t.Helper()
	for _, sticky := range []bool{false, true} {
		for n := 1; ; n++ {
			plan.N, plan.Sticky = n, sticky
			fired := 0
			ok := t.Run(faultName(plan), func(t *testing.T) { fired = try(t, plan).Fired() })
			if !ok || fired == 0 {
				break
			}
		}
	}
}

func faultName(p FaultPlan) string {
	op := string(p.Op)
	if p.Op == OpAny {
		op = "operation"
	}
	if p.Sticky {
		return fmt.Sprintf("%s %d and later fail", op, p.N)
	}
	return fmt.Sprintf("%s %d fails", op, p.N)
}
