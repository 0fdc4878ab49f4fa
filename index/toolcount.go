package index

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/migrations"
	"github.com/gajae-code/gjc-index/session"
	"github.com/gajae-code/gjc-index/storage"
)

// Which tool a result is of stands in the session files alone. The index says
// where results lie, so that only the beginning of each is read.

// resultHead is how much of a result is read to find its tool's name.
const resultHead = 1024

// toolFile is a session file whose results are counted.
type toolFile struct {
	path    string
	key     int64
	results []toolResult
}

// toolResult is where a result stands in its file.
type toolResult struct {
	Key      int64  `db:"session"`
	ID       string `db:"id"`
	Ms       int64  `db:"time_ms"`
	Offset   int64  `db:"offset"`
	Size     int64  `db:"size"`
	Patch    int64  `db:"patch_offset"`
	PatchLen int64  `db:"patch_size"`
}

// onceResult tells a result from all others, in whichever session it stands.
type onceResult struct {
	id string
	ms int64
}

// toolCount counts results by tool. Safe for several goroutines.
type toolCount struct {
	x      *Index
	since  int64 // Unix ms
	mu     sync.Mutex
	seen   map[onceResult]bool
	counts map[string]int
	failed []Failure
}

// toolCounts counts the results of tools, each once though several sessions
// hold it, those that were archived too.
func (x *Index) toolCounts(ctx context.Context, f StatsFilter) ([]CountOf, []Failure, error) {
	c := &toolCount{x: x, since: -1 << 62, seen: map[onceResult]bool{}, counts: map[string]int{}}
	if !f.Since.IsZero() {
		c.since = f.Since.UnixMilli()
	}
	files, err := c.files(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	jobs := make(chan *toolFile)
	var workers sync.WaitGroup
	for range max(1, x.opt.Workers) {
		workers.Go(func() {
			for file := range jobs {
				c.file(ctx, file)
			}
		})
	}
	for i := range files {
		if ctx.Err() != nil {
			break
		}
		jobs <- &files[i]
	}
	close(jobs)
	workers.Wait()
	var out []CountOf
	for name, n := range c.counts {
		out = append(out, CountOf{name, n})
	}
	slices.SortFunc(out, func(a, b CountOf) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	slices.SortFunc(c.failed, func(a, b Failure) int { return strings.Compare(a.Path, b.Path) })
	return out, c.failed, ctx.Err()
}

// files are the session files to look into, with their results.
func (c *toolCount) files(ctx context.Context, f StatsFilter) ([]toolFile, error) {
	rows, _, err := c.x.Sessions(ctx, Filter{Project: f.Project, Children: true, brief: true})
	if err != nil {
		return nil, err
	}
	at := map[string]*toolFile{}
	var paths []string
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		at[row.Path] = &toolFile{path: row.Path}
		paths = append(paths, row.Path)
	}
	err = c.x.retrying(ctx, func(db *migrations.DB) error {
		for _, t := range at {
			t.results = nil
		}
		if err := c.stored(ctx, db, at); err != nil {
			return err
		}
		return c.x.eachUnstored(ctx, db, func(path string, r *reading) {
			if t := at[path]; t != nil {
				t.results = c.resultsOf(r)
			}
		})
	})
	files := make([]toolFile, 0, len(paths))
	for _, path := range paths {
		files = append(files, *at[path])
	}
	return files, err
}

// stored takes the results from the database.
func (c *toolCount) stored(ctx context.Context, db *migrations.DB, at map[string]*toolFile) error {
	p := c.x.unstored()
	if db == nil || p != nil && p.all {
		return nil
	}
	var keys []struct {
		Key   int64  `db:"key"`
		Scope string `db:"scope"`
		Name  string `db:"name"`
	}
	err := db.SelectContext(ctx, &keys, `SELECT s.key, c.name AS scope, s.name FROM sessions s JOIN scopes c ON c.id = s.scope`)
	if err != nil {
		return err
	}
	byKey := map[int64]*toolFile{}
	for _, k := range keys {
		path := c.x.fileAt(k.Scope, k.Name)
		if t := at[path]; t != nil && !p.isStale(path) {
			t.key = k.Key
			byKey[k.Key] = t
		}
	}
	found, err := db.QueryContext(ctx, `
		SELECT e.session, coalesce(e.id, ''), coalesce(e.time_ms, 0), e.offset, e.size, coalesce(p.offset, 0), coalesce(p.size, 0)
		FROM entries e LEFT JOIN patches p ON p.session = e.session AND p.seq = e.seq
		WHERE e.role = 'toolResult' AND coalesce(e.time_ms, 0) >= ?`, c.since)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var r toolResult
		if err := found.Scan(&r.Key, &r.ID, &r.Ms, &r.Offset, &r.Size, &r.Patch, &r.PatchLen); err != nil {
			return err
		}
		if t := byKey[r.Key]; t != nil {
			t.results = append(t.results, r)
		}
	}
	return found.Err()
}

// resultsOf are the results of a file that was read just now.
func (c *toolCount) resultsOf(r *reading) []toolResult {
	var all []toolResult
	for i := range r.rows.len() {
		e := r.rows.at(i)
		if e.role != "toolResult" || e.time.ms < c.since {
			continue
		}
		p := r.patches[i]
		all = append(all, toolResult{ID: e.id, Ms: e.time.ms, Offset: e.offset, Size: e.size, Patch: p.offset, PatchLen: p.size})
	}
	return all
}

// file counts the results of one session.
func (c *toolCount) file(ctx context.Context, t *toolFile) {
	err := errors.Join(c.transcript(ctx, t), c.archive(ctx, t.path))
	if err == nil || ctx.Err() != nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = append(c.failed, Failure{Path: t.path, Reason: reasonOf(err)})
}

func (c *toolCount) transcript(ctx context.Context, t *toolFile) error {
	if len(t.results) == 0 {
		return nil
	}
	f, err := c.x.fsys.Open(t.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // was only read
	buf := make([]byte, resultHead)
	for i := range t.results {
		if err := ctx.Err(); err != nil {
			return err
		}
		r := &t.results[i]
		name, err := nameOfResult(f, r, buf)
		if err != nil {
			return err
		}
		c.add(r.ID, r.Ms, name)
	}
	return nil
}

// add counts a result, unless it was counted before.
func (c *toolCount) add(id string, ms int64, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	once := onceResult{id, ms}
	if name == "" || id != "" && c.seen[once] {
		return
	}
	c.seen[once] = true
	c.counts[name]++
}

// nameOfResult is the tool that a result is of; "" if the file says none, or
// was changed since.
func nameOfResult(f storage.File, r *toolResult, buf []byte) (string, error) {
	if r.PatchLen == 0 {
		head := buf[:min(r.Size, int64(len(buf)))]
		n, err := f.ReadAt(head, r.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		if name, ok := toolNameIn(head[:n]); ok {
			return name, nil
		}
	}
	offset, size := r.Offset, r.Size
	if r.PatchLen > 0 {
		offset, size = r.Patch, r.PatchLen
	}
	line := make([]byte, size)
	n, err := f.ReadAt(line, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	var fields jsonl.Fields
	if !readFields(&fields, line[:n]) || !fields.Role.Equal("toolResult") {
		return "", nil
	}
	return fields.ToolName.Text(), nil
}

// readFields fills fields from a line; false if that is no record.
func readFields(fields *jsonl.Fields, line []byte) bool {
	if fields.Scan(line) {
		return true
	}
	v, _, err := jsonl.Parse(line)
	if err == nil {
		fields.Of(line, v)
	}
	return err == nil
}

// toolNameIn finds message.toolName in the beginning of a record, if it is
// written without escapes.
func toolNameIn(head []byte) (string, bool) {
	depth, in := 0, false // in: within the value of message
	for i := 0; i < len(head); i++ {
		switch head[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			in = in && depth > 1
		case '"':
			text, after, ok := quoted(head[i:])
			if !ok {
				return "", false
			}
			i += after - 1
			value, isKey := valueAfter(head[i+1:])
			switch {
			case isKey && depth == 1 && string(text) == "message":
				in = len(value) > 0 && value[0] == '{'
			case isKey && depth == 2 && in && string(text) == "toolName":
				if len(value) == 0 || value[0] != '"' {
					return "", false
				}
				name, _, ok := quoted(value)
				return string(name), ok && bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name)
			}
		}
	}
	return "", false
}

// quoted is the string that text begins with, as written, and how many bytes
// it takes with its quotes.
func quoted(text []byte) (in []byte, size int, ok bool) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[1:i], i + 1, true
		}
	}
	return nil, 0, false
}

// valueAfter is what follows a colon, if one comes next.
func valueAfter(text []byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != ':' {
		return nil, false
	}
	return bytes.TrimLeft(text[1:], " \t\r\n"), true
}

// archive counts what was archived of a session. An archive that can't be read
// adds nothing, as everywhere in the index.
func (c *toolCount) archive(ctx context.Context, path string) error {
	if _, err := c.x.fsys.Lstat(session.ArchivePath(path)); err != nil {
		return nil // there is none
	}
	var fields jsonl.Fields
	for l, err := range session.ReadArchive(ctx, c.x.fsys, path) {
		if err != nil {
			return ctx.Err()
		}
		if !l.Moved || l.Record == nil || !readFields(&fields, l.Record) || !fields.Type.Equal("message") || !fields.Role.Equal("toolResult") {
			continue
		}
		if at := parseMillis(fields.Timestamp.Text()); at.ms >= c.since {
			c.add(fields.ID.Text(), at.ms, fields.ToolName.Text())
		}
	}
	return nil
}
