package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// What replaces a transcript keeps the leaf that was chosen, wherever it is cut
// off.

// leafCase is something that replaces the transcript of archiveHome.
type leafCase struct {
	name     string
	archived bool // it begins with a session that is archived
	do       func(s *Store, path string) error
}

var leafCases = []leafCase{
	{"archive", false, func(s *Store, path string) error {
		a, err := s.Archive(context.Background(), path, ArchiveOptions{})
		if err == nil && a.Moved == 0 && !a.there(s) {
			err = errors.New("nothing moved")
		}
		return err
	}},
	{"unarchive", true, func(s *Store, path string) error {
		_, err := s.Unarchive(context.Background(), path)
		return err
	}},
	{"rewrite", false, func(s *Store, path string) error {
		session, err := s.Open(context.Background(), path, OpenOptions{})
		if err != nil {
			return err
		}
		return errors.Join(session.RewriteEntries(context.Background(), nil), session.Close())
	}},
}

// there reports whether an earlier run has archived.
func (a Archived) there(s *Store) bool {
	_, _, there, err := FindArchive(s.fsys, a.Path)
	return there && err == nil
}

func (c leafCase) store(fsys storage.FS, dir string) *Store {
	s := pruneStore(fsys, dir)
	s.opt.settle = 1
	return s
}

func (c leafCase) path(dir string) string { return filepath.Join(dir, "s", "long.jsonl") }

// home lays a session whose last entry but one is the chosen leaf, or all of
// whose entries stand behind the leaf, and says what was chosen.
func (c leafCase) home(t *testing.T, fsys storage.FS, dir string, root bool) jsonl.Leaf {
	t.Helper()
	path := archiveHome(t, fsys, dir)
	f, err := fsys.Append(path)
	noErr(t, err)
	_, err = f.Write([]byte(fmt.Sprintf(lateLine, 1, "00000003") + `{"type":"header_patch","patch":{"title":"Renamed"}}` + "\n"))
	noErr(t, errors.Join(err, f.Sync(), f.Close()))
	s := c.store(fsys, dir)
	session, err := s.Open(t.Context(), path, OpenOptions{})
	noErr(t, err)
	entries, err := session.Entries(t.Context())
	noErr(t, err)
	id, _ := entries[len(entries)-2].ID()
	if root {
		err = session.ResetLeaf(t.Context())
	} else {
		err = session.Branch(t.Context(), id)
	}
	noErr(t, errors.Join(err, session.Close()))
	if c.archived {
		noErr(t, leafCases[0].do(s, path))
	}
	noErr(t, fsys.SyncDir(filepath.Dir(path)))
	if root {
		return jsonl.LeafRoot()
	}
	return jsonl.LeafAt(id)
}

// kept checks the leaf now and after another run.
func (c leafCase) kept(t *testing.T, fsys storage.FS, dir string, want jsonl.Leaf) {
	t.Helper()
	s := c.store(fsys, dir)
	for _, when := range []string{"cut off", "run again"} {
		tr, err := jsonl.Load(t.Context(), fsys, c.path(dir), jsonl.LoadOptions{})
		noErr(t, err)
		info, err := fsys.Lstat(c.path(dir))
		noErr(t, err)
		got, ok, err := ReadLeaf(fsys, c.path(dir), tr.Header.ID(), info.Size)
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); !ok || err != nil || diff != "" {
			t.Errorf("%s: chosen: %v, %v, leaf (-want +got):\n%s", when, ok, err, diff)
		}
		noErr(t, c.do(s, c.path(dir)))
	}
}

func TestAChosenLeafSurvivesACrashOfWhatReplacesTheTranscript(t *testing.T) {
	for _, c := range leafCases {
		for _, root := range []bool{false, true} {
			if root && c.name != "rewrite" {
				continue // nothing is archived before all entries
			}
			t.Run(fmt.Sprint(c.name, " root ", root), func(t *testing.T) {
				var want jsonl.Leaf
				storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) { want = c.home(t, fsys, dir, root) },
					func(fsys storage.FS, dir string, _ func()) error { return c.do(c.store(fsys, dir), c.path(dir)) },
					func(t *testing.T, fsys storage.FS, dir string, _ int) { c.kept(t, fsys, dir, want) })
			})
		}
	}
}

func TestAChosenLeafSurvivesEachFaultOfWhatReplacesTheTranscript(t *testing.T) {
	for _, c := range leafCases {
		t.Run(c.name, func(t *testing.T) {
			storagetest.EachFault(t, storagetest.FaultPlan{Short: 10}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
				m, dir := storage.NewMemory(), storagetest.CrashDir()
				noErr(t, storage.MkdirAll(m, dir))
				want := c.home(t, m, dir, false)
				f := storagetest.NewFault(m, plan)
				_ = c.do(c.store(f, dir), c.path(dir)) // it may say so
				c.kept(t, m, dir, want)
				return f
			})
		})
	}
}

func TestUnarchiveWithAChosenLeafKilledAtEachStep(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	c := leafCases[1]
	var want jsonl.Leaf
	storagetest.EachStep(t, func(t *testing.T, dir string) { want = c.home(t, disk, dir, false) },
		func(fsys storage.FS, dir string, _ func()) error { return c.do(c.store(fsys, dir), c.path(dir)) },
		func(t *testing.T, dir string, _ int) { c.kept(t, disk, dir, want) })
}

// A failing disk leaves all that was archived in the archive or the transcript,
// and the next run finishes.
func TestUnarchiveFinishesAfterAFault(t *testing.T) {
	for _, compress := range []bool{false, true} {
		t.Run(fmt.Sprint("compress ", compress), func(t *testing.T) {
			storagetest.EachFault(t, storagetest.FaultPlan{Short: 10}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
				m, dir := storage.NewMemory(), storagetest.CrashDir()
				noErr(t, storage.MkdirAll(m, dir))
				grownHome(t, m, dir, compress)
				f := storagetest.NewFault(m, plan)
				_ = undoStep(f, dir, nil) // it may say so
				isUndone(t, m, dir)
				return f
			})
		})
	}
}
