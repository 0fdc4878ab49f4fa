package index

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// world is a home whose files change at random, as programs and people change
// them.
type world struct {
	rnd    *rand.Rand
	plain  bool // no records of requests
	tools  bool // calls of tools and their results
	home   string
	files  []*worldFile
	n      int
	edited map[string]bool // in place since the last refresh: growth would hide it
	grown  map[string]bool // since the last refresh
}

type worldFile struct {
	path  string
	ids   []string
	lines []string
}

func newWorld(home string, seed uint64) *world {
	return &world{rnd: rand.New(rand.NewPCG(seed, 7)), home: home, edited: map[string]bool{}, grown: map[string]bool{}}
}

func (w *world) chance(percent int) bool { return w.rnd.IntN(100) < percent }

func (w *world) pick(list ...string) string { return list[w.rnd.IntN(len(list))] }

func (w *world) time() string {
	if w.chance(5) {
		return w.pick("yesterday", "", "2099-01-01T00:00:00.000Z", "2026-03-01")
	}
	return time.Date(2026, 1, 1+w.rnd.IntN(60), w.rnd.IntN(24), w.rnd.IntN(60), 0, w.rnd.IntN(1000)*1e6, time.UTC).Format("2006-01-02T15:04:05.000Z")
}

func (w *world) header() string {
	version := w.pick(`,"version":5`, `,"version":5`, `,"version":5`, `,"version":4`, `,"version":3`, `,"version":2`, ``, `,"version":1`, `,"version":6`)
	w.n++
	title := w.pick("", `,"title":"first title"`)
	return fmt.Sprintf(`{"type":"session"%s,"id":"s%d","timestamp":"%s","cwd":"/work/%d"%s}`, version, w.n, w.time(), w.rnd.IntN(3), title)
}

// line is one piece of a file, without its line end.
func (w *world) line(f *worldFile) string {
	w.n++
	id := fmt.Sprintf("%08x", w.n)
	parent := `null`
	if len(f.ids) > 0 {
		parent = `"` + f.ids[len(f.ids)-1] + `"`
		switch w.rnd.IntN(12) {
		case 0:
			parent = `"` + f.ids[w.rnd.IntN(len(f.ids))] + `"`
		case 1:
			parent = w.pick(`null`, `"nowhere"`, `""`, `7`, fmt.Sprintf(`"%08x"`, w.n+1+w.rnd.IntN(3)), `"`+id+`"`)
		}
		if w.chance(4) { // an id that was used before
			id = f.ids[w.rnd.IntN(len(f.ids))]
		}
	}
	base := fmt.Sprintf(`"id":"%s","parentId":%s,"timestamp":"%s"`, id, parent, w.time())
	known := id
	if len(f.ids) > 0 {
		known = f.ids[w.rnd.IntN(len(f.ids))]
	}
	entry := func(format string, args ...any) string {
		f.ids = append(f.ids, id)
		return fmt.Sprintf(format, args...)
	}
	usage := fmt.Sprintf(`"usage":{"input":%d,"output":2,"cost":{"total":0.5}},"provider":"p","model":"m"`, w.rnd.IntN(100))
	k := w.rnd.IntN(26)
	if w.tools && w.chance(40) {
		k = 20 + w.rnd.IntN(6)
	}
	switch k {
	default:
		return entry(`{"type":"message",%s,"message":{"role":"user","content":"prompt %d %s"}}`, base, w.n, w.pick("", "naïve", `tab\t`, "水泵"))
	case 1, 2, 3:
		return entry(`{"type":"message",%s,"message":{"role":"assistant","content":[{"type":"text","text":"a%d"}],%s}}`, base, w.n, usage)
	case 4:
		return entry(`{"type":"label",%s,"targetId":"%s"%s}`, base, known, w.pick(`,"label":"good"`, `,"label":""`, ``, `,"label":null`))
	case 5:
		return entry(`{"type":"model_change",%s,"model":"x/y"}`, base)
	case 6:
		return entry(`{"type":"compaction",%s,"summary":"s","firstKeptEntryId":"%s","tokensBefore":1}`, base, known)
	case 7:
		return fmt.Sprintf(`{"type":"header_patch","patch":{%s}}`, w.pick(`"title":"new"`, `"cwd":"/work/9"`, `"title":"x","titleSource":"user"`, `"titleSource":"odd"`, `"title":7`))
	case 8, 9:
		message := w.pick(`{"role":"assistant","content":"patched",`+usage+`}`, `{"role":"assistant"}`, `{"role":"user","content":"patched prompt"}`, `{}`, `null`)
		return fmt.Sprintf(`{"type":"entry_patch","entryId":"%s","patch":{"message":%s}}`, known, message)
	case 10:
		if len(f.lines) > 1 {
			return f.lines[w.rnd.IntN(len(f.lines)-1)+1] // again, byte for byte
		}
		return ""
	case 11:
		return w.pick("", "  ", "garbage", `{"type":"message"`, "\x00\x00\x00", "[1,2]", "null", "17", `{"no":"type"}`, "[", `{"a":[`)
	case 12:
		return `{"type":"mess` + entry(`{"type":"custom","customType":"c",%s}`, base)
	case 13:
		return entry(`{"type":"custom","customType":"c",%s}`, base) + "  " + fmt.Sprintf(`{"type":"custom","customType":"d",%s}`, base)
	case 14:
		return entry("{\n \"type\":\"message\",\n %s,\n \"message\":{\"role\":\"user\",\"content\":\"over lines\"}\n}", base)
	case 15:
		return w.pick(w.header(), `{"type":"title","title":"odd"}`)
	case 16:
		return entry(`{"type":"message",%s,"message":{"role":"user","content":[{"type":"image","data":"blob:sha256:%064x"}]}}`, base, w.rnd.IntN(3))
	case 17:
		return entry(`{"type":"custom","customType":"x",%s}`, base) + "\x00\x00"
	case 19:
		if w.plain {
			return ""
		}
		return entry(`{"type":"custom",%s,"customType":"gjc-index/usage","data":{"v":1,"request":"r%d","state":"%s","entryId":"%s","provider":"p","model":"m","input":3,"output":1,"cacheRead":0,"cacheWrite":0}}`,
			base, w.rnd.IntN(3), w.pick("partial", "final", "error"), known)
	case 18:
		return entry(`{"type":"thing",%s}`, base) + "\r"
	case 20, 21, 22, 23, 24, 25:
		switch {
		case !w.tools:
			return entry(`{"type":"message",%s,"message":{"role":"user","content":"prompt %d"}}`, base, w.n)
		case k == 20:
			return fmt.Sprintf(`{"type":"entry_patch","entryId":"%s","patch":{"message":%s}}`, known, w.pick(w.call(), w.result()))
		case k == 25:
			return entry(`{"type":"custom",%s,"customType":"gjc-index/execution_effects","data":{"v":1,"paths":[{"path":"a.go","ops":{"edit":2},"first":"2026-01-01T00:00:00.000Z","last":"2026-01-02T00:00:00.000Z"}],"overflow":0,"unprovenCalls":0,"incomplete":false,"calls":[{"id":"call1","tool":"write","path":"kept.go"}]}}`, base)
		case k%2 == 0:
			return entry(`{"type":"message",%s,"message":%s}`, base, w.result())
		}
		return entry(`{"type":"message",%s,"message":%s}`, base, w.call())
	}
}

func (w *world) grow(f *worldFile, pieces int) string {
	var b strings.Builder
	for range pieces {
		line := w.line(f)
		f.lines = append(f.lines, line)
		b.WriteString(line)
		if !w.chance(4) {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (w *world) newFile(t testing.TB) {
	w.n++
	name := fmt.Sprintf("scope%d/2026_%d.jsonl", w.rnd.IntN(3), w.n)
	if len(w.files) > 0 && w.chance(20) {
		name = fmt.Sprintf("scope%d/%s/%d.jsonl", w.rnd.IntN(3), strings.TrimSuffix(filepath.Base(w.file().path), ".jsonl"), w.n)
	}
	f := &worldFile{}
	text := ""
	if w.chance(8) {
		text = w.pick("garbage\n", "\n", `{"type":"title","title":"before"}`+"\n", "\ufeff", "")
	}
	head := w.header()
	f.lines = append(f.lines, head)
	text += head + "\n" + w.grow(f, w.rnd.IntN(12))
	if w.chance(5) {
		text = w.pick("", "not a session\n", "\n\n")
	}
	f.path = put(t, w.home, name, text)
	w.files = append(w.files, f)
}

func (w *world) file() *worldFile { return w.files[w.rnd.IntN(len(w.files))] }

// step changes one thing.
func (w *world) step(t testing.TB) string {
	if len(w.files) < 2 {
		w.newFile(t)
		return "new"
	}
	f := w.file()
	must := func(err error) {
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	switch w.rnd.IntN(14) {
	case 0, 1:
		w.newFile(t)
		return "new"
	case 2: // written anew under the same name
		data, err := os.ReadFile(f.path)
		must(err)
		must(os.WriteFile(f.path+".tmp", append(data[:len(data)/2], w.grow(f, 2)...), 0o600))
		must(os.Rename(f.path+".tmp", f.path))
		delete(w.edited, f.path)
		return "rewrite " + f.path
	case 3: // renamed
		w.n++
		to := filepath.Join(filepath.Dir(f.path), fmt.Sprintf("r%d.jsonl", w.n))
		must(os.Rename(f.path, to))
		f.path = to
		return "rename"
	case 4:
		must(os.Remove(f.path))
		for i := range w.files {
			if w.files[i] == f {
				w.files = append(w.files[:i], w.files[i+1:]...)
				break
			}
		}
		return "remove"
	case 5: // an edit that keeps the length
		if w.grown[f.path] {
			return "" // the same, the other way round
		}
		data, err := os.ReadFile(f.path)
		must(err)
		if len(data) == 0 {
			return ""
		}
		at := w.rnd.IntN(len(data))
		h, err := os.OpenFile(f.path, os.O_RDWR, 0)
		must(err)
		_, err = h.WriteAt([]byte{w.pick("x", "\n", "}", "7")[0]}, int64(at))
		must(err)
		must(h.Close())
		if w.chance(50) { // and its times are set back
			must(os.Chtimes(f.path, time.Unix(1e9, 0), time.Unix(1e9, 0)))
		}
		w.edited[f.path] = true
		return "edit " + f.path
	case 6:
		must(os.Chtimes(f.path, time.Unix(int64(1.7e9+w.rnd.IntN(1e6)), 0), time.Unix(int64(1.7e9+w.rnd.IntN(1e6)), 0)))
		return "restamp"
	case 7: // cut
		if w.grown[f.path] {
			return ""
		}
		data, err := os.ReadFile(f.path)
		must(err)
		must(os.Truncate(f.path, int64(w.rnd.IntN(len(data)+1))))
		w.edited[f.path] = true
		return "cut"
	}
	if w.edited[f.path] {
		return "" // what was edited below and has grown can't be seen
	}
	h, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
	must(err)
	w.grown[f.path] = true
	_, err = h.WriteString(w.grow(f, 1+w.rnd.IntN(4)))
	must(err)
	must(h.Close())
	return "append " + f.path
}

// checkEqual compares the database with a cold build of the same files.
func checkEqual(t testing.TB, x *Index) {
	t.Helper()
	for d, err := range x.Check(t.Context()) {
		if err != nil {
			t.Fatalf("Check: %v", err)
		}
		t.Errorf("Check found %+v", d)
	}
	before := dump(t, x)
	if _, err := x.Rebuild(t.Context()); err != nil {
		t.Fatalf("Rebuild: %v", err)
	}
	if diff := cmp.Diff(strings.Split(dump(t, x), "\n"), strings.Split(before, "\n")); diff != "" {
		t.Errorf("rows after Refresh differ from a rebuild (-want +got):\n%s", diff)
	}
}

// TestRefreshEqualsRebuildWhateverHappens lives through 25 worlds, or as many as
// GJC_INDEX_WORLDS says.
func TestRefreshEqualsRebuildWhateverHappens(t *testing.T) {
	worlds := 25
	if testing.Short() {
		worlds = 5
	}
	if n, err := strconv.Atoi(os.Getenv("GJC_INDEX_WORLDS")); err == nil {
		worlds = n
	}
	for seed := range worlds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "home")
			w := newWorld(home, uint64(seed))
			w.newFile(t)
			x := openAt(t, home, Options{})
			refresh(t, x)
			for round := range 6 {
				var done []string
				for range 1 + w.rnd.IntN(6) {
					done = append(done, w.step(t))
				}
				refresh(t, x)
				clear(w.edited)
				clear(w.grown)
				if round%2 == 1 {
					checkEqual(t, x)
				}
				if t.Failed() {
					t.Fatalf("round %d: %q", round, done)
				}
			}
		})
	}
}
