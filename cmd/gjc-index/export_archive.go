package main

import (
	"context"
	"io"
	"time"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session/export"
	"github.com/gajae-code/gjc-index/session/redact"
)

// archive writes sessions with all that belongs to them into one file.
func (e exporting) archive(ctx context.Context, rows []index.Row, name string) error {
	home, err := e.homeDir()
	if err != nil {
		return err
	}
	var sources []export.Source
	var bytes int64
	for _, row := range rows {
		sources = append(sources, export.Source{ID: row.ID, Cwd: row.Cwd, Path: row.Path})
		bytes += row.Size
	}
	if len(rows) == 1 && rows[0].ID == "" { // a file that the index doesn't know
		f, err := e.load(ctx, rows[0], true)
		if err != nil {
			return err
		}
		sources[0].ID, sources[0].Cwd, name = f.row.ID, f.row.Cwd, f.row.ID
	}
	bar := e.exportBar()
	opt := export.ArchiveOptions{Redact: e.redact, Suspect: redact.Suspect, Blobs: home.Blobs(), MaxLine: e.maxLine, Progress: throttled(func(n int64) {
		bar.show(index.Progress{Bytes: n, TotalBytes: bytes})
	})}
	var rep export.ArchiveReport
	source := ""
	if len(rows) == 1 {
		source = rows[0].Path
	}
	path, err := e.save(ctx, e.f.out, e.fileName(name), source, func(w io.Writer) error {
		var err error
		rep, err = export.WriteArchive(ctx, w, e.fsys, sources, opt)
		return err
	})
	bar.done()
	if err != nil {
		return err
	}
	return e.archived(path, rep)
}

// exportBar shows on a terminal how far an export has come, if it takes long.
func (a *app) exportBar() *buildBar {
	bar := a.progressBar()
	bar.what = "exporting"
	return bar
}

// toldWriter tells how much was written through it.
type toldWriter struct {
	w    io.Writer
	n    int64
	tell func(n int64) // may be nil
}

// Write writes p.
func (t *toldWriter) Write(p []byte) (int, error) {
	n, err := t.w.Write(p)
	t.n += int64(n)
	if t.tell != nil {
		t.tell(t.n)
	}
	return n, err
}

// throttled calls fn ten times a second at most.
func throttled(fn func(n int64)) func(n int64) {
	var last time.Time
	return func(n int64) {
		if now := time.Now(); now.Sub(last) >= 100*time.Millisecond {
			last = now
			fn(n)
		}
	}
}

// archivedJSON is what was written; fields are only ever added.
type archivedJSON struct {
	Path            string `json:"path"`
	Format          string `json:"format"`
	Sessions        int    `json:"sessions"`
	Files           int    `json:"files"`
	Blobs           int    `json:"blobs"`
	BlobsLeftOut    int    `json:"blobsLeftOut"`
	Redacted        bool   `json:"redacted"`
	SecretsRedacted int    `json:"secretsRedacted"`
}

func (e exporting) archived(path string, rep export.ArchiveReport) error {
	switch {
	case path == "":
	case e.json:
		return e.printJSON(archivedJSON{path, string(export.Archive), rep.Sessions, rep.Files, rep.Blobs, rep.LeftOut, e.redact != nil, rep.Secrets})
	default:
		e.printf("%s\n", path)
	}
	secrets := "nothing redacted"
	if e.redact != nil {
		secrets = count(rep.Secrets, "secret") + " redacted"
	}
	e.note("%s, %s; %s", count(rep.Sessions, "session"), count(rep.Files, "file"), secrets)
	if rep.Damaged > 0 {
		e.leftOut += rep.Damaged
		e.note("%s could not be read and so not be redacted: left out (--no-redact keeps all)", count(rep.Damaged, "line"))
	}
	if rep.LeftOut > 0 {
		e.note("%s left out: missing, or with a secret in it", count(rep.LeftOut, "blob"))
	}
	return nil
}
