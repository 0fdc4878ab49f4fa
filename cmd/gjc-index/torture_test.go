package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// The matrix of ARCHITECTURE.md, "What a crash can leave": each command that
// writes, and each way in which a disk or a process can fail beneath it. After
// each failure no entry that was in the home may be missing, what was answered
// as done must be there, the command must finish when it is run again, and the
// index must agree with the files.
//
// GJC_TORTURE=all runs each row at each operation, which takes minutes (make
// torture); without it every sampleStep-th operation fails, and nothing is killed.
const sampleStep = 23

func tortured() bool { return os.Getenv("GJC_TORTURE") == "all" }

// damage is a column of the matrix: what goes wrong at the n-th operation that
// changes something.
type damage struct {
	name    string
	sampled bool // tried without GJC_TORTURE too
	plan    storagetest.FaultPlan
}

var damages = []damage{
	{"fails once", true, storagetest.FaultPlan{Err: syscall.EIO}},
	{"fails from then on", false, storagetest.FaultPlan{Err: syscall.EIO, Sticky: true}},
	{"disk full", true, storagetest.FaultPlan{Err: syscall.ENOSPC, Sticky: true, Short: 17, NeverFor: func(op storagetest.Op, _ string) bool {
		return !slices.Contains([]storagetest.Op{storagetest.OpWrite, storagetest.OpCreate, storagetest.OpMkdir, storagetest.OpSync}, op)
	}}},
	{"not permitted", false, storagetest.FaultPlan{Err: syscall.EACCES, Sticky: true}},
	{"read-only", false, storagetest.FaultPlan{Err: syscall.EROFS, Sticky: true, N: 1}},
}

func TestTorture(t *testing.T) {
	w := &tortureWorld{}
	t.Cleanup(func() {
		if w.base != "" {
			if err := os.RemoveAll(w.base); err != nil {
				t.Error(err)
			}
		}
	})
	tab := &matrix{}
	if tortured() && os.Getenv("GJC_KILL_TEST") == "" {
		t.Cleanup(func() { tab.print() })
	}
	for _, op := range tortureOps {
		t.Run(op.name, func(t *testing.T) {
			for _, d := range damages {
				if !tortured() && !d.sampled {
					continue
				}
				t.Run(d.name, func(t *testing.T) { w.eachFault(t, tab, op, d) })
			}
			t.Run("replaced directory", func(t *testing.T) { w.eachReplaced(t, tab, op) })
			t.Run("clock goes back", func(t *testing.T) { w.clockBack(t, tab, op) })
			if tortured() {
				t.Run("killed", func(t *testing.T) { w.eachKill(t, tab, op) })
			}
		})
	}
}

// eachFault runs op with the first operation failing, with the second, and so on.
func (w *tortureWorld) eachFault(t *testing.T, tab *matrix, op tortureOp, d damage) {
	step := 1
	if !tortured() {
		step = sampleStep
	}
	plan := d.plan
	inner := plan.NeverFor
	plan.NeverFor = func(o storagetest.Op, name string) bool {
		return !o.Changes() || o == storagetest.OpLock || inner != nil && inner(o, name)
	}
	for n := 1; ; n += step {
		if d.plan.N == 0 {
			plan.N = n
		}
		dir := w.copy(t)
		fault := storagetest.NewFault(storage.Disk(storage.Policy{}), plan)
		out, errs, status := w.run(fault, dir, op.args, op.stdin, nil)
		if fault.Fired() == 0 || t.Failed() {
			return
		}
		tab.ran(op.name, d.name)
		w.check(t, tab, op, d.name, fmt.Sprintf("%s, operation %d: status %d, %q, %q", d.name, plan.N, status, out, errs), dir, status)
		if d.plan.N != 0 {
			return
		}
	}
}

// eachReplaced puts an empty directory in place of the scope before an
// operation, and a link in its place before the command begins. Nothing is
// written through the link, and nothing is lost.
func (w *tortureWorld) eachReplaced(t *testing.T, tab *matrix, op tortureOp) {
	const column = "replaced directory"
	for n, more := 0, true; more && !t.Failed(); n += sampleStep {
		dir := w.copy(t)
		sc := filepath.Join(dir, w.scope)
		elsewhere := filepath.Join(dir, "elsewhere")
		if err := os.Mkdir(elsewhere, 0o700); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		count, fired := 0, false
		hook := &storagetest.Hook{FS: storage.Disk(storage.Policy{}), Before: func(o storagetest.Op, _ string) error {
			mu.Lock()
			defer mu.Unlock()
			if o.Changes() && o != storagetest.OpLock {
				count++
			}
			if count < n || fired {
				return nil
			}
			fired = true
			if err := os.Rename(sc, sc+".away"); err != nil {
				return err
			}
			if n == 0 {
				return os.Symlink(elsewhere, sc)
			}
			return os.Mkdir(sc, 0o700)
		}}
		out, errs, status := w.run(hook, dir, op.args, op.stdin, nil)
		if more = fired; !more {
			return
		}
		tab.ran(op.name, column)
		what := fmt.Sprintf("%s before operation %d: status %d, %q, %q", column, n, status, out, errs)
		if names, err := os.ReadDir(elsewhere); err != nil || len(names) > 0 {
			t.Errorf("%s: through the link: %v, %v", what, names, err)
		}
		w.wantMarks(t, tab, op, column, what, dir)
	}
}

const clockColumn = "clock goes back"

// clockBack runs op years before the sessions were written.
func (w *tortureWorld) clockBack(t *testing.T, tab *matrix, op tortureOp) {
	const column = clockColumn
	dir := w.copy(t)
	past := func() time.Time { return time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC) }
	out, errs, status := w.run(nil, dir, op.args, op.stdin, past)
	tab.ran(op.name, column)
	w.check(t, tab, op, column, fmt.Sprintf("%s: status %d, %q, %q", column, status, out, errs), dir, status)
}

// eachKill kills a process that runs op before each of its operations in turn.
func (w *tortureWorld) eachKill(t *testing.T, tab *matrix, op tortureOp) {
	const column = "killed"
	setup := func(t *testing.T, dir string) { w.fill(t, dir) }
	step := func(fsys storage.FS, dir string, ack func()) error {
		_, errs, status := w.run(fsys, dir, op.args, op.stdin, nil)
		if status != exitDone && !slices.Contains(op.may, status) {
			return errors.New(errs)
		}
		ack()
		return nil
	}
	storagetest.EachStep(t, setup, step, func(t *testing.T, dir string, acked int) {
		tab.ran(op.name, column)
		status := -1
		if acked > 0 {
			status = exitDone
		}
		w.check(t, tab, op, column, "killed", dir, status)
	})
}

// run runs the command of the world in dir.
func (w *tortureWorld) run(fsys storage.FS, dir string, args []string, stdin string, now func() time.Time) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	place, err := os.ReadFile(filepath.Join(dir, "work.path"))
	if err != nil {
		panic(err)
	}
	named := make([]string, 0, len(args)+2)
	for _, a := range args {
		named = append(named, strings.NewReplacer("{dir}", dir, "{work}", string(place)).Replace(a))
	}
	a := newApp(strings.NewReader(stdin), &out, &errs)
	if fsys != nil {
		a.fsys = fsys
	}
	if now != nil {
		a.now = now
	}
	status = a.run(context.Background(), append(named, "--home", filepath.Join(dir, "home")))
	return out.String(), errs.String(), status
}

// check looks at a home after op failed in it, has op finish, and looks again.
func (w *tortureWorld) check(t *testing.T, tab *matrix, op tortureOp, column, what, dir string, status int) {
	t.Helper()
	w.wantMarks(t, tab, op, column, what, dir)
	if status == exitDone && op.done != nil && column != clockColumn { // what is old was not old then
		if err := op.done(dir); err != nil {
			t.Errorf("%s: it said that it was done: %v", what, err)
		}
	}
	out, errs, status := w.run(nil, dir, op.args, op.stdin, nil)
	what += fmt.Sprintf("; again: status %d, %q, %q", status, out, errs)
	if status != exitDone && !slices.Contains(op.may, status) {
		t.Errorf("%s: it can't be finished", what)
	}
	if op.done != nil {
		if err := op.done(dir); err != nil {
			t.Errorf("%s: it is not done: %v", what, err)
		}
	}
	w.wantMarks(t, tab, op, column, what, dir)
	w.wantOnce(t, what, dir)
	for _, args := range [][]string{{"reindex", "-q"}, {"verify", "-q"}} {
		if out, errs, status := w.run(nil, dir, args, "", nil); status != exitDone {
			t.Errorf("%s: then %v: status %d, %q, %q", what, args, status, out, errs)
		}
	}
	for id, want := range w.contexts {
		if slices.Contains(op.changes, id) {
			continue
		}
		if got, errs, status := w.run(nil, dir, []string{"context", id, "--json"}, "", nil); got != want {
			t.Errorf("%s: then context %s: status %d, %q; it is\n%s\nwant\n%s", what, id, status, errs, got, want)
		}
	}
}

// matrix counts the runs and the losses of each operation and damage.
type matrix struct {
	mu      sync.Mutex
	rows    []string
	columns []string
	runs    map[[2]string]int
	losses  map[[2]string]int
}

func (m *matrix) ran(op, column string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.runs == nil {
		m.runs, m.losses = map[[2]string]int{}, map[[2]string]int{}
	}
	if !slices.Contains(m.rows, op) {
		m.rows = append(m.rows, op)
	}
	if !slices.Contains(m.columns, column) {
		m.columns = append(m.columns, column)
	}
	m.runs[[2]string{op, column}]++
}

func (m *matrix) lost(op, column string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.losses[[2]string{op, column}]++
}

// print prints runs and losses, as "31/0".
func (m *matrix) print() {
	tw := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "runs/losses\t%s\n", strings.Join(m.columns, "\t"))
	runs, losses := 0, 0
	for _, op := range m.rows {
		fmt.Fprint(tw, op)
		for _, c := range m.columns {
			n, l := m.runs[[2]string{op, c}], m.losses[[2]string{op, c}]
			runs, losses = runs+n, losses+l
			if n == 0 {
				fmt.Fprint(tw, "\t-")
			} else {
				fmt.Fprintf(tw, "\t%d/%d", n, l)
			}
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err == nil {
		fmt.Printf("%d runs, %d losses\n", runs, losses)
	}
}
