package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// ward is a home that is checked, with one sound session a in the scope of w.
type ward struct {
	*world
	cwd, dir string
}

func newWard(t *testing.T) *ward {
	w := newWorld(t)
	cwd := w.workspace("w")
	x := &ward{world: w, cwd: cwd, dir: w.scope(cwd).Dir}
	x.put("a.jsonl", sessionText("a", cwd))
	return x
}

// put writes a file of the scope.
func (w *ward) put(name, text string) string {
	w.t.Helper()
	return w.file(filepath.Join(w.dir, name), text, 0)
}

func (w *ward) options(fix bool) DoctorOptions {
	return DoctorOptions{Fix: fix, Free: func(string) int64 { return 1 << 40 }, Network: func(string) bool { return false }}
}

// check is what is not well, as "check state name", with "fixed" for what was
// mended.
func (w *ward) check(fix bool) []string {
	w.t.Helper()
	s := w.reading(Options{Now: w.now})
	if fix {
		s = w.world.store(Options{Now: w.now, settle: time.Nanosecond})
	}
	found := []string{}
	noErr(w.t, s.Doctor(w.t.Context(), w.options(fix), func(f Finding) error {
		state := string(f.State)
		if f.Fixed {
			state = "fixed"
		}
		if f.Detail == "" || f.Path == "" || f.Check == "" {
			w.t.Errorf("finding says too little: %+v", f)
		}
		if f.State == HealthBad && f.Fix == "" && !f.Fixed && f.Check != "orphan" {
			w.t.Errorf("nothing mends %+v", f)
		}
		if f.State != HealthOK {
			found = append(found, f.Check+" "+state+" "+filepath.Base(f.Path))
		}
		return nil
	}))
	return found
}

func (w *ward) now() time.Time { return worldStart.Add(24 * time.Hour) }

func (w *ward) blob(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestDoctorFindsAndMends(t *testing.T) {
	cut := func(text string, n int) string { return text[:len(text)-n] }
	archiveText := func(id string) string { return string(archiveHead(archiveBegin, id, 1)) }
	image := func(w *ward) string {
		return strings.Replace(sessionText("a", w.cwd), `"Sorted."`, `"x"},{"type":"image","mimeType":"image/png","data":"blob:sha256:`+w.blob("image")+`"`, 1)
	}
	tests := []struct {
		name  string
		make  func(w *ward)
		found string // what is not well, by commas
		fixed string // what a run with Fix says; "" is: the same
		after string // what the next run says; "-" is: the same as found
	}{
		{"a sound home", func(*ward) {}, "", "", ""},
		{"a torn tail", func(w *ward) { w.put("a.jsonl", cut(sessionText("a", w.cwd), 9)) }, "torn bad a.jsonl", "", "-"},
		{"a line of garbage", func(w *ward) { w.put("a.jsonl", sessionText("a", w.cwd)+"garbage\n") }, "lines bad a.jsonl", "", "-"},
		{"two records on a line", func(w *ward) {
			w.put("a.jsonl", strings.Replace(sessionText("a", w.cwd), "}}\n{", "}}{", 1))
		}, "lines warn a.jsonl", "", "-"},
		{"no header", func(w *ward) { w.put("a.jsonl", "garbage\n") }, "header bad a.jsonl", "", "-"},
		{"zeros", func(w *ward) { w.put("a.jsonl", strings.Repeat("\x00", 4096)) }, "header bad a.jsonl", "", "-"},
		{"version 5.5", func(w *ward) {
			w.put("a.jsonl", strings.Replace(sessionText("a", w.cwd), `"version":5`, `"version":5.5`, 1))
		}, "header bad a.jsonl", "", "-"},
		{"version 6", func(w *ward) {
			w.put("a.jsonl", strings.Replace(sessionText("a", w.cwd), `"version":5`, `"version":6`, 1))
		}, "version warn a.jsonl", "", "-"},
		{"empty", func(w *ward) { w.put("a.jsonl", "") }, "", "", ""},
		{"an orphan", func(w *ward) {
			w.put("a.jsonl", strings.Replace(sessionText("a", w.cwd), `"parentId":"aa000001"`, `"parentId":"bb"`, 1))
		}, "tree warn a.jsonl", "", "-"},
		{"an unknown type", func(w *ward) {
			w.put("a.jsonl", sessionText("a", w.cwd)+`{"type":"news","id":"n","parentId":"aa000002","timestamp":"2026-02-10T08:03:00.000Z"}`+"\n")
		}, "strict warn a.jsonl", "", "-"},
		{"a child", func(w *ward) { w.put("a/worker.jsonl", "garbage\n") }, "header bad worker.jsonl", "", "-"},
		{"a link", func(w *ward) { noErr(w.t, os.Symlink("a.jsonl", filepath.Join(w.dir, "b.jsonl"))) }, "refused warn b.jsonl", "", "-"},
		{"a second name", func(w *ward) {
			noErr(w.t, os.Link(filepath.Join(w.dir, "a.jsonl"), filepath.Join(w.dir, ".a.jsonl.0123456789abcdef.tmp")))
		}, "refused bad a.jsonl", "refused fixed a.jsonl", ""},
		{"a sequence of garbage", func(w *ward) { w.file(w.home.EventSequence(), "garbage", 0) }, "sequence bad event-id-sequence", "sequence fixed event-id-sequence", ""},
		{"an old sequence", func(w *ward) {
			w.file(w.home.EventSequence(), "0000000000000005\n", 0)
			w.put("a.jsonl", strings.Replace(sessionText("a", w.cwd), `}]}}`, `}]},"event_id":"0000000000000009"}`, 1))
		}, "sequence bad event-id-sequence", "sequence fixed event-id-sequence", ""},
		{"one id twice", func(w *ward) { w.put("b.jsonl", sessionText("a", w.cwd)) }, "twice warn a.jsonl", "", "-"},
		{"a move that was cut off", func(w *ward) { w.put("a.jsonl", sessionText("a", w.workspace("old"))) }, "moved bad a.jsonl", "moved fixed a.jsonl", ""},
		{"a move from a workspace that is gone", func(w *ward) { w.put("a.jsonl", sessionText("a", "/gone")) }, "moved bad a.jsonl", "moved fixed a.jsonl", ""},
		{"a stray that lies elsewhere too", func(w *ward) {
			old := w.workspace("old")
			w.put("b.jsonl", sessionText("b", old))
			w.file(filepath.Join(w.scope(old).Dir, "b.jsonl"), sessionText("b", old), 0)
		}, "twice warn b.jsonl,moved bad b.jsonl", "", "-"},
		{"an archive elsewhere", func(w *ward) { w.put("other.archive.ndjson", archiveText("a")) }, "orphan bad other.archive.ndjson", "orphan fixed other.archive.ndjson", ""},
		{"a compressed archive elsewhere", func(w *ward) { w.put("other.archive.ndjson.zst", packed(w.t, archiveText("a"))) },
			"orphan bad other.archive.ndjson.zst", "orphan fixed other.archive.ndjson.zst", ""},
		{"a compressed archive where there is one", func(w *ward) {
			w.put("a.archive.ndjson", archiveText("a"))
			w.put("other.archive.ndjson.zst", packed(w.t, archiveText("a")))
		}, "orphan bad other.archive.ndjson.zst", "", "-"},
		{"a compressed archive that is damaged", func(w *ward) { w.put("a.archive.ndjson.zst", "garbage") }, "archive bad a.archive.ndjson.zst", "", "-"},
		{"an archive of nobody", func(w *ward) { w.put("other.archive.ndjson", archiveText("z")) }, "orphan bad other.archive.ndjson", "", "-"},
		{"an archive where there is one", func(w *ward) {
			w.put("a.archive.ndjson", archiveText("a"))
			w.put("other.archive.ndjson", archiveText("a"))
		}, "orphan bad other.archive.ndjson", "", "-"},
		{"a pin left by a move", func(w *ward) {
			w.file(filepath.Join(w.scope(w.workspace("old")).Dir, "a.pin.json"), "{}", 0)
		}, "orphan warn a.pin.json", "orphan fixed a.pin.json", ""},
		{"a directory left by a move", func(w *ward) {
			w.file(filepath.Join(w.scope(w.workspace("old")).Dir, "a", "out.txt"), "of a", 0)
		}, "orphan warn a", "orphan fixed a", ""},
		{"a directory of nobody", func(w *ward) { w.put("b/out.txt", "of b") }, "", "", ""},
		{"metadata that are garbage", func(w *ward) { w.put("a.meta.json", "{") }, "sidecars warn a.meta.json", "sidecars fixed a.meta.json", ""},
		{"a leaf that is garbage", func(w *ward) { w.put("a.leaf.json", "{") }, "sidecars warn a.leaf.json", "sidecars fixed a.leaf.json", ""},
		{"a lock file of nobody", func(w *ward) { w.put(".b.lease", "{}") }, "leftover warn .b.lease", "leftover fixed .b.lease", ""},
		{"a temporary file", func(w *ward) { w.put(".a.jsonl.0123456789abcdef.tmp", "x") }, "leftover warn .a.jsonl.0123456789abcdef.tmp", "", "-"},
		{"a backup", func(w *ward) { w.put("b.jsonl.1.bak", sessionText("b", w.cwd)) }, "backup bad b.jsonl.1.bak", "backup fixed b.jsonl.1.bak", ""},
		{"a repair that was cut off", func(w *ward) {
			w.put("b.jsonl."+repairStamp+".damaged", "garbage")
			w.put("b.jsonl."+repairStamp+".repaired", sessionText("b", w.cwd))
		}, "repaired bad b.jsonl", "repaired fixed b.jsonl", ""},
		{"a removal that was cut off", func(w *ward) {
			dir := filepath.Join(w.home.Trash(), "20260101T000000.000Z-b")
			w.file(filepath.Join(dir, "b.jsonl"), sessionText("b", w.cwd), 0)
			w.file(filepath.Join(dir, pendingName), fmt.Sprintf(`{"schema":1,"session":"b","path":%q,"permanent":false}`, filepath.Join(w.dir, "b.jsonl")), 0)
		}, "trash warn trash", "trash fixed trash", ""},
		{"a missing image", func(w *ward) { w.put("a.jsonl", image(w)) }, "blobs bad a.jsonl", "", "-"},
		{"an image in the trash", func(w *ward) {
			w.put("a.jsonl", image(w))
			noErr(w.t, os.MkdirAll(w.home.Blobs(), 0o700))
			w.file(filepath.Join(w.home.Trash(), "20260101T000000.000Z-blobs", w.blob("image")), "image", 0)
		}, "blobs bad a.jsonl", "blobs fixed a.jsonl", ""},
		{"a damaged image", func(w *ward) { w.file(filepath.Join(w.home.Blobs(), w.blob("image")), "imagf", 0) }, "blobs bad " + hexOf("image"), "", "-"},
		{"a workspace that is gone", func(w *ward) { noErr(w.t, os.Rename(w.cwd, w.cwd+"2")) }, "workspace warn " + dirMark, "", "-"},
		{"no binding", func(w *ward) { noErr(w.t, os.Remove(scope.BindingPath(w.dir))) }, "binding warn " + dirMark, "", "-"},
		{"a binding of garbage", func(w *ward) { noErr(w.t, os.WriteFile(scope.BindingPath(w.dir), []byte("{"), 0o600)) },
			"binding bad .gjc-managed-session-scope.v2.json", "", "-"},
		{"a directory of others", func(w *ward) {
			w.file(filepath.Join(w.home.Sessions(), "stuff", "b.jsonl"), sessionText("b", w.cwd), 0)
		},
			"directory warn stuff", "", "-"},
		{"a file of nobody", func(w *ward) { w.file(filepath.Join(w.home.Sessions(), "b.jsonl"), sessionText("b", w.cwd), 0) }, "directory warn b.jsonl", "", "-"},
		{"a damaged session of an older layout", func(w *ward) { w.file(filepath.Join(w.home.Sessions(), "-w-", "b.jsonl"), "garbage\n", 0) }, "header bad b.jsonl", "", "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWard(t)
			tt.make(w)
			want := strings.ReplaceAll(tt.found, dirMark, filepath.Base(w.dir))
			if got := strings.Join(w.check(false), ","); got != want {
				t.Errorf("found %q, want %q", got, want)
			}
			before := w.bytes()
			fixed, after := tt.fixed, tt.after
			if fixed == "" {
				fixed = want
			}
			if after == "-" {
				after = want
			}
			if got := strings.Join(w.check(true), ","); got != fixed {
				t.Errorf("with Fix: %q, want %q", got, fixed)
			}
			for sum, name := range before {
				if _, there := w.bytes()[sum]; !there && !replaceable(name) {
					t.Errorf("what %s held is gone", name)
				}
			}
			for _, again := range []bool{true, false} {
				if got := strings.Join(w.check(again), ","); got != after {
					t.Errorf("afterwards (Fix %v): %q, want %q", again, got, after)
				}
			}
		})
	}
}

// dirMark stands for the name of the scope's directory.
const dirMark = "<scope>"

func hexOf(text string) string { return (&ward{}).blob(text) }

// replaceable are files whose bytes may go: what is made from others, what holds
// nothing, and a header whose workspace is mended.
func replaceable(name string) bool {
	return strings.HasSuffix(name, ".meta.json") || strings.HasSuffix(name, ".lease") || name == "event-id-sequence" ||
		name == "a.jsonl" || name == pendingName
}

// bytes are the sums of all files, with a name.
func (w *ward) bytes() map[string]string {
	all := map[string]string{}
	noErr(w.t, filepath.WalkDir(w.home.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		all[w.blob(string(text))] = d.Name()
		return err
	}))
	return all
}

func TestDoctorTellsOfModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	w := newWard(t)
	noErr(t, os.Chmod(filepath.Join(w.dir, "a.jsonl"), 0o644))
	noErr(t, os.Chmod(w.home.Dir(), 0o755))
	if diff := cmp.Diff([]string{"modes warn agent", "modes warn a.jsonl"}, w.check(false)); diff != "" {
		t.Errorf("wide modes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"modes fixed agent", "modes fixed a.jsonl"}, w.check(true)); diff != "" {
		t.Errorf("with Fix (-want +got):\n%s", diff)
	}
	noErr(t, os.Chmod(w.dir, 0o755))
	noErr(t, os.Chmod(w.home.Sessions(), 0o777))
	want := []string{"modes bad sessions", "binding bad " + filepath.Base(w.dir)}
	for _, fix := range []bool{true, false} { // a person must look first
		if diff := cmp.Diff(want, w.check(fix)); diff != "" {
			t.Errorf("unsafe modes (-want +got):\n%s", diff)
		}
	}
}

func TestDoctorTellsOfTheDisk(t *testing.T) {
	w := newWard(t)
	opt := DoctorOptions{Free: func(string) int64 { return 1 << 20 }, Network: func(string) bool { return true }}
	var got []string
	noErr(t, w.reading(Options{}).Doctor(t.Context(), opt, func(f Finding) error {
		if f.State == HealthWarn {
			got = append(got, f.Check)
		}
		return nil
	}))
	if diff := cmp.Diff([]string{"network", "space"}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

func TestDoctorLeavesAloneWhatIsInUse(t *testing.T) {
	w := newWard(t)
	w.put("a.meta.json", "{")
	held, err := w.world.store(Options{}).hold(t.Context(), filepath.Join(w.dir, "a.jsonl"), 0)
	noErr(t, err)
	if diff := cmp.Diff([]string{"sidecars warn a.meta.json"}, w.check(true)); diff != "" {
		t.Errorf("in use (-want +got):\n%s", diff)
	}
	noErr(t, held.release(true))
	if diff := cmp.Diff([]string{"sidecars fixed a.meta.json"}, w.check(true)); diff != "" {
		t.Errorf("free again (-want +got):\n%s", diff)
	}
	path := filepath.Join(w.dir, "a.jsonl")
	if _, ok, err := ReadMeta(w.world.store(Options{}).fsys, path); !ok || err != nil {
		t.Errorf("what was made anew is of use: %v, %v, want true", ok, err)
	}
}

func TestDoctorCanBeStopped(t *testing.T) {
	w := newWard(t)
	stop := errors.New("enough")
	if err := w.reading(Options{}).Doctor(t.Context(), w.options(false), func(Finding) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("Doctor = %v, want what tell said", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := w.reading(Options{}).Doctor(ctx, w.options(false), func(Finding) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Doctor = %v, want context.Canceled", err)
	}
}

func TestDoctorOfADirectoryLooksAtItAlone(t *testing.T) {
	w := newWorld(t)
	w.file(filepath.Join(w.root, "own", "a.jsonl"), "garbage\n", 0)
	var got []string
	opt := DoctorOptions{Dir: filepath.Join(w.root, "own")}
	noErr(t, w.reading(Options{}).Doctor(t.Context(), opt, func(f Finding) error {
		got = append(got, f.Check+" "+string(f.State)+" "+filepath.Base(f.Path))
		return nil
	}))
	if diff := cmp.Diff([]string{"header bad a.jsonl"}, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// brokenHome has one of each thing that Fix mends.
func brokenHome(t *testing.T, dir string) {
	root, err := storage.RealPath(dir)
	noErr(t, err)
	w := &world{t: t, root: root, home: scope.HomeAt(filepath.Join(root, "agent"))}
	x := &ward{world: w, cwd: w.workspace("w")}
	x.dir = w.scope(x.cwd).Dir
	x.put("a.jsonl", sessionText("a", x.cwd))
	x.put("m.jsonl", sessionText("m", w.workspace("old")))
	x.put("a.meta.json", "{")
	x.put("a.leaf.json", "{")
	x.put(".gone.lease", "{}")
	x.put("other.archive.ndjson", string(archiveHead(archiveBegin, "a", 1)))
	x.put("b.jsonl.1.bak", sessionText("b", x.cwd))
	x.put("c.jsonl."+repairStamp+".damaged", "garbage")
	x.put("c.jsonl."+repairStamp+".repaired", sessionText("c", x.cwd))
	w.file(w.home.EventSequence(), "garbage", 0)
	in := filepath.Join(w.home.Trash(), "20260101T000000.000Z-d")
	w.file(filepath.Join(in, "d.jsonl"), sessionText("d", x.cwd), 0)
	w.file(filepath.Join(in, pendingName), fmt.Sprintf(`{"schema":1,"session":"d","path":%q,"permanent":false}`, filepath.Join(x.dir, "d.jsonl")), 0)
}

func doctorStep(fsys storage.FS, dir string, _ func()) error {
	root, err := storage.RealPath(dir)
	if err != nil {
		return err
	}
	s := NewStore(fsys, Options{Home: scope.HomeAt(filepath.Join(root, "agent")), settle: time.Nanosecond})
	opt := DoctorOptions{Fix: true, Free: func(string) int64 { return -1 }, Network: func(string) bool { return false }}
	return s.Doctor(context.Background(), opt, func(Finding) error { return nil })
}

// mendedInTheEnd fixes once more and wants a home in which nothing is wrong and
// nothing is lost.
func mendedInTheEnd(t *testing.T, dir string) {
	t.Helper()
	disk := storage.Disk(storage.Policy{})
	noErr(t, doctorStep(disk, dir, nil))
	root, err := storage.RealPath(dir)
	noErr(t, err)
	w := &world{t: t, root: root, home: scope.HomeAt(filepath.Join(root, "agent"))}
	opt := DoctorOptions{Free: func(string) int64 { return -1 }, Network: func(string) bool { return false }}
	noErr(t, w.reading(Options{}).Doctor(t.Context(), opt, func(f Finding) error {
		if f.State != HealthOK && f.Check != "leftover" {
			t.Errorf("still: %+v", f)
		}
		return nil
	}))
	l, err := w.reading(Options{}).List(t.Context(), filepath.Join(root, "w"))
	noErr(t, err)
	ids := map[string]bool{}
	for _, in := range l.Sessions {
		ids[in.ID] = true
	}
	trash, err := w.reading(Options{}).Trash(t.Context())
	noErr(t, err)
	if !ids["a"] || !ids["m"] || !ids["b"] || !ids["c"] || len(trash) != 1 {
		t.Errorf("sessions %v, %d in the trash", ids, len(trash))
	}
}

func TestDoctorKilledAnywhereIsFinishedByTheNext(t *testing.T) {
	storagetest.EachStep(t, brokenHome, doctorStep, func(t *testing.T, dir string, _ int) { mendedInTheEnd(t, dir) })
}

func TestDoctorFailingAnywhereLosesNothing(t *testing.T) {
	for _, op := range []storagetest.Op{storagetest.OpRename, storagetest.OpWrite, storagetest.OpSync, storagetest.OpRemove, storagetest.OpCreate, storagetest.OpSyncDir} {
		storagetest.EachFault(t, storagetest.FaultPlan{Op: op, Err: syscall.EIO}, func(t *testing.T, plan storagetest.FaultPlan) *storagetest.Fault {
			dir := storagetest.InRAM(t)
			brokenHome(t, dir)
			f := storagetest.NewFault(storage.Disk(storage.Policy{}), plan)
			noErr(t, doctorStep(f, dir, nil)) // a fix that fails is a finding
			mendedInTheEnd(t, dir)
			return f
		})
	}
}
