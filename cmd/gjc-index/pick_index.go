package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gajae-code/gjc-index/index"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/session/checkpoint"
	"github.com/gajae-code/gjc-index/session/export"
	"github.com/gajae-code/gjc-index/session/redact"
	"github.com/gajae-code/gjc-index/storage"
)

// pickIndex is the pickStore of a home: the index, and the commands.
type pickIndex struct {
	app      *app
	printing bool // what is chosen is printed, not resumed

	opening sync.Once
	index   *index.Index
	store   *session.Store
	openErr error

	noted        string       // by the last refresh; there is one at a time
	files, total atomic.Int64 // of a build
	building     atomic.Bool
	leftOut      atomic.Int64
	project      atomic.Pointer[string] // of the working directory, if it has sessions

	// The generation rises with each change of the index that we know of.
	generation atomic.Int64
	costs      atomic.Pointer[map[string]checkpoint.Sum] // by path

	working sync.WaitGroup
	ending  sync.Mutex
	ended   bool

	mu    sync.Mutex
	metas pickMetas // of the last search
}

// open opens the index, once.
func (p *pickIndex) open(ctx context.Context) (*index.Index, error) {
	p.opening.Do(func() {
		opt := p.app.options(&buildBar{})
		opt.Watched = true
		opt.Progress = func(g index.Progress) {
			p.files.Store(int64(g.Files))
			p.total.Store(int64(g.TotalFiles))
		}
		if p.index, p.openErr = p.app.open(ctx, opt); p.openErr == nil {
			p.store, p.openErr = p.app.readingStore()
		}
	})
	return p.index, p.openErr
}

// begin says that something is done, until it calls end. After close nothing
// is begun.
func (p *pickIndex) begin() (end func(), err error) {
	p.ending.Lock()
	defer p.ending.Unlock()
	if p.ended {
		return nil, context.Canceled
	}
	p.working.Add(1)
	return p.working.Done, nil
}

// close waits for what is being done and gives the index back.
func (p *pickIndex) close() error {
	p.ending.Lock()
	p.ended = true
	p.ending.Unlock()
	p.working.Wait()
	if p.index == nil {
		return nil
	}
	return p.index.Close()
}

func (p *pickIndex) progress() (files, total int) {
	if !p.building.Load() {
		return 0, 0
	}
	return int(p.files.Load()), int(p.total.Load())
}

func (p *pickIndex) here() string {
	if project := p.project.Load(); project != nil {
		return *project
	}
	return ""
}

// findHere finds out whether the project of the working directory has sessions.
func (p *pickIndex) findHere(ctx context.Context, x *index.Index) {
	if p.here() != "" {
		return
	}
	dir, err := p.app.directory("")
	if err != nil {
		return // then there is no such project
	}
	project := p.app.projectOf(realPath(dir))
	if _, total, err := x.Sessions(ctx, index.Filter{Project: project, Limit: 1}); err == nil && total > 0 {
		p.project.Store(&project)
	}
}

// rows lists or searches. What can't be read is counted by refresh.
func (p *pickIndex) rows(ctx context.Context, ask pickAsk) (pickRows, error) {
	end, err := p.begin()
	if err != nil {
		return pickRows{}, err
	}
	defer end()
	x, err := p.open(ctx)
	if err != nil {
		return pickRows{}, err
	}
	var out pickRows
	if q := index.ParseQuery(ask.text); !q.Empty() {
		out, err = p.search(ctx, x, ask, q)
	} else {
		out, err = p.listed(ctx, x, ask)
	}
	if err != nil {
		return pickRows{}, err
	}
	if out.all = out.total; ask.text != "" || ask.project != "" {
		if _, out.all, err = x.Sessions(ctx, index.Filter{Limit: 1}); err != nil {
			return pickRows{}, err
		}
	}
	p.markPinned(ctx, out.items)
	out.leftOut = int(p.leftOut.Load())
	if out.all == 0 {
		b, said := p.app.aside()
		b.nothingListed(index.Filter{}, 0, out.leftOut)
		out.empty = said.text()
	}
	return out, ctx.Err()
}

func (a pickAsk) filter() index.Filter {
	return index.Filter{Project: a.project, Sort: a.sort, Reverse: a.reverse}
}

func (p *pickIndex) listed(ctx context.Context, x *index.Index, ask pickAsk) (pickRows, error) {
	filter := ask.filter()
	filter.Limit = max(1, ask.limit)
	rows, total, err := x.Sessions(ctx, filter)
	if err != nil {
		return pickRows{}, err
	}
	out := pickRows{total: total}
	for row, err := range rows {
		if err != nil {
			return pickRows{}, err
		}
		out.items = append(out.items, pickItem{Row: cutRow(row)})
	}
	return out, nil
}

// cutRow is a row with as much of its texts as a line can show, so that many
// rows need little memory.
func cutRow(row index.Row) index.Row {
	row.Title, row.FirstPrompt = headOfText(row.Title), headOfText(row.FirstPrompt)
	return row
}

func headOfText(text string) string {
	const most = 400 // bytes
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(strings.Clone(text[:most]), "") + " …"
}

// markedPins are looked up in a list; of the others the preview says it.
const markedPins = 400

func (p *pickIndex) markPinned(ctx context.Context, items []pickItem) {
	for i := range items[:min(len(items), markedPins)] {
		if ctx.Err() != nil {
			return
		}
		pinned, err := p.store.Pinned(items[i].Path)
		items[i].pinned = err == nil && pinned
	}
}

// refresh brings the index up to date and sums up what sessions have cost. note
// says what a person must know of it.
func (p *pickIndex) refresh(ctx context.Context) (note string, err error) {
	end, err := p.begin()
	if err != nil {
		return "", err
	}
	defer end()
	x, err := p.open(ctx)
	if err != nil {
		return "", err
	}
	if p.app.noRefresh && p.app.sessionDir == "" && p.generation.Load() == 0 {
		return "", p.count(ctx, x)
	}
	p.building.Store(true)
	rep, err := x.Refresh(ctx)
	p.building.Store(false)
	if err != nil {
		return "", err
	}
	switch notes := x.Notes(); {
	case rep.Unwritten != nil:
		note = "what is new can't be written to the index: " + sentence(rep.Unwritten)
	case rep.Busy:
		note = "another process is writing the index: what is new is read from the files"
	case len(notes) > 0:
		note = notes[0]
	}
	if note == p.noted { // once is enough
		note = ""
	} else {
		p.noted = note
	}
	return plain(note), p.count(ctx, x)
}

// count finds out what the list shows beside the sessions: files left out, and
// costs.
func (p *pickIndex) count(ctx context.Context, x *index.Index) error {
	p.generation.Add(1)
	p.findHere(ctx, x)
	_, bad, err := x.Sessions(ctx, index.Filter{Damaged: index.DamagedLost, Children: true, Limit: 1})
	if err != nil {
		return err
	}
	p.leftOut.Store(int64(bad))
	rows, err := x.Usage(ctx, index.UsageFilter{By: index.UsageSession})
	if err != nil {
		return err
	}
	costs := make(map[string]checkpoint.Sum, len(rows))
	for _, row := range rows {
		costs[row.Path] = row.Sum
	}
	p.costs.Store(&costs)
	return nil
}

// canEnd says why a session can't be gone on with, so that it is said before
// the screen is gone.
func (p *pickIndex) canEnd(item pickItem, end pickEnd) error {
	if p.printing && end == endChosen {
		return nil
	}
	words, err := p.app.resumeCommand(item.Row)
	if err != nil || end == endCommand {
		return err
	}
	return p.app.canRun(words, item.Cwd)
}

func (p *pickIndex) exportName(item pickItem) string {
	e := exporting{app: p.app, format: export.HTML, redact: redact.Count}
	return e.fileName(item.ID)
}

// isDir reports a directory, also behind a link.
func (a *app) isDir(path string) bool {
	info, err := a.fsys.Lstat(realPath(path))
	return err == nil && info.Kind == storage.Dir
}

// homePath is a path in which ~ may stand for the person's directory.
func homePath(path, user string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && user != "" {
		return filepath.Join(user, rest)
	}
	return path
}

// errNoPrint is text that no shell could be given on one line.
func errNoPrint(what string) error {
	return fmt.Errorf("its %s holds control characters, which can't be printed as a command", what)
}
