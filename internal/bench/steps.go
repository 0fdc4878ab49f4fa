package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

var disk = storage.Disk(storage.Policy{})

// transcripts are all session files of a home and their bytes.
func transcripts(home string) (paths []string, size int64, err error) {
	err = filepath.WalkDir(filepath.Join(home, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		info, err := d.Info()
		if err == nil {
			paths, size = append(paths, path), size+info.Size()
		}
		return err
	})
	return paths, size, err
}

// fieldReader reads the lines of the corpus from memory.
func (b *bench) fieldReader(_ context.Context, size, home string) error {
	paths, _, err := transcripts(home)
	if err != nil {
		return err
	}
	var lines [][]byte
	var total int64
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			lines = append(lines, line)
		}
		if total += int64(len(data)); total > 200<<20 {
			break
		}
	}
	var f jsonl.Fields
	ts, err := b.inTurn(func() error {
		for _, line := range lines {
			f.Scan(line)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.add(size+": field reader, one core", fmt.Sprintf("%.0f MB/s", float64(total)/1e6/ts[0].Seconds()), "", "", "1,000 MB/s")
	return nil
}

// parseOnly reads, splits and reads the fields of all files on one core.
func parseOnly(ctx context.Context, paths []string) error {
	for _, path := range paths {
		f, err := disk.Open(path)
		if err != nil {
			return err
		}
		for _, err := range jsonl.Read(ctx, f, jsonl.ReadOptions{}) {
			if err != nil {
				return errors.Join(err, f.Close())
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) rebuild(ctx context.Context, size, home string) error {
	paths, total, err := transcripts(home)
	if err != nil {
		return err
	}
	var took spent
	var cpu []time.Duration
	reindex := func() error {
		s, err := b.measured("--home", home, "--quiet", "--json", "reindex", "--full")
		took.memory = max(took.memory, s.memory)
		cpu = append(cpu, s.cpu)
		return err
	}
	ts, err := b.inTurn(func() error { return parseOnly(ctx, paths) }, reindex)
	if err != nil {
		return err
	}
	memory := map[string]string{"M": "120 MB", "L": "350 MB"}[size]
	slices.Sort(cpu)
	b.add(size+": reindex --full, the process", ms(ts[1]), "parse only "+ms(ts[0]), ratio(ts[1], ts[0]), "4")
	b.add(size+": its time on the cores", ms(cpu[len(cpu)/2]), "parse only "+ms(ts[0]), ratio(cpu[len(cpu)/2], ts[0]), "")
	b.add(size+": its memory", mb(took.memory), "", "", memory)
	info, err := os.Stat(filepath.Join(home, "index.db"))
	if err != nil {
		return err
	}
	b.add(size+": the index", mb(info.Size()), mb(total)+" of files", fmt.Sprintf("%.1f %%", 100*float64(info.Size())/float64(total)), "15 %")
	return nil
}

// run runs the command and takes the status of damaged files as well.
func (b *bench) run(args ...string) func() error {
	return func() error {
		err := exec.Command(b.command, args...).Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 3 {
			return nil
		}
		return err
	}
}

func (b *bench) unchanged(ctx context.Context, size, home string) error {
	x, err := index.Open(ctx, disk, scope.HomeAt(home), index.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	refresh := func() error { _, err := x.Refresh(ctx); return err }
	for range 2 {
		if err := refresh(); err != nil { // the second look at files that were racy
			return err
		}
	}
	list := b.run("--home", home, "list", "--limit", "20")
	ts, err := b.inTurn(func() error { return bareScan(filepath.Join(home, "sessions")) }, refresh, list)
	if err != nil {
		return err
	}
	b.add(size+": refresh, nothing changed", ms(ts[1]), "getdents + statx "+ms(ts[0]), ratio(ts[1], ts[0]), "2")
	b.add(size+": list --limit 20, a process", ms(ts[2]), "that refresh + 25 ms = "+ms(ts[1]+25*time.Millisecond), ratio(ts[2], ts[1]+25*time.Millisecond), "1")
	return nil
}

// appended adds a record to the largest file, again and again.
func (b *bench) appended(ctx context.Context, size, home string) error {
	paths, _, err := transcripts(home)
	if err != nil {
		return err
	}
	largest, most := "", int64(0)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Size() > most {
			largest, most = path, info.Size()
		}
	}
	if err := restored(largest, func() error { return b.appendTo(ctx, size, home, largest) }); err != nil {
		return err
	}
	return nil
}

func (b *bench) appendTo(ctx context.Context, size, home, path string) error {
	x, err := index.Open(ctx, disk, scope.HomeAt(home), index.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	n := 0
	grow := func() error {
		n++
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(f, `{"type":"message","id":"b%07d","parentId":null,"timestamp":"2026-06-01T00:00:00.000Z","message":{"role":"user","content":"appended by bench"}}`+"\n", n)
		return errors.Join(err, f.Close())
	}
	refresh := func() error { _, err := x.Refresh(ctx); return err }
	if err := errors.Join(refresh(), refresh()); err != nil {
		return err
	}
	ts, err := b.inTurn(refresh, grow, refresh, func() error { time.Sleep(30 * time.Millisecond); return refresh() })
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("%s: refresh after an append to a file of %s", size, mb(info.Size())), ms(ts[2]), "nothing changed "+ms(ts[0]), "+"+ms(ts[2]-ts[0]), "+5 ms")
	return nil
}

// restored runs fn and gives the file its old length and time back.
func restored(path string, fn func() error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	err = fn()
	return errors.Join(err, os.Truncate(path, info.Size()), os.Chtimes(path, info.ModTime(), info.ModTime()))
}

func (b *bench) prompts(ctx context.Context, size, home string) error {
	x, err := index.Open(ctx, disk, scope.HomeAt(home), index.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	if _, err := x.Refresh(ctx); err != nil {
		return err
	}
	for _, q := range []struct{ kind, text, bar string }{
		{"the commonest word", "the", "3 ms"}, {"a word", "timeout", "3 ms"}, {"a beginning", "irri", "3 ms"},
		{"inside of a word", "umqua", "3 ms"}, {"nowhere", "qqzzxxyy", "3 ms"}, {"two words", "timeout kiln", "10 ms"},
		{"a phrase", `"of the"`, "10 ms"}, {"one CJK character", "도", "20 ms"}, {"common parts that never meet", `"the the the the the"`, "60 ms"},
	} {
		ts, err := b.inTurn(func() error {
			_, err := x.Search(ctx, index.SearchRequest{Query: index.ParseQuery(q.text), Limit: 20})
			return err
		})
		if err != nil {
			return err
		}
		b.add(size+": prompt search, "+q.kind, ms(ts[0]), "", "", q.bar)
	}
	ts, err := b.inTurn(b.run("--home", home, "--no-refresh", "search", "--limit", "20", "timeout"))
	if err != nil {
		return err
	}
	b.add(size+": prompt search, a process, --no-refresh", ms(ts[0]), "", "", "12 ms")
	return nil
}

func (b *bench) scans(ctx context.Context, size, home string) error {
	rg, err := exec.LookPath("rg")
	if err != nil {
		fmt.Fprintln(os.Stderr, "no rg: searching of files is not compared")
		return nil
	}
	for _, q := range []struct{ kind, text string }{{"rare letters", "zqxjkv"}, {"common letters", "tesationer"}, {"CJK", "存在しない"}} {
		peer := func() error {
			err := exec.Command(rg, "-l", "-i", "-F", "-j2", q.text, filepath.Join(home, "sessions")).Run()
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == 1 {
				return nil // found nothing, as it should
			}
			return err
		}
		ts, err := b.inTurn(peer, b.run("--home", home, "--no-refresh", "search", "--role", "any", q.text))
		if err != nil {
			return err
		}
		b.add(size+": search --role any, nowhere, "+q.kind, ms(ts[1]), "rg -l -i -F -j2 "+ms(ts[0]), ratio(ts[1], ts[0]), "1.5")
	}
	return nil
}
