package index

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

const (
	prefixBytes = 64 << 10 // read of the beginning of a file that is not indexed
	suffixBytes = 16 << 10 // and of its end
	// Of very many files less is read: a first list of them must not take longer
	// than a person waits. Beyond that the ones shown are completed.
	manyFiles       = 1000
	manyPrefixBytes = 8 << 10
	manySuffixBytes = 4 << 10
	// wholeBytes bounds how much of longer files is read whole in place of the
	// database, from one refresh to the next.
	wholeBytes = 256 << 20
)

// looked is a file as far as it was read to be listed without the database.
type looked struct {
	facts
	info                   storage.Info
	gone                   bool // it has vanished
	whole                  bool // read to its end: its numbers are right
	prompts, labels, usage int
}

// looks are the files looked at, by path, so that a command's next question
// doesn't read them again. Safe for several goroutines.
type looks struct {
	mu   sync.Mutex
	had  map[string]looked
	left int64 // bytes of longer files that may still be read
}

func (l *looks) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.had, l.left = map[string]looked{}, wholeBytes
}

// get is what was read of a file that has not changed since.
func (l *looks) get(path string, info *storage.Info) (looked, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had, ok := l.had[path]
	return had, ok && had.info == *info
}

func (l *looks) put(path string, k looked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.had == nil {
		l.had, l.left = map[string]looked{}, wholeBytes
	}
	l.had[path] = k
}

// spend takes n bytes of what may be read, if there are as many.
func (l *looks) spend(n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.had == nil {
		l.had, l.left = map[string]looked{}, wholeBytes
	}
	if n > l.left {
		return false
	}
	l.left -= n
	return true
}

// look reads files: all of each one if they are few bytes together, else the
// beginnings and the ends of the longer ones.
func (x *Index) look(ctx context.Context, w *walk, files []pendingFile) ([]looked, error) {
	out := make([]looked, len(files))
	known := make([]bool, len(files))
	var long int64
	for i := range files {
		f := &files[i].file
		if out[i], known[i] = x.looks.get(w.path(files[i].scope, f.name), &f.info); !known[i] && f.info.Size > prefixBytes {
			long += f.info.Size
		}
	}
	all := x.dir != "" || x.looks.spend(long)
	var jobs []job
	var cut []int
	for i := range files {
		f := files[i].file
		if known[i] {
			continue
		}
		path := w.path(files[i].scope, f.name)
		if all || f.info.Size <= prefixBytes || f.refused != "" {
			jobs = append(jobs, job{why: isNew, scope: i, file: f, path: path})
			continue
		}
		cut = append(cut, i)
	}
	x.glances(ctx, w, files, cut, out)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, x.lookAt(ctx, jobs, out)
}

// glances are those at the files whose places are in cut, several at once.
func (x *Index) glances(ctx context.Context, w *walk, files []pendingFile, cut []int, out []looked) {
	prefix, suffix := int64(prefixBytes), int64(suffixBytes)
	if len(cut) > manyFiles {
		prefix, suffix = manyPrefixBytes, manySuffixBytes
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(x.opt.Workers, len(cut)) {
		group.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(cut) {
					return
				}
				f := &files[cut[n]]
				out[cut[n]] = x.glance(ctx, w.path(f.scope, f.file.name), f.file.info, prefix, suffix)
			}
		})
	}
	group.Wait()
}

// lookAt reads files whole; each job's scope is its place in out.
func (x *Index) lookAt(ctx context.Context, jobs []job, out []looked) error {
	return x.pipe(ctx, nil, jobs, func(o *outcome) error {
		k := looked{info: o.file.info, gone: o.reading == nil, whole: true}
		if r := o.reading; r != nil {
			k.facts, k.labels, k.usage = r.facts, len(r.labels), r.use.len()
			for i := range r.prompts {
				if r.prompts[i].text != "" {
					k.prompts++
				}
			}
			if k.state == StateOK {
				k.info = o.info // it may have grown since the walk
			}
		}
		out[o.scope] = k
		if k.info == o.file.info {
			x.looks.put(o.path, k)
		}
		return nil
	})
}

// glance reads the beginning of a long file and its end, for the time of its
// last record and its title.
func (x *Index) glance(ctx context.Context, path string, info storage.Info, prefix, suffix int64) looked {
	k := looked{info: info}
	r, now, err := x.readEnds(ctx, path, prefix, suffix)
	if err == nil && prefix < prefixBytes && (r.state != StateOK || r.firstPrompt == "") {
		r, now, err = x.readEnds(ctx, path, prefixBytes, suffixBytes) // its beginning is longer
	}
	switch {
	case err == nil:
		k.facts, k.info = r.facts, now
		if now == info {
			x.looks.put(path, k)
		}
	default:
		k.facts = facts{state: StateUnreadable, reason: reasonOf(err)}
		_, err := x.fsys.Lstat(path)
		k.gone = err != nil
	}
	return k
}

func (x *Index) readEnds(ctx context.Context, path string, prefix, suffix int64) (*reading, storage.Info, error) {
	f, err := x.fsys.Open(path)
	if err != nil {
		return nil, storage.Info{}, err
	}
	defer func() { _ = f.Close() }() // read only
	info, err := f.Stat()
	if err != nil {
		return nil, info, err
	}
	ex := newExtractor()
	r, err := ex.whole(ctx, f, min(prefix, info.Size), x.opt.MaxLine)
	if err != nil {
		return r, info, err
	}
	// What the cut left of a record is no damage.
	r.facts.malformed = r.resume.malformed
	if r.state != StateOK {
		return r, info, nil
	}
	from := max(info.Size-suffix, 0)
	tail := jsonl.ReadOptions{MaxLine: x.opt.MaxLine, Offset: from}
	first := true
	for rec, err := range jsonl.Read(ctx, io.NewSectionReader(f, from, suffix), tail) {
		if err != nil {
			return r, info, err
		}
		if first && rec.Offset == from || rec.Recovered {
			first = false
			continue // its line began before
		}
		first = false
		if rec.Fields.Type.Equal("header_patch") {
			ex.r, ex.before = r, nil
			if err := ex.headerPatch(&rec); err != nil {
				return r, info, err
			}
			continue
		}
		if rec.Fields.Timestamp.Ok() {
			r.last = timeOf(rec.Fields.Timestamp)
		}
	}
	return r, info, nil
}
