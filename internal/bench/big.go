package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/internal/corpus"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
)

// load loads a session of 20 MB whole.
func (b *bench) load(ctx context.Context) error {
	path, err := b.bigFile("20MB", 20<<20)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	ts, err := b.inTurn(func() error {
		_, err := jsonl.Load(ctx, disk, path, jsonl.LoadOptions{})
		return err
	})
	if err != nil {
		return err
	}
	b.add("a session of "+mb(info.Size())+" loaded whole", fmt.Sprintf("%.0f MB/s", float64(info.Size())/1e6/ts[0].Seconds()), "", "", "200 MB/s")
	return nil
}

// bigFile makes a home with one linear, compacted session and gives its path.
func (b *bench) bigFile(name string, size int64) (string, error) {
	dir, err := filepath.Abs(filepath.Join(b.dir, name, "home", "sessions", "--proj-big--"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "2026-02-01T08-00-00-000Z_big00001.jsonl")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return path, corpus.BigSession(path, "big00001", "/proj/big", size, 300_000)
}

func (b *bench) bigSession(ctx context.Context, size int64) error {
	path, err := b.bigFile("big", size)
	if err != nil {
		return err
	}
	home := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	first, err := b.measured("--home", home, "--quiet", "reindex", "--full")
	if err != nil {
		return err
	}
	b.add("reindex --full of a session of "+mb(size)+", its memory", mb(first.memory), "", "", "200 MB")
	x, err := index.Open(ctx, disk, scope.HomeAt(home), index.Options{})
	if err != nil {
		return err
	}
	defer x.Close()
	if _, err := x.Refresh(ctx); err != nil {
		return err
	}
	ts, err := b.inTurn(func() error {
		_, err := x.ContextOf(ctx, path, "", false)
		return err
	})
	if err != nil {
		return err
	}
	b.add("context of a session of "+mb(size)+", in the library", ms(ts[0]), "", "", "50 ms")
	took, err := b.measured("--home", home, "--no-refresh", "context", "big00001")
	if err != nil {
		return err
	}
	b.add("its memory, the process", mb(took.memory), "", "", "64 MB")
	return restored(path, func() error { return b.appendTo(ctx, "big", home, path) })
}
