package session

import (
	"context"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// aheadSize is the length up to which a file is read before its turn, in bytes.
const aheadSize = 4 << 20

// ahead reads the transcripts of a directory on several goroutines while those
// before them are told of, a few files in advance.
type ahead struct {
	read    func(path string) jsonl.Inspection
	paths   []string
	started int
	coming  map[string]chan jsonl.Inspection
	workers sync.WaitGroup
}

func (d *doctor) ahead(ctx context.Context, dir string, entries []storage.DirEntry) *ahead {
	a := &ahead{coming: map[string]chan jsonl.Inspection{}}
	a.read = func(path string) jsonl.Inspection {
		return jsonl.Inspect(ctx, d.st.fsys, path, jsonl.LoadOptions{MaxLine: d.opt.MaxLine})
	}
	for _, e := range entries {
		if scope.IsTranscriptName(e.Name) && notPlain(e.Info) == "" && e.Info.Size <= aheadSize {
			a.paths = append(a.paths, filepath.Join(dir, e.Name))
		}
	}
	return a
}

// take gives what was read of a file. It is called in the order of the paths;
// files may be left out.
func (a *ahead) take(path string) jsonl.Inspection {
	for len(a.coming) < 2*runtime.GOMAXPROCS(0) && a.started < len(a.paths) {
		next := a.paths[a.started]
		a.started++
		if next < path {
			continue
		}
		done := make(chan jsonl.Inspection, 1)
		a.coming[next] = done
		a.workers.Go(func() { done <- a.read(next) })
	}
	done, ok := a.coming[path]
	if !ok {
		return a.read(path)
	}
	delete(a.coming, path)
	return <-done
}

// wait waits until nothing is read any more.
func (a *ahead) wait() { a.workers.Wait() }
