package psm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// LogPath is the log of the transcript at path.
func LogPath(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".psm.ndjson" }

// Batch is one line of a log: what was summed up, and the summaries.
type Batch struct {
	At        string // timestamp
	By        string // the summarizer's name
	Inputs    []InputRef
	Summaries []Summary
}

// InputRef names an input.
type InputRef struct {
	Entry string
	Event string // event id; "" if the entry has none
}

// Summary is what a unit came to.
type Summary struct {
	Response string   // entry id of the answer that the unit led to; "" if none came
	Inputs   []string // entry ids
	Text     string
}

// value is the batch as a record.
func (b *Batch) value() jsonl.Value {
	str := jsonl.StringValue
	var inputs, sums []jsonl.Value
	for _, in := range b.Inputs {
		o := jsonl.NewObj(jsonl.Member{Key: "entry", Value: str(in.Entry)})
		if in.Event != "" {
			o.Set("event", str(in.Event))
		}
		inputs = append(inputs, jsonl.ObjectValue(o))
	}
	for _, s := range b.Summaries {
		var of []jsonl.Value
		for _, id := range s.Inputs {
			of = append(of, str(id))
		}
		response := jsonl.NullValue()
		if s.Response != "" {
			response = str(s.Response)
		}
		sums = append(sums, jsonl.ObjectValue(jsonl.NewObj(
			jsonl.Member{Key: "response", Value: response},
			jsonl.Member{Key: "inputs", Value: jsonl.ArrayValue(of...)},
			jsonl.Member{Key: "text", Value: str(s.Text)})))
	}
	return jsonl.ObjectValue(jsonl.NewObj(
		jsonl.Member{Key: "v", Value: jsonl.NumberValue(1)},
		jsonl.Member{Key: "at", Value: str(b.At)},
		jsonl.Member{Key: "by", Value: str(b.By)},
		jsonl.Member{Key: "inputs", Value: jsonl.ArrayValue(inputs...)},
		jsonl.Member{Key: "summaries", Value: jsonl.ArrayValue(sums...)}))
}

// parseBatch reads a batch; ok is false for anything else, also for one that
// has inputs without a summary.
func parseBatch(v jsonl.Value) (b Batch, ok bool) {
	if v.Get("v").Num() != 1 {
		return b, false
	}
	b.At, b.By = v.Get("at").Str(), v.Get("by").Str()
	covered := map[string]bool{}
	for _, s := range v.Get("summaries").Items() {
		sum := Summary{Response: s.Get("response").Str(), Text: s.Get("text").Str()}
		for _, id := range s.Get("inputs").Items() {
			sum.Inputs = append(sum.Inputs, id.Str())
			covered[id.Str()] = true
		}
		b.Summaries = append(b.Summaries, sum)
	}
	for _, in := range v.Get("inputs").Items() {
		ref := InputRef{in.Get("entry").Str(), in.Get("event").Str()}
		if !covered[ref.Entry] {
			return b, false
		}
		b.Inputs = append(b.Inputs, ref)
	}
	return b, len(b.Inputs) > 0
}

// Batches yields the batches of the log of a transcript, in order; none if
// there is no log. Lines that are no batch are passed over: the crash that tore
// them left their inputs to be done. It only reads.
func Batches(ctx context.Context, fsys storage.FS, transcript string) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		f, err := fsys.Open(LogPath(transcript))
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Batch{}, err)
			return
		}
		defer f.Close()
		for b, err := range batchesOf(ctx, f) {
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

func batchesOf(ctx context.Context, f storage.File) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		for rec, err := range jsonl.Read(ctx, &fromStart{f: f}, jsonl.ReadOptions{}) {
			if err != nil {
				yield(Batch{}, err)
				return
			}
			if rec.Recovered {
				continue // something torn stands on its line
			}
			if v, _, err := jsonl.Parse(rec.Raw); err == nil {
				if b, ok := parseBatch(v); ok && !yield(b, nil) {
					return
				}
			}
		}
	}
}

// fromStart reads a file from its beginning, wherever its own offset stands.
type fromStart struct {
	f  storage.File
	at int64
}

// Read reads.
func (r *fromStart) Read(p []byte) (int, error) {
	n, err := r.f.ReadAt(p, r.at)
	r.at += int64(n)
	return n, err
}

// log is a log that is open for writing, locked against other workers. For one
// goroutine.
type log struct {
	fsys storage.FS
	path string
	f    storage.File // nil: there is no log yet
}

// content is what a log holds already.
type content struct {
	done      map[string]bool // entry ids that were summed up
	summaries int
}

// openLog opens the log of a transcript, if there is one, and reads it. ErrBusy
// if another worker has it.
func openLog(ctx context.Context, fsys storage.FS, transcript string) (l *log, have content, err error) {
	l = &log{fsys: fsys, path: LogPath(transcript)}
	have.done = map[string]bool{}
	l.f, err = fsys.Append(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.f = nil
		return l, have, nil
	}
	if err == nil {
		err = l.lock()
	}
	if err == nil {
		err = l.f.Sync() // what a worker that was killed has left counts from here on
	}
	if err == nil {
		for b, rerr := range batchesOf(ctx, l.f) {
			if err = rerr; err != nil {
				break
			}
			have.summaries += len(b.Summaries)
			for _, in := range b.Inputs {
				have.done[in.Entry] = true
			}
		}
	}
	if err != nil {
		return nil, have, errors.Join(fmt.Errorf("open summaries: %w", err), l.close())
	}
	return l, have, nil
}

func (l *log) lock() error {
	err := l.f.TryLock(false)
	if errors.Is(err, storage.ErrLocked) {
		return ErrBusy
	}
	return err
}

// append adds a batch and returns once it is on disk. If it fails nothing of
// the batch is in the file, or it is not known; open the log again.
func (l *log) append(b *Batch) error {
	if l.f == nil {
		if err := l.create(); err != nil {
			return fmt.Errorf("create summaries: %w", err)
		}
	}
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	line, err := l.start(info.Size)
	if err != nil {
		return err
	}
	line = append(jsonl.AppendJSON(line, b.value()), '\n')
	if _, err = l.f.Write(line); err == nil {
		err = l.f.Sync()
	}
	if err != nil {
		if undo := l.f.Truncate(info.Size); undo == nil {
			undo = l.f.Sync()
			err = errors.Join(err, undo)
		}
		return fmt.Errorf("append summaries: %w", err)
	}
	return nil
}

// start is what a line begins with: the end of a line that was torn.
func (l *log) start(size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	var last [1]byte
	if _, err := l.f.ReadAt(last[:], size-1); err != nil {
		return nil, err
	}
	if last[0] != '\n' {
		return []byte{'\n'}, nil
	}
	return nil, nil
}

// create makes the log, which nothing else may have made meanwhile: whoever did
// has perhaps summed up the same.
func (l *log) create() error {
	f, err := l.fsys.Create(l.path)
	if errors.Is(err, fs.ErrExist) {
		return ErrBusy
	}
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), l.fsys.SyncDir(filepath.Dir(l.path))); err != nil {
		return err
	}
	if l.f, err = l.fsys.Append(l.path); err != nil {
		return err
	}
	if err := l.lock(); err != nil {
		return err
	}
	if info, err := l.f.Stat(); err != nil || info.Size > 0 {
		return errors.Join(err, ErrBusy)
	}
	return nil
}

func (l *log) close() error {
	if l == nil || l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}
