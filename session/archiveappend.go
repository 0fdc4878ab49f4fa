package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/storage"
)

// settleArchive makes the archive what the next run is appended to, and says
// which runs it has: one that is to be compressed is, and of two, which a crash
// left, one goes.
func (j *archiveJob) settleArchive(ctx context.Context) ([]archiveRun, error) {
	if err := j.st.oneArchive(ctx, j.path); err != nil {
		return nil, err
	}
	a, err := openArchive(j.st.fsys, j.path)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	runs, err := a.runs(ctx)
	if err == nil && !a.packed && j.opt.Compress {
		err = j.pack(ctx, a)
	}
	if err = errors.Join(err, a.Close()); err != nil {
		return nil, err
	}
	return runs, nil
}

// pack puts a compressed archive in the place of a plain one. Until that is
// gone, which counts as long as it is there, nothing depends on the other.
func (j *archiveJob) pack(ctx context.Context, a *archiveFile) error {
	err := storage.Publish(ctx, j.st.fsys, PackedArchivePath(j.path), newFileMode, func(w io.Writer) error {
		z, err := newPacker(w)
		if err != nil {
			return err
		}
		_, err = io.Copy(z, io.NewSectionReader(a.f, 0, a.parts[0].to))
		return errors.Join(err, z.Close())
	})
	if err != nil {
		return err
	}
	if err := j.st.fsys.Remove(ArchivePath(j.path)); err != nil {
		return err
	}
	return j.st.fsys.SyncDir(filepath.Dir(j.path))
}

// oneArchive removes the compressed archive if the plain one is there as well
// and holds all of it: a crash came before the plain one was gone. The caller
// has the session alone.
func (s *Store) oneArchive(ctx context.Context, path string) error {
	plain, err := s.isThere(ArchivePath(path))
	if err != nil || !plain {
		return err
	}
	packed, err := openPacked(s.fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	same, err := s.holdsRuns(ctx, path, packed)
	if err = errors.Join(err, packed.Close()); err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("%s: %w: it and %s hold different things", PackedArchivePath(path), ErrArchive, filepath.Base(ArchivePath(path)))
	}
	return s.fsys.Remove(PackedArchivePath(path))
}

// holdsRuns reports whether the archive that counts begins with the runs of
// another.
func (s *Store) holdsRuns(ctx context.Context, path string, other *archiveFile) (bool, error) {
	a, err := openArchive(s.fsys, path)
	if err != nil {
		return false, err
	}
	all, err := a.runs(ctx)
	if err = errors.Join(err, a.Close()); err != nil {
		return false, err
	}
	runs, err := other.runs(ctx)
	if err != nil || len(runs) > len(all) {
		return false, err
	}
	return slices.EqualFunc(runs, all[:len(runs)], func(a, b archiveRun) bool {
		return a.sum == b.sum && a.size == b.size && a.lines == b.lines && a.moved == b.moved
	}), nil
}

// newPacker begins a compressed run: the mark before it is written at once.
func newPacker(w io.Writer) (*zstd.Encoder, error) {
	if _, err := w.Write(packMark()); err != nil {
		return nil, err
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true))
}

// archiveAppend appends one run to an archive.
type archiveAppend struct {
	f storage.File
	w storage.WriteBack
	z *zstd.Encoder // nil: it is plain
}

func (a *archiveAppend) Write(p []byte) (int, error) {
	if a.z != nil {
		return a.z.Write(p)
	}
	return a.w.Write(p)
}

// finish ends the run and makes it durable.
func (a *archiveAppend) finish() error {
	if a.z != nil {
		if err := a.z.Close(); err != nil {
			return err
		}
	}
	return a.f.Sync()
}

func (a *archiveAppend) Close() error { return a.f.Close() }

// appendArchive opens the archive for the next run. created says that it was
// made.
func (j *archiveJob) appendArchive() (a *archiveAppend, created bool, err error) {
	name, packed := ArchivePath(j.path), false
	f, err := j.st.fsys.Append(name)
	if missing(err) {
		name, packed = PackedArchivePath(j.path), true
		f, err = j.st.fsys.Append(name)
	}
	if missing(err) {
		if packed = j.opt.Compress; !packed {
			name = ArchivePath(j.path)
		}
		created = true
		f, err = j.createArchive(name)
	}
	if err != nil {
		return nil, false, err
	}
	a = &archiveAppend{f: f, w: storage.WriteBack{File: f}}
	if packed {
		a.z, err = newPacker(&a.w)
	} else {
		err = closeLine(f)
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return a, created, nil
}

func (j *archiveJob) createArchive(name string) (storage.File, error) {
	f, err := j.st.fsys.Create(name)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	return j.st.fsys.Append(name)
}

// closeLine ends a line that a crash cut off.
func closeLine(f storage.File) error {
	st, err := f.Stat()
	if err != nil || st.Size == 0 {
		return err
	}
	var last [1]byte
	if _, err = f.ReadAt(last[:], st.Size-1); errors.Is(err, io.EOF) {
		err = nil
	}
	if err == nil && last[0] != '\n' {
		_, err = f.Write([]byte("\n"))
	}
	return err
}
