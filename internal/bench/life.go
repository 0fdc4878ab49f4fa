package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/gajae-code/gjc-index/session"
)

// life measures what happens to sessions in the long run: usage, archives,
// exports, prune and gc. size is that of the big session.
func (b *bench) life(ctx context.Context, size int64) error {
	for _, step := range []func() error{
		func() error { return b.archive(size) }, b.page, b.chat, b.prune, b.collect,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// usageByDay asks for a table that covers all answers.
func (b *bench) usageByDay(_ context.Context, size, home string) error {
	ts, err := b.inTurn(func() error { return b.run("--home", home, "--no-refresh", "--json", "usage", "--by", "day")() })
	if err != nil {
		return err
	}
	b.add(size+": usage --by day, a process, --no-refresh", ms(ts[0]), "", "", "100 ms")
	return nil
}

// exported writes all sessions as an archive, with secrets taken out and without.
func (b *bench) exported(_ context.Context, size, home string) error {
	_, total, err := transcripts(home)
	if err != nil {
		return err
	}
	out := filepath.Join(b.dir, "export.tar.zst")
	defer func() { _ = os.Remove(out) }() // a leftover of a measurement
	for _, more := range [][]string{nil, {"--no-redact"}} {
		s, err := b.measured(append([]string{"--home", home, "-q", "export", "--all", "--format", "archive", "--force", "--out", out}, more...)...)
		if err != nil {
			return err
		}
		what := strings.Join(append([]string{size + ": export --all --format archive"}, more...), " ")
		b.add(what, rate(total, s.wall), "", "", "150 MB/s")
		b.add(what+", its memory", mb(s.memory), "", "", "128 MB")
	}
	return nil
}

func rate(bytes int64, d time.Duration) string {
	return fmt.Sprintf("%.0f MB/s", float64(bytes)/1e6/d.Seconds())
}

// fresh makes a home of the name anew, with a scope for a workspace in it.
func (b *bench) fresh(name string) (home, work, scope string, err error) {
	dir, err := filepath.Abs(filepath.Join(b.dir, name))
	if err != nil {
		return "", "", "", err
	}
	home, work = filepath.Join(dir, "home"), filepath.Join(dir, "work")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(work, 0o700)); err != nil {
		return "", "", "", err
	}
	out, err := exec.Command(b.command, "--home", home, "--json", "new", "--cwd", work).Output()
	if err != nil {
		return "", "", "", fmt.Errorf("new: %w", err)
	}
	var made struct{ Path string }
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&made); err != nil {
		return "", "", "", err
	}
	// A home that is in use has given out event ids: the first one costs a look
	// at all files.
	first := exec.Command(b.command, "--home", home, "-q", "append", made.Path)
	first.Stdin = strings.NewReader(`{"type":"custom","customType":"begun","data":{}}`)
	return home, work, filepath.Dir(made.Path), first.Run()
}

// archive archives one big session and brings it back, beside a copy of its
// file.
func (b *bench) archive(size int64) error {
	home, work, scope, err := b.fresh("archive")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(home)) }() // a leftover of a measurement
	path := filepath.Join(scope, "big.jsonl")
	if err := corpus.BigSession(path, "big00001", work, size, 300_000); err != nil {
		return err
	}
	// The disk may be slower for a while after much was written, so a copy
	// comes before the archiving and one after it.
	before, err := coldCopy(path, filepath.Join(work, "copy"))
	if err != nil {
		return err
	}
	archived, err := b.measured("--home", home, "-q", "--json", "archive", path)
	if err != nil {
		return err
	}
	after, err := coldCopy(session.ArchivePath(path), filepath.Join(work, "copy"))
	if err != nil {
		return err
	}
	back, err := b.measured("--home", home, "-q", "--json", "unarchive", path)
	if err != nil {
		return err
	}
	plain := min(before, after)
	what := fmt.Sprintf("copied from the disk and synced, before %.1f s, after %.1f s", before.Seconds(), after.Seconds())
	b.add("archive of a session of "+mb(size), fmt.Sprintf("%.1f s", archived.wall.Seconds()), what, ratio(archived.wall, plain), "3")
	b.add("its memory", mb(archived.memory), "", "", "96 MB")
	b.add("unarchive of a session of "+mb(size), fmt.Sprintf("%.1f s", back.wall.Seconds()), what, ratio(back.wall, plain), "")
	b.add("its memory", mb(back.memory), "", "", "96 MB")
	return nil
}

// coldCopy is how long it takes to copy a file, which is read from the disk, and
// to sync the copy. Of both no memory of the kernel is left.
func coldCopy(from, to string) (time.Duration, error) {
	if err := forget(from); err != nil {
		return 0, err
	}
	took, err := timed(func() error { return copied(from, to) })
	return took, errors.Join(err, os.Remove(to), forget(from))
}

func timed(do func() error) (time.Duration, error) {
	start := time.Now()
	err := do()
	return time.Since(start), err
}

func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// page exports a session of 20 MB as a page.
func (b *bench) page() error {
	path, err := b.bigFile("20MB", 20<<20)
	if err != nil {
		return err
	}
	home := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	out := filepath.Join(b.dir, "page.html")
	defer func() { _ = os.Remove(out) }() // a leftover of a measurement
	ts, err := b.inTurn(func() error {
		return b.run("--home", home, "-q", "export", "big00001", "--out", out, "--force", "--all-branches")()
	})
	if err != nil {
		return err
	}
	b.add("a session of 20 MB as a page", ms(ts[0]), "", "", "1,000 ms")
	return nil
}

// chat shows the first page of the big session.
func (b *bench) chat() error {
	home := filepath.Join(b.dir, "big", "home")
	if _, err := os.Stat(home); err != nil {
		return nil // left out, as the big session was
	}
	if err := b.run("--home", home, "-q", "reindex")(); err != nil { // the file was appended to, and cut back
		return err
	}
	var memory int64
	ts, err := b.inTurn(func() error {
		s, err := b.measured("--home", home, "--no-refresh", "--json", "chat", "big00001")
		memory = max(memory, s.memory)
		return err
	})
	if err != nil {
		return err
	}
	b.add("the first chat page of the big session, a process", ms(ts[0]), "", "", "50 ms")
	b.add("its memory", mb(memory), "", "", "64 MB")
	return nil
}

// prune moves 5,000 sessions to the trash.
func (b *bench) prune() error {
	const sessions = 5000
	home, work, scope, err := b.fresh("prune")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(home)) }() // a leftover of a measurement
	if err := small(scope, work, sessions, func(int) string { return "old" }); err != nil {
		return err
	}
	s, err := b.measured("--home", home, "-q", "--json", "prune", "--older-than", "30d", "--yes")
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("prune of %d sessions", sessions), fmt.Sprintf("%.2f s", s.wall.Seconds()), "", "", "5 s")
	return nil
}

// small writes small sessions that are old, with a text each.
func small(scope, work string, sessions int, text func(i int) string) error {
	old := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	for i := range sessions {
		path := filepath.Join(scope, fmt.Sprintf("s%05d.jsonl", i))
		data := fmt.Sprintf(`{"type":"session","version":5,"id":"s%05d","timestamp":"2025-05-01T00:00:00.000Z","cwd":%q}`+"\n"+
			`{"type":"message","id":"m1","parentId":null,"timestamp":"2025-05-01T00:00:01.000Z","message":{"role":"user","content":%q}}`+"\n"+
			`{"type":"message","id":"m2","parentId":"m1","timestamp":"2025-05-01T00:00:02.000Z","message":{"role":"assistant","content":"yes"}}`+"\n", i, work, text(i))
		if err := errors.Join(os.WriteFile(path, []byte(data), 0o600), os.Chtimes(path, old, old)); err != nil {
			return err
		}
	}
	return nil
}

// collect looks for unreferred blobs among 50,000, of 10,000 sessions.
func (b *bench) collect() error {
	const sessions, blobs = 10_000, 50_000
	home, work, scope, err := b.fresh("gc")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(filepath.Dir(home)) }() // a leftover of a measurement
	name := func(i int) string { return fmt.Sprintf("%064x", i) }
	if err := small(scope, work, sessions, func(i int) string { return "see blob:sha256:" + name(i) }); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(home, "blobs"), 0o700); err != nil {
		return err
	}
	old := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	for i := range blobs {
		path := filepath.Join(home, "blobs", name(i))
		if err := errors.Join(os.WriteFile(path, []byte("image"), 0o600), os.Chtimes(path, old, old)); err != nil {
			return err
		}
	}
	if err := b.run("--home", home, "-q", "reindex")(); err != nil {
		return err
	}
	s, err := b.measured("--home", home, "-q", "--json", "gc", "--grace", "1h")
	if err != nil {
		return err
	}
	b.add(fmt.Sprintf("gc, a dry run, of %d blobs and %d sessions", blobs, sessions), fmt.Sprintf("%.2f s", s.wall.Seconds()), "", "", "5 s")
	return nil
}
