package scope

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// freshWorld is a world in an owner-only temporary directory.
func freshWorld(t testing.TB) (dir string, s *Scope) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(dir, 0o700))
	home, w := world(t, dir)
	s, err = Ensure(context.Background(), disk(), home, w)
	must(t, err)
	return dir, s
}

func TestMigrateReportsEachSession(t *testing.T) {
	ctx := context.Background()
	dir, s := freshWorld(t)
	_, err := openLegacy(disk(), dir, ThisProcess())
	must(t, err)
	lay(t, s.Root, map[string]string{
		"-old/b.jsonl":               transcript("L2", s.Canonical),
		"-old/taken.jsonl":           transcript("L3", s.Canonical),
		s.DirName() + "/taken.jsonl": transcript("N3", s.Canonical),
		"-old/twice.jsonl":           transcript("N3", s.Canonical),
		"-old/foreign.jsonl":         transcript("F1", dir),
	})
	brief := func(list []Migration) []string {
		got := []string{}
		for _, m := range list {
			line := filepath.Base(m.Source) + " " + string(m.Action)
			if errors.Is(m.Err, ErrConflict) {
				line += " conflict"
			}
			got = append(got, line)
		}
		return got
	}
	before := filesUnder(t, dir)
	dry, err := s.Migrate(ctx, disk(), MigrateOptions{DryRun: true})
	must(t, err)
	want := []string{"a.jsonl kept", "b.jsonl would_copy", "taken.jsonl refused conflict", "twice.jsonl refused conflict"}
	if diff := cmp.Diff(want, brief(dry)); diff != "" {
		t.Errorf("dry run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, filesUnder(t, dir)); diff != "" {
		t.Errorf("the dry run changed files (-before +after):\n%s", diff)
	}
	off, err := s.Migrate(ctx, disk(), MigrateOptions{Policy: Disabled})
	must(t, err)
	if diff := cmp.Diff([]string{"a.jsonl kept", "b.jsonl kept", "taken.jsonl kept", "twice.jsonl kept"}, brief(off)); diff != "" {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
	real, err := s.Migrate(ctx, disk(), MigrateOptions{By: ThisProcess()})
	must(t, err)
	want[1] = "b.jsonl copied"
	if diff := cmp.Diff(want, brief(real)); diff != "" {
		t.Errorf("migration (-want +got):\n%s", diff)
	}
}

func TestMigratedSourceStaysHidden(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		then func(t *testing.T, dir string, s *Scope, copied Candidate)
		want []string
	}{
		{"as it is", func(*testing.T, string, *Scope, Candidate) {}, []string{"v2/a.jsonl migrated_v2"}},
		{"after an append", func(t *testing.T, _ string, _ *Scope, c Candidate) {
			f, err := os.OpenFile(c.Path, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteString("{}\n")
			must(t, err)
			must(t, f.Close())
		}, []string{"v2/a.jsonl migrated_v2"}},
		{"after a rewrite", func(t *testing.T, _ string, s *Scope, c Candidate) {
			must(t, os.WriteFile(c.Path+".new", []byte(transcript("L1", s.Canonical)), 0o600))
			must(t, os.Rename(c.Path+".new", c.Path))
		}, []string{"v2/a.jsonl native_v2"}},
		{"although its mode was changed", func(t *testing.T, _ string, s *Scope, _ Candidate) {
			must(t, os.Chmod(legacyPath(s.Home), 0o600))
		}, []string{"v2/a.jsonl migrated_v2"}},
		{"not once it was changed", func(t *testing.T, _ string, s *Scope, _ Candidate) {
			must(t, os.WriteFile(legacyPath(s.Home), []byte(transcript("L1", s.Canonical)+"{}\n"), 0o600))
		}, []string{"v2/a.jsonl native_v2", "-old/a.jsonl legacy_unmigrated"}},
		{"not once the copy was lost", func(t *testing.T, _ string, _ *Scope, c Candidate) {
			must(t, os.Remove(c.Path))
		}, []string{"-old/a.jsonl legacy_unmigrated"}},
		{"not once another session took the copy's place", func(t *testing.T, _ string, s *Scope, c Candidate) {
			must(t, os.Remove(c.Path))
			must(t, os.WriteFile(c.Path, []byte(transcript("X1", s.Canonical)), 0o600))
		}, []string{"v2/a.jsonl native_v2", "-old/a.jsonl legacy_unmigrated"}},
		{"after the copy was deleted", func(t *testing.T, dir string, s *Scope, c Candidate) {
			_, err := s.Delete(ctx, disk(), ThisProcess(), c)
			must(t, err)
		}, []string{}},
		{"after the copy was retired and moved away", func(t *testing.T, dir string, s *Scope, c Candidate) {
			_, err := s.Retire(ctx, disk(), ThisProcess(), c)
			must(t, err)
			must(t, os.Rename(c.Path, filepath.Join(dir, "trash.jsonl")))
			must(t, s.Reconcile(ctx, disk(), ThisProcess()))
			if !exists(legacyPath(s.Home)) {
				t.Error("the source of a retired session was removed")
			}
		}, []string{}},
		{"after a rewritten copy was deleted", func(t *testing.T, dir string, s *Scope, c Candidate) {
			must(t, os.WriteFile(c.Path+".new", []byte(transcript("L1", s.Canonical)+"{}\n"), 0o600))
			must(t, os.Rename(c.Path+".new", c.Path))
			now, err := s.Candidate(ctx, disk(), c.Path)
			must(t, err)
			_, err = s.Delete(ctx, disk(), ThisProcess(), now)
			must(t, err)
			if exists(legacyPath(s.Home)) {
				t.Error("the source of a deleted session is left")
			}
		}, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, s := freshWorld(t)
			c, err := openLegacy(disk(), dir, ThisProcess())
			must(t, err)
			tt.then(t, dir, s, c)
			if diff := cmp.Diff(tt.want, candidates(t, dir)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
			all, err := AllCandidates(ctx, disk(), s.Home)
			must(t, err)
			if len(all.Owned) != len(tt.want) {
				t.Errorf("AllCandidates = %+v, want %d", all.Owned, len(tt.want))
			}
		})
	}
}

func TestMigrateAgainOnceTheCopyWasLost(t *testing.T) {
	dir, _ := freshWorld(t)
	c, err := openLegacy(disk(), dir, ThisProcess())
	must(t, err)
	must(t, os.Remove(c.Path))
	_, err = openLegacy(disk(), dir, ThisProcess())
	must(t, err)
	if diff := cmp.Diff([]string{"v2/a.jsonl migrated_v2"}, candidates(t, dir)); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
}

func TestMigrateKeepsTheTimeOfTheSource(t *testing.T) {
	dir, s := freshWorld(t)
	before, err := os.Lstat(legacyPath(s.Home))
	must(t, err)
	c, err := openLegacy(disk(), dir, ThisProcess())
	must(t, err)
	if c.Info.ModTime != before.ModTime().UnixNano() {
		t.Errorf("the copy's time is %d, want %d", c.Info.ModTime, before.ModTime().UnixNano())
	}
}

func TestCandidateRefusesPathsElsewhere(t *testing.T) {
	dir, s := freshWorld(t)
	lay(t, dir, map[string]string{"x.jsonl": transcript("X", s.Canonical), "home/.gjc/agent/sessions/plain/x.jsonl": transcript("X", s.Canonical)})
	link(t, "-old", filepath.Join(s.Root, "-linked"))
	for _, path := range []string{
		filepath.Join(dir, "x.jsonl"), filepath.Join(s.Root, "plain", "x.jsonl"),
		filepath.Join(s.Root, "-linked", "a.jsonl"), filepath.Join(s.Root, "-old", "a", "out.txt"),
	} {
		if _, err := s.Candidate(context.Background(), disk(), path); !errors.Is(err, ErrChanged) {
			t.Errorf("Candidate(%s) = %v, want ErrChanged", path, err)
		}
	}
}
