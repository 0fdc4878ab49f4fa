package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/export"
	"github.com/gajae-code/gjc-index/session/redact"
	"github.com/gajae-code/gjc-index/storage"
)

type exportFlags struct {
	format, out, leaf, project       string
	all, allBranches, keepAll, force bool
}

// exportCommands show sessions to people and other programs.
func (a *app) exportCommands() []*cobra.Command {
	return []*cobra.Command{a.exportCommand(), a.importCommand(), a.chatCommand(), a.psmCommand()}
}

func (a *app) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export ID",
		Short: "Write a session as a page, Markdown, JSON, text or an archive",
		Long: `Write a session to a file that needs nothing else. The formats:

  html     a page: branches, foldable tools, coloured code, pictures, no network
  md, txt  for people
  json     one document for programs
  jsonl    a session file, all branches
  archive  a .tar.zst with all that belongs to the session; import restores it

What is shown is the path that ends at the last entry, or at --leaf; jsonl and
archive are whole. Secrets of known forms are taken out and counted. A file that
is there is not replaced, and a failure or an interrupt leaves none behind.
With --all or --project each session gets a file of its own in the directory
--out; an archive holds them together.`,
		Example: `  gjc-index export 0195c2 --format html --out talk.html
  gjc-index export 0195c2 --format md --all-branches --out -
  gjc-index export --project . --format archive --out work.tar.zst`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.all || f.project != "" {
				return noArgs(cmd, args)
			}
			return oneArg("a session id, --all or --project")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.export(cmd, args, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "", "`FORMAT`: html, md, txt, json, jsonl or archive (default: by the name of --out, else html)")
	fl.StringVar(&f.out, "out", "", "write to `DEST`; - is stdout (default: a name made of the id, here)")
	fl.StringVar(&f.leaf, "leaf", "", "the path that ends at the entry `ID`")
	fl.BoolVar(&f.allBranches, "all-branches", false, "all branches")
	fl.BoolVar(&f.keepAll, "no-redact", false, "take no secrets out")
	fl.BoolVar(&f.force, "force", false, "replace a file that is there")
	fl.BoolVar(&f.all, "all", false, "all sessions")
	fl.StringVar(&f.project, "project", "", "all sessions of the project of `DIR`")
	complete(cmd, "format", "html", "md", "txt", "json", "jsonl", "archive")
	return cmd
}

// exporting is one run of the command.
type exporting struct {
	*app
	x      *index.Index
	f      exportFlags
	format export.Format
	told   func(n int64) // is told how much of a session was written
	redact func(string) (string, int)
}

func (a *app) export(cmd *cobra.Command, args []string, f exportFlags) error {
	format, err := exportFormat(f)
	if err != nil {
		if path, perr := a.absolute(f.out); perr == nil && f.format == "" { // what belongs to the store is refused as that, whatever it is called
			if _, derr := (exporting{app: a, f: f}).destination(path, f.out, ""); errors.Is(derr, storage.ErrUnsafe) {
				return derr
			}
		}
		return err
	}
	if f.leaf != "" && (f.allBranches || format.Whole() || f.all || f.project != "") {
		return usagef("--leaf names one path of one session: leave out --all-branches, --all, --project, and the formats jsonl and archive")
	}
	if f.all && f.project != "" {
		return usagef("--all and --project exclude each other")
	}
	ctx := cmd.Context()
	return a.withIndex(ctx, func(x *index.Index) error {
		e := exporting{app: a, x: x, f: f, format: format, redact: redact.Count}
		if f.keepAll {
			e.redact = nil
		}
		if len(args) == 1 {
			row, err := a.row(ctx, x, args[0])
			if err != nil {
				return err
			}
			if format == export.Archive {
				return e.archive(ctx, []index.Row{row}, row.ID)
			}
			bar := a.exportBar()
			e.told = throttled(func(n int64) { bar.show(index.Progress{Bytes: n, TotalBytes: row.Size}) })
			rep, err := e.one(ctx, row, f.out)
			bar.done()
			if err == nil {
				e.summary(1, rep)
			}
			return err
		}
		rows, err := e.rows(ctx)
		if err != nil {
			return err
		}
		if format == export.Archive {
			return e.archive(ctx, rows, "sessions")
		}
		return e.each(ctx, rows)
	})
}

// exportFormat is the format asked for, or the one that the name of the file
// asks for.
func exportFormat(f exportFlags) (export.Format, error) {
	if f.format != "" {
		format, err := export.ParseFormat(f.format)
		if err != nil {
			return "", usageError(err)
		}
		return format, nil
	}
	if f.out == "-" {
		return export.HTML, nil
	}
	name := strings.ToLower(filepath.Base(f.out))
	for _, format := range export.Formats() {
		if strings.HasSuffix(name, format.Extension()) {
			return format, nil
		}
	}
	many := f.all || f.project != "" // --out is a directory then
	if ext := filepath.Ext(name); len(ext) > 1 && !many {
		return "", usagef("no format is written to files that end in %s: give --format, or another name to --out", plain(ext))
	}
	return export.HTML, nil
}

// rows are the sessions that --all or --project name. An archive has their
// subagents' besides.
func (e exporting) rows(ctx context.Context) ([]index.Row, error) {
	var filter index.Filter
	if e.f.project != "" {
		p, err := e.place(scopeFlags{project: e.f.project})
		if err != nil {
			return nil, err
		}
		filter.Project = p.project
	}
	list, _, err := e.x.Sessions(ctx, filter)
	if err != nil {
		return nil, err
	}
	var rows []index.Row
	for row, err := range list {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if e.f.all {
		bad, err := e.badFiles(ctx, e.x)
		if err != nil {
			return nil, err
		}
		e.sayLeftOut(bad)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("there are no such sessions%w", silent{fs.ErrNotExist})
	}
	return rows, nil
}

// each writes many sessions, each to a file of its own.
func (e exporting) each(ctx context.Context, rows []index.Row) error {
	dir := e.f.out
	if dir == "-" {
		return usagef("--out - is for one session: name a directory")
	}
	if dir != "" {
		if err := e.fsys.Mkdir(realPath(dir)); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make %s: %s%w", dir, cause(err), silent{err})
		}
	}
	taken := map[string]bool{}
	written, all := 0, export.Report{}
	defer func() {
		if written > 0 {
			e.summary(written, all)
		}
	}()
	bar, done, total := e.exportBar(), int64(0), int64(0)
	for _, row := range rows {
		total += row.Size
	}
	e.told = throttled(func(n int64) { bar.show(index.Progress{Bytes: done + n, TotalBytes: total}) })
	defer bar.done()
	for _, row := range rows {
		name := e.fileName(row.ID)
		for n := 2; taken[strings.ToLower(name)]; n++ {
			name = e.fileName(row.ID + "-" + itoa(n))
		}
		taken[strings.ToLower(name)] = true
		rep, err := e.one(ctx, row, filepath.Join(dir, name))
		done += row.Size
		switch {
		case err == nil:
			written++
			all.Secrets += rep.Secrets
			all.Missing += rep.Missing
		case ctx.Err() != nil:
			return err
		default:
			e.leftOut++
			e.note("%s was left out: %s", row.ID, sentence(err))
		}
	}
	return nil
}

func (e exporting) fileName(id string) string {
	if e.redact != nil {
		id, _ = e.redact(id)
	}
	return export.FileName(jsonl.Display(id), e.format)
}

// exportedJSON is what was written; fields are only ever added.
type exportedJSON struct {
	Path            string `json:"path"`
	Format          string `json:"format"`
	Sessions        int    `json:"sessions"`
	Entries         int    `json:"entries"`
	Shown           int    `json:"shown"`
	Redacted        bool   `json:"redacted"`
	SecretsRedacted int    `json:"secretsRedacted"`
	MissingBlobs    int    `json:"missingBlobs"`
}

// one writes one session to a file, or to stdout, and says where.
func (e exporting) one(ctx context.Context, row index.Row, out string) (got export.Report, err error) {
	release, err := export.Hold(ctx, e.fsys, row.Path)
	if err != nil {
		return got, loadError(row.Path, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	write, rep, err := e.writer(ctx, row)
	if err != nil {
		return got, err
	}
	path, err := e.save(ctx, out, e.fileName(row.ID), row.Path, func(w io.Writer) error {
		return write(&toldWriter{w: w, tell: e.told})
	})
	if err != nil {
		return got, err
	}
	switch {
	case path == "":
	case e.json:
		err = e.printJSON(exportedJSON{path, string(e.format), 1, rep.Entries, rep.Shown, e.redact != nil, rep.Secrets, rep.Missing})
	default:
		e.printf("%s\n", path)
	}
	return *rep, err
}

// writer is what writes a session, and the report that it fills in.
func (e exporting) writer(ctx context.Context, row index.Row) (func(io.Writer) error, *export.Report, error) {
	rep := &export.Report{}
	blobs, err := e.blobs()
	if err != nil {
		return nil, nil, err
	}
	if e.format == export.JSONL {
		if _, _, there, err := session.FindArchive(e.fsys, row.Path); err == nil && there {
			e.note("what was archived of the session is not in a session file: --format archive has it")
		}
		return func(w io.Writer) error {
			opt := export.LinesOptions{MaxLine: e.maxLine, Redact: e.redact, Suspect: redact.Suspect, Inline: true, Blobs: blobs}
			got, damaged, err := export.WriteLines(ctx, w, e.fsys, row.Path, opt)
			if damaged > 0 {
				e.leftOut += damaged
				e.note("%s could not be read; gjc-index verify %s lists them", count(damaged, "line"), row.Path)
			}
			*rep = got
			if errors.Is(err, jsonl.ErrNotTranscript) {
				return loadError(row.Path, err)
			}
			return err
		}, rep, nil
	}
	f, err := e.findRow(ctx, row)
	if err != nil {
		return nil, nil, err
	}
	if e.f.leaf != "" && f.tree.Entry(e.f.leaf) == nil {
		return nil, nil, noEntry(f.row, e.f.leaf)
	}
	s := export.Session{ID: f.row.ID, Title: f.row.Title, Cwd: f.row.Cwd, Created: f.row.Created, Tree: f.tree, Entry: f.entry, Blobs: blobs}
	return func(w io.Writer) error {
		opt := export.Options{Leaf: e.f.leaf, AllBranches: e.f.allBranches, Redact: e.redact, Suspect: redact.Suspect}
		got, err := export.Write(ctx, w, s, e.format, opt)
		*rep = got
		return err
	}, rep, nil
}

// findRow opens a session of the index.
func (e exporting) findRow(ctx context.Context, row index.Row) (found, error) {
	f, ok, err := found{}, false, error(nil)
	if row.Size >= e.huge {
		f, ok, err = e.byLines(ctx, e.x, row)
	}
	if err == nil && !ok {
		f, err = e.load(ctx, row, true)
	}
	if err != nil {
		return f, err
	}
	if f, err = e.withArchive(ctx, f); err != nil {
		return f, err
	}
	f.ref = row.ID
	e.warn(f)
	return f, nil
}

// blobs is where pictures are. A home that can't be found has none.
func (e exporting) blobs() (*blob.Store, error) {
	home, err := e.homeDir()
	if err != nil {
		return nil, err
	}
	return blob.New(e.fsys, home.Blobs()), nil
}

// summary says what was written, in all.
func (e exporting) summary(sessions int, rep export.Report) {
	if e.json && e.f.out != "-" {
		return // it stands in the objects
	}
	what := count(rep.Shown, "entry")
	if rep.Shown < rep.Entries {
		what = comma(rep.Shown) + " of " + count(rep.Entries, "entry") + " (--all-branches writes all)"
	}
	if e.f.all || e.f.project != "" {
		what = count(sessions, "session")
	}
	secrets := "nothing redacted"
	if e.redact != nil {
		secrets = count(rep.Secrets, "secret") + " redacted"
	}
	e.note("%s; %s", what, secrets)
	if rep.Missing > 0 {
		e.note("%s could not be found", count(rep.Missing, "blob"))
	}
}
