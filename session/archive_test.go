package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// longSession writes lines of a session at random, with branches, labels,
// patches, usage records and compactions.
type longSession struct {
	r    *rand.Rand
	n    int
	ids  []string
	leaf string

	answers []string
	text    strings.Builder
}

func newLongSession(seed uint64, cwd string) *longSession {
	l := &longSession{r: rand.New(rand.NewPCG(seed, 3))}
	fmt.Fprintf(&l.text, `{"type":"session","version":5,"id":"long0001","timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`+"\n", cwd)
	return l
}

func (l *longSession) add(kind, rest string) {
	l.n++
	id := fmt.Sprintf("%08x", l.n)
	parent := "null"
	if l.leaf != "" {
		parent = `"` + l.leaf + `"`
	}
	at := time.Date(2026, 1, 1, 0, l.n, 0, 0, time.UTC).Format("2006-01-02T15:04:05.000Z")
	fmt.Fprintf(&l.text, `{"type":"%s","id":"%s","parentId":%s,"timestamp":"%s",%s}`, kind, id, parent, at, rest)
	l.text.WriteString([]string{"\n", "\n", "\n", "\r\n", " \n\n"}[l.r.IntN(5)])
	l.ids, l.leaf = append(l.ids, id), id
}

func (l *longSession) answer() string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"a%d"}],"provider":"p","model":"m","usage":{"input":%d,"output":1.0,"cost":{"total":0.01}}}`, l.n, l.r.IntN(99))
}

func (l *longSession) known() string { return l.ids[l.r.IntN(len(l.ids))] }

func (l *longSession) step() {
	if len(l.ids) == 0 {
		l.add("session_init", `"systemPrompt":"s","task":"t","tools":[]`)
		return
	}
	switch l.r.IntN(16) {
	default:
		l.add("message", fmt.Sprintf(`"message":{"role":"user","content":"prompt %d\u2028é"}`, l.n))
	case 0, 1, 2, 3:
		l.add("message", `"message":`+l.answer())
		l.answers = append(l.answers, l.leaf)
	case 4:
		l.add("model_change", `"model":"p/m`+fmt.Sprint(l.r.IntN(3))+`"`)
	case 5:
		l.add("label", fmt.Sprintf(`"targetId":"%s","label":"l%d"`, l.known(), l.n))
	case 6:
		if len(l.answers) > 0 {
			fmt.Fprintf(&l.text, `{"type":"entry_patch","entryId":"%s","patch":{"message":%s}}`+"\n", l.answers[l.r.IntN(len(l.answers))], l.answer())
		}
	case 7:
		fmt.Fprintf(&l.text, `{"type":"header_patch","patch":{"title":"t%d"}}`+"\n", l.n)
	case 8:
		l.add("custom", fmt.Sprintf(`"customType":"gjc-index/usage","data":{"v":1,"request":"r%d","state":"%s","provider":"p","model":"m","input":3,"output":1,"cacheRead":0,"cacheWrite":0}`,
			l.r.IntN(4), []string{"partial", "final"}[l.r.IntN(2)]))
	case 9:
		if l.r.IntN(2) == 0 {
			l.leaf = l.known()
		}
	case 10:
		l.add("custom_message", `"customType":"x","content":"shown","display":true`)
	}
}

// compact sums up what lies before one of the last entries of the path.
func (l *longSession) compact(path []string) {
	kept := path[len(path)-1-l.r.IntN(min(3, len(path)))]
	l.add("compaction", fmt.Sprintf(`"summary":"sum","firstKeptEntryId":"%s","tokensBefore":9`, kept))
}

func (l *longSession) path(t *testing.T) []string {
	var ids []string
	tr, err := jsonl.ParseTranscript(t.Context(), strings.NewReader(l.text.String()), jsonl.LoadOptions{})
	noError(t, err)
	for _, e := range tr.Tree(false).Path(jsonl.LeafAt(l.leaf)) {
		id, _ := e.ID()
		ids = append(ids, id)
	}
	return ids
}

// archiveFacts is what archiving must leave as it is.
type archiveFacts struct {
	Contexts map[string]string
	Labels   []jsonl.Label
	Usage    []checkpoint.UsageTotal
	Title    string
}

func archiveFactsOf(t *testing.T, path string, leaves []string) archiveFacts {
	t.Helper()
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	tree := tr.Tree(false)
	f := archiveFacts{Contexts: map[string]string{}, Labels: tree.Labels(),
		Usage: checkpoint.FoldUsage(tr.Entries(), checkpoint.UsageOptions{Origin: "long0001"}).Totals()}
	for _, id := range leaves {
		f.Contexts[id] = jsonl.BuildContext(tree.Path(jsonl.LeafAt(id))).Value().JSON()
	}
	f.Title, _ = tr.Title()
	return f
}

// liveLeaves are the leaves whose context archiving keeps.
func liveLeaves(t *testing.T, path string, keep bool) []string {
	t.Helper()
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	tree := tr.Tree(false)
	nodes, err := checkpoint.NodesOf(tree)
	noError(t, err)
	plan, err := checkpoint.PlanArchive(nodes, checkpoint.ArchiveOptions{Leaf: len(nodes) - 1, KeepBranches: keep})
	if err != nil {
		return nil
	}
	var ids []string
	for _, at := range plan.Live {
		ids = append(ids, nodes[at].ID)
	}
	return ids
}

func TestArchiveAndUndoOfRandomSessions(t *testing.T) {
	moved := 0
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newPruneWorld(t)
			l := newLongSession(seed, w.cwd)
			grow := func(n int) {
				for range n {
					l.step()
				}
				if l.r.IntN(4) > 0 && len(l.ids) > 3 {
					l.compact(l.path(t))
				}
				for range l.r.IntN(6) {
					l.step()
				}
			}
			grow(10 + l.r.IntN(30))
			path := w.write("long", l.text.String(), "2026-01-01")
			s := w.world.store(Options{settle: 1})
			keep := l.r.IntN(3) == 0
			for range 1 + l.r.IntN(3) {
				leaves := liveLeaves(t, path, keep)
				before := archiveFactsOf(t, path, leaves)
				a, err := s.Archive(t.Context(), path, ArchiveOptions{KeepBranches: keep})
				if errors.Is(err, checkpoint.ErrNotArchivable) {
					return
				}
				noError(t, err)
				moved += a.Moved
				if diff := cmp.Diff(before, archiveFactsOf(t, path, leaves)); diff != "" {
					t.Fatalf("archive changed what it must keep (-before +after):\n%s", diff)
				}
				again, err := s.Archive(t.Context(), path, ArchiveOptions{KeepBranches: keep})
				if err != nil || again.Moved != 0 {
					t.Fatalf("a second run moved %d, %v", again.Moved, err)
				}
				if a.Moved > 0 {
					var dry Archived
					if dry, err = s.Archive(t.Context(), path, ArchiveOptions{DryRun: true, KeepBranches: keep}); err != nil || dry.Moved != 0 {
						t.Fatalf("dry run = %+v, %v", dry, err)
					}
				}
				// Life goes on at the leaf.
				start := l.text.Len()
				l.leaf = lastID(t, path)
				l.ids = []string{l.leaf}
				grow(l.r.IntN(12))
				more := l.text.String()[start:]
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
				noError(t, err)
				_, err = f.WriteString(more)
				noError(t, errors.Join(err, f.Close()))
			}
			whole := archivedText(t, path)
			u, err := s.Unarchive(t.Context(), path)
			noError(t, err)
			got, err := os.ReadFile(path)
			noError(t, err)
			if u.Moved > 0 {
				if diff := cmp.Diff(strings.Split(l.text.String(), "\n"), strings.Split(string(got), "\n")); diff != "" {
					t.Fatalf("undo (-want +got):\n%s\narchive:\n%s", diff, whole)
				}
			}
			if _, err := os.Stat(ArchivePath(path)); !os.IsNotExist(err) {
				t.Errorf("the archive is still there: %v", err)
			}
		})
	}
	if moved < 100 {
		t.Errorf("only %d entries moved in all", moved)
	}
}

func archivedText(t *testing.T, path string) string {
	text, err := os.ReadFile(ArchivePath(path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func lastID(t *testing.T, path string) string {
	tr, err := jsonl.Load(t.Context(), storage.Disk(storage.Policy{}), path, jsonl.LoadOptions{})
	noError(t, err)
	id, _ := tr.Records[len(tr.Records)-1].ID()
	return id
}

// archiveHome is a home with one session that can be archived.
func archiveHome(t *testing.T, fsys storage.FS, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "s", "long.jsonl")
	noErr(t, storage.MkdirAll(fsys, filepath.Dir(path)))
	l := newLongSession(7, "/gone")
	for range 30 {
		l.step()
	}
	l.compact(l.path(t))
	l.step()
	f, err := fsys.Create(path)
	noErr(t, err)
	_, err = f.Write([]byte(l.text.String()))
	noErr(t, errors.Join(err, f.Sync(), f.Close(), fsys.SyncDir(filepath.Dir(path))))
	return path
}

func archiveStep(fsys storage.FS, dir string, _ func()) error {
	s := pruneStore(fsys, dir)
	s.opt.settle = 1
	a, err := s.Archive(context.Background(), filepath.Join(dir, "s", "long.jsonl"), ArchiveOptions{})
	if err == nil && a.Moved == 0 {
		err = errors.New("nothing moved")
	}
	return err
}

// canBeUndone archives what is there, whatever state it is in, and undoes it.
func canBeUndone(t *testing.T, fsys storage.FS, dir string) {
	t.Helper()
	path := filepath.Join(dir, "s", "long.jsonl")
	s := pruneStore(fsys, dir)
	s.opt.settle = 1
	_, err := s.Archive(t.Context(), path, ArchiveOptions{})
	noErr(t, err)
	_, err = s.Unarchive(t.Context(), path)
	noErr(t, err)
	m := storage.NewMemory()
	noErr(t, storage.MkdirAll(m, filepath.Join(storagetest.CrashDir(), "s")))
	want, err := storage.ReadFile(m, archiveHome(t, m, storagetest.CrashDir()), 1<<20)
	noErr(t, err)
	got, err := storage.ReadFile(fsys, path, 1<<20)
	noErr(t, err)
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("after archive and undo (-want +got):\n%s", diff)
	}
}

func TestArchiveKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t, func(t *testing.T, dir string) { archiveHome(t, disk, dir) }, archiveStep,
		func(t *testing.T, dir string, _ int) { canBeUndone(t, disk, dir) })
}

func TestArchiveSurvivesACrash(t *testing.T) {
	storagetest.EachCrash(t, func(t *testing.T, fsys storage.FS, dir string) { archiveHome(t, fsys, dir) }, archiveStep,
		func(t *testing.T, fsys storage.FS, dir string, _ int) { canBeUndone(t, fsys, dir) })
}

func TestUnarchiveKilledAtEachStepIsFinished(t *testing.T) {
	disk := storage.Disk(storage.Policy{})
	storagetest.EachStep(t,
		func(t *testing.T, dir string) {
			archiveHome(t, disk, dir)
			noErr(t, archiveStep(disk, dir, nil))
		},
		func(fsys storage.FS, dir string, _ func()) error {
			s := pruneStore(fsys, dir)
			s.opt.settle = 1
			_, err := s.Unarchive(context.Background(), filepath.Join(dir, "s", "long.jsonl"))
			return err
		},
		func(t *testing.T, dir string, _ int) { canBeUndone(t, disk, dir) })
}
