package corpus

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gajae-code/gjc-index/scope"
)

// Options say how large a home shall be. The zero value of a field stands for
// the value in parentheses.
type Options struct {
	Seed    uint64 // (1)
	Files   int    // session files (200)
	Bytes   int64  // of all session files, about (Files × 215 KB)
	Scopes  int    // workspaces (Files / 40, at least 3)
	Damaged int    // of 1,000 files, how many are damaged (15)
	Blobs   int    // (Files / 20, at least 2)
}

// Sizes are the homes that the figures of this project are measured on.
var Sizes = map[string]Options{
	"S": {Files: 200, Bytes: 24 << 20},
	"M": {Files: 2_000, Bytes: 440 << 20},
	"L": {Files: 10_000, Bytes: 2_050 << 20},
}

// Report is what was made.
type Report struct {
	Home, Workspaces string
	Files, Damaged   int
	Bytes            int64
	Prompts          []Prompt // for history.db
}

// Prompt is a row for history.db, which needs SQLite and so is left to callers.
type Prompt struct {
	Text, Cwd string
	Time      time.Time
}

// Generate makes dir/home and dir/work, which must not exist yet. Two calls
// with the same options and dir give the same files.
func Generate(dir string, o Options) (Report, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Report{}, err
	}
	o = o.withDefaults()
	g := &generator{Options: o, home: scope.HomeAt(filepath.Join(dir, "home")), work: filepath.Join(dir, "work"), pool: linePool(o.Seed)}
	if err := g.prepare(); err != nil {
		return Report{}, err
	}
	rep := Report{Home: g.home.Dir(), Workspaces: g.work}
	for _, err := range g.files(&rep) {
		if err != nil {
			return rep, err
		}
	}
	w := writer{rnd: rand.New(rand.NewPCG(o.Seed, 99))}
	for i := range o.Files / 4 {
		rep.Prompts = append(rep.Prompts, Prompt{Text: w.prompt(), Cwd: g.places[i%len(g.places)].cwd, Time: start.Add(time.Duration(i) * time.Hour)})
	}
	return rep, nil
}

var start = time.Date(2026, 1, 5, 7, 30, 0, 0, time.UTC)

func (o Options) withDefaults() Options {
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.Files == 0 {
		o.Files = 200
	}
	if o.Bytes == 0 {
		o.Bytes = int64(o.Files) * 215_000
	}
	if o.Scopes == 0 {
		o.Scopes = max(3, o.Files/40)
	}
	if o.Damaged == 0 {
		o.Damaged = 15
	}
	if o.Blobs == 0 {
		o.Blobs = max(2, o.Files/20)
	}
	return o
}

type place struct{ dir, cwd string }

type generator struct {
	Options
	home   scope.Home
	work   string
	pool   []string
	places []place
	blobs  []string
}

// prepare makes workspaces, scopes with their bindings, legacy directories and
// blobs.
func (g *generator) prepare() error {
	w := writer{rnd: rand.New(rand.NewPCG(g.Seed, 3))}
	for i := range g.Scopes {
		name := fmt.Sprintf("%s-%s-%d", words[100+i%190], words[100+(i*7)%190], i)
		cwd := filepath.Join(g.work, name)
		dir := filepath.Join(g.home.Sessions(), scope.DirName("posix", cwd))
		legacy := i%6 == 5
		if legacy {
			dir = filepath.Join(g.home.Sessions(), "--"+strings.ReplaceAll(strings.TrimPrefix(cwd, "/"), "/", "-")+"--")
		}
		if i%9 != 8 { // some workspaces are gone
			if err := os.MkdirAll(cwd, 0o755); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if !legacy {
			binding := fmt.Sprintf(`{"schemaVersion":1,"layoutVersion":2,"identityVersion":1,"platform":"posix","canonicalPath":%q,"identityDigest":%q}`+"\n", cwd, scope.Digest("posix", cwd))
			if err := os.WriteFile(filepath.Join(dir, ".gjc-managed-session-scope.v2.json"), []byte(binding), 0o600); err != nil {
				return err
			}
		}
		g.places = append(g.places, place{dir, cwd})
	}
	if err := os.MkdirAll(g.home.Blobs(), 0o700); err != nil {
		return err
	}
	for range g.Blobs {
		data := []byte("\x89PNG\r\n\x1a\n" + w.output(2_000+w.rnd.IntN(4_000), g.pool))
		sum := sha256.Sum256(data)
		name := hex.EncodeToString(sum[:])
		if err := os.WriteFile(filepath.Join(g.home.Blobs(), name), data, 0o600); err != nil {
			return err
		}
		g.blobs = append(g.blobs, name)
	}
	return nil
}

// files makes the session files on two goroutines; each file has its own
// random numbers, so their order does not matter.
func (g *generator) files(rep *Report) []error {
	var wg sync.WaitGroup
	var mu sync.Mutex
	errs := make([]error, 2)
	for worker := range errs {
		wg.Go(func() {
			for i := worker; i < g.Files; i += len(errs) {
				n, damaged, err := g.file(i)
				mu.Lock()
				rep.Files++
				rep.Bytes += n
				if damaged {
					rep.Damaged++
				}
				mu.Unlock()
				if err != nil {
					errs[worker] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errs
}

func (g *generator) file(i int) (size int64, damaged bool, err error) {
	rnd := rand.New(rand.NewPCG(g.Seed, uint64(1000+i)))
	at := g.places[rnd.IntN(len(g.places))]
	mean := float64(g.Bytes) / float64(g.Files)
	created := start.Add(time.Duration(i)*13*time.Minute + time.Duration(rnd.IntN(600))*time.Second)
	p := plan{
		id:      fmt.Sprintf("%08x-%04x-7000-8000-%012x", rnd.Uint32(), rnd.IntN(1<<16), i),
		version: []int{5, 5, 5, 5, 5, 5, 5, 4, 3, 5, 5, 5, 5, 5, 4, 5, 2, 5, 5, 1}[rnd.IntN(20)],
		cwd:     at.cwd, created: created, blobs: g.blobs, pool: g.pool,
		bytes: int(mean * (0.05 + 0.75*rnd.ExpFloat64())),
	}
	data, last := session(rnd, p)
	if rnd.IntN(1000) < g.Damaged {
		data, _ = damage(rnd, data)
		damaged = true
	}
	name := scope.SessionFileName(created.UTC().Format("2006-01-02T15:04:05.000Z"), p.id)
	path := filepath.Join(at.dir, name)
	if err := writeAt(path, data, last); err != nil {
		return 0, damaged, err
	}
	size = int64(len(data))
	if rnd.IntN(25) == 0 { // a subagent's transcript in the session's own directory
		stem := strings.TrimSuffix(path, ".jsonl")
		if err := os.Mkdir(stem, 0o700); err != nil {
			return size, damaged, err
		}
		p.parent, p.id, p.bytes = p.id, p.id[:8]+"-child", 20_000
		child, last := session(rnd, p)
		size += int64(len(child))
		if err := writeAt(filepath.Join(stem, "0-Explore.jsonl"), child, last); err != nil {
			return size, damaged, err
		}
	}
	return size, damaged, nil
}

func writeAt(path string, data []byte, modified time.Time) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, modified, modified)
}
