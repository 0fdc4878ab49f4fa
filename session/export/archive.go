package export

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/storage"
)

// Source is a session that goes into an archive.
type Source struct {
	ID, Cwd string
	Path    string // of the transcript
}

// ArchiveOptions say how an archive is written.
type ArchiveOptions struct {
	// Redact takes secrets out of a text and counts them; nil takes none out,
	// and every file of the archive is byte for byte the one it was made from.
	Redact func(text string) (clean string, secrets int)

	// Suspect reports whether a record's JSON may hold a secret: one that it
	// says false of stays as it is, unread. nil says true of all.
	Suspect func(json []byte) bool

	Blobs    string            // directory of the blobs; "" is none
	MaxLine  int64             // see jsonl.ReadOptions
	Progress func(bytes int64) // is told how much was written; may be nil
}

// ArchiveReport says what went into an archive.
type ArchiveReport struct {
	Sessions, Files, Blobs int
	Secrets                int
	Damaged                int // lines that could not be read, and were left out by the redaction
	LeftOut                int // blobs that are missing, or were left out since a secret is in them
}

// WriteArchive writes a tar file, compressed with zstd, of all that belongs to
// sessions: transcripts, archived entries, artifacts, subagents' transcripts,
// summaries, the blobs that any of these refer to, and a manifest with the sum
// of each file. Files are streamed; one that grows meanwhile is taken as long
// as it was at first.
//
// Redaction goes line by line through session files and through texts as a
// whole; a blob that is a text with a secret in it is left out.
func WriteArchive(ctx context.Context, w io.Writer, fsys storage.FS, sources []Source, opt ArchiveOptions) (rep ArchiveReport, err error) {
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20))
	if err != nil {
		return rep, err
	}
	a := &archiver{ctx: ctx, fsys: fsys, opt: opt, tw: tar.NewWriter(z), refs: map[string]bool{}, rep: &rep, buf: make([]byte, 256<<10), window: make([]byte, 0, 256<<10)}
	a.m = manifest{Format: manifestFormat, V: 1, Redacted: opt.Redact != nil, Sessions: []manifestSession{}, Files: []manifestFile{}}
	err = a.all(sources)
	if err == nil {
		err = a.tw.Close()
	}
	return rep, errors.Join(err, z.Close())
}

type archiver struct {
	ctx  context.Context
	fsys storage.FS
	opt  ArchiveOptions
	tw   *tar.Writer
	m    manifest
	refs map[string]bool // blobs, by their digits
	rep  *ArchiveReport
	done int64

	buf    []byte // of the goroutine that writes
	window []byte // of the one that reads
}

// all writes the archive. Files are made ready, which redaction makes long, by
// one goroutine and written by another.
func (a *archiver) all(sources []Source) error {
	ctx, cancel := context.WithCancel(a.ctx)
	ready := make(chan member)
	var failed error
	go func() {
		defer close(ready)
		for i, src := range sources {
			if failed = a.session(ctx, i, src, ready); failed != nil {
				return
			}
		}
	}()
	var err error
	for m := range ready {
		if err == nil {
			err = a.put(m)
		}
		if cerr := m.close(); err == nil {
			err = cerr
		}
		if err != nil {
			cancel()
		}
	}
	cancel()
	if err == nil {
		err = failed
	}
	if err == nil {
		err = a.blobs()
	}
	if err == nil {
		err = a.manifest()
	}
	return err
}

func (a *archiver) manifest() error {
	a.m.Secrets, a.m.LeftOut = a.rep.Secrets, a.rep.LeftOut
	data, err := json.MarshalIndent(a.m, "", " ")
	if err != nil {
		return err
	}
	if err := a.tw.WriteHeader(&tar.Header{Name: manifestName, Mode: fileMode, Size: int64(len(data))}); err != nil {
		return err
	}
	_, err = a.tw.Write(data)
	return err
}

// session makes the files of one session ready, the transcript last: who
// unpacks an archive that was cut off has no session without its parts.
func (a *archiver) session(ctx context.Context, i int, src Source, ready chan<- member) (err error) {
	release, err := Hold(ctx, a.fsys, src.Path)
	if err != nil {
		return err
	}
	held := true // until the last member is written
	defer func() {
		if held {
			err = errors.Join(err, release())
		}
	}()
	files, err := belongings(a.fsys, src.Path)
	if err != nil {
		return err
	}
	dir := fmt.Sprintf("%s/%04d", sessionsDir, i+1)
	names := namer{redact: a.opt.Redact, taken: map[string]bool{}, secrets: &a.rep.Secrets}
	entry := manifestSession{ID: src.ID, Cwd: names.text(src.Cwd), Dir: dir}
	for _, f := range files {
		if a.opt.Redact != nil && a.isOld(f.path) {
			continue
		}
		entry.Transcript = names.name(f.name) // the last one is
		name := dir + "/" + entry.Transcript
		if !safeName(name) {
			return fmt.Errorf("archive %s: its file %.80q has a name that not every system can have", src.ID, f.name)
		}
		m, err := a.file(name, f.path)
		if err != nil {
			return err
		}
		if last := f.path == src.Path; last {
			file := m.close
			m.close, held = func() error { return errors.Join(file(), release()) }, false
		}
		select {
		case ready <- m:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), m.close())
		}
	}
	a.m.Sessions = append(a.m.Sessions, entry)
	a.rep.Sessions++
	return nil
}

// file makes one file of a session ready, redacted if that is asked for.
func (a *archiver) file(name, path string) (m member, err error) {
	f, err := a.fsys.Open(path)
	if err != nil {
		return m, err
	}
	info, err := f.Stat()
	if err != nil {
		return m, errors.Join(err, f.Close())
	}
	m = member{name: name, size: info.Size, time: info.ModTime, close: f.Close, write: func(w io.Writer) error {
		return copySection(w, f, 0, info.Size, a.buf)
	}}
	switch {
	case a.opt.Redact != nil:
		m, err = a.redacted(m, f, path)
	case strings.HasSuffix(name, packedEnding):
		refs := &refFinder{found: map[string]bool{}}
		err = a.unpacked(path, refs)
		m.refs = refs.found
	}
	if err != nil {
		return m, errors.Join(fmt.Errorf("archive %s: %w", path, err), f.Close())
	}
	return m, nil
}

// member is a file on its way into the archive. write writes exactly size
// bytes.
type member struct {
	name  string
	size  int64
	time  int64 // Unix ns
	write func(w io.Writer) error
	close func() error
	refs  map[string]bool // blobs that are named in it where its bytes don't show
}

func (a *archiver) put(m member) error {
	h := &tar.Header{Name: m.name, Mode: fileMode, Size: m.size, ModTime: time.Unix(0, m.time).Truncate(time.Second)}
	if err := a.tw.WriteHeader(h); err != nil {
		return err
	}
	sum := sha256.New()
	refs := &refFinder{found: a.refs}
	maps.Copy(a.refs, m.refs)
	if err := m.write(&watched{a, io.MultiWriter(a.tw, sum, refs)}); err != nil {
		return fmt.Errorf("archive %s: %w", m.name, err)
	}
	if err := a.tw.Flush(); err != nil { // fails if the size was wrong
		return fmt.Errorf("archive %s: %w", m.name, err)
	}
	a.m.Files = append(a.m.Files, manifestFile{m.name, m.size, hex.EncodeToString(sum.Sum(nil))})
	a.rep.Files++
	return nil
}

// watched ends with the context and tells how far the archive is.
type watched struct {
	a *archiver
	w io.Writer
}

// Write writes p.
func (w *watched) Write(p []byte) (int, error) {
	if err := w.a.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.w.Write(p)
	w.a.done += int64(n)
	if w.a.opt.Progress != nil {
		w.a.opt.Progress(w.a.done)
	}
	return n, err
}

// blobs writes the blobs that were referred to.
func (a *archiver) blobs() error {
	if a.opt.Blobs == "" {
		a.rep.LeftOut += len(a.refs)
		return nil
	}
	store := blob.New(a.fsys, a.opt.Blobs)
	digits := make([]string, 0, len(a.refs))
	for d := range a.refs {
		digits = append(digits, d)
	}
	slices.Sort(digits)
	for _, d := range digits {
		ref, err := blob.ParseHex(d)
		if err != nil {
			continue
		}
		data, err := store.Get(a.ctx, ref)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, blob.ErrCorrupt):
			a.rep.LeftOut++
			continue
		case err != nil:
			return err
		}
		if a.tells(data) {
			a.rep.LeftOut++
			continue
		}
		m := member{name: blobsDir + "/" + d, size: int64(len(data)), write: func(w io.Writer) error { _, err := w.Write(data); return err }}
		if err := a.put(m); err != nil {
			return err
		}
		a.rep.Blobs++
	}
	return nil
}
