package index

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/gajae-code/gjc-index/migrations"
)

// dumped are the queries of Dump. Keys are replaced by what they stand for.
var dumped = [...]struct{ title, query string }{
	{"sessions", `
		SELECT c.name, s.name, s.dev, s.inode, s.size, s.mtime_ns, s.ctime_ns, s.state, s.reason, s.id, s.version, s.cwd, s.parent,
		       s.child, s.created_ms, s.last_ms, s.active_ms, s.messages, s.entries, s.seconds, s.malformed, s.recovered,
		       s.title, s.title_source, s.first_prompt, s.at_offset, s.at_line, s.at_malformed, hex(s.at_sum)
		FROM sessions s JOIN scopes c ON c.id = s.scope ORDER BY c.name, s.name`},
	{"entries", `
		SELECT c.name, s.name, e.seq, e.id, e.parent, e.parent_seq, e.run, e.type, e.role, e.time_ms, e.line, e.offset, e.size,
		       e.state, e.gap
		FROM entries e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"patches", `
		SELECT c.name, s.name, e.seq, e.line, e.offset, e.size
		FROM patches e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"labels", `
		SELECT c.name, s.name, e.seq, e.target, e.label, e.current
		FROM labels e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"usage", `
		SELECT c.name, s.name, e.seq, e.time_ms, e.provider, e.model, e.input, e.output, e.cache_read, e.cache_write, e.cost,
		       e.premium, e.stop
		FROM usage e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"usage_packs", `
		SELECT c.name, s.name, hex(e.pack)
		FROM usage_packs e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name`},
	{"refs", `
		SELECT c.name, s.name, hex(e.sum)
		FROM refs e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.sum`},
	{"archives", `
		SELECT c.name, s.name, e.name, e.dev, e.inode, e.size, e.mtime_ns, e.ctime_ns, e.searched, e.reason
		FROM archives e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.name`},
	{"archived", `
		SELECT c.name, s.name, e.seq, e.file, e.run, e.id, e.parent, e.type, e.role, e.time_ms, e.line, e.offset, e.size
		FROM archived e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"touched", `
		SELECT c.name, s.name, e.seq, e.path, e.file, e.creates, e.writes, e.edits, e.deletes, e.renames, e.first, e.last, e.entry
		FROM touched e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"open_calls", `
		SELECT c.name, s.name, e.seq, e.id, e.tool, e.path
		FROM open_calls e LEFT JOIN sessions s ON s.key = e.session LEFT JOIN scopes c ON c.id = s.scope
		ORDER BY c.name, s.name, e.seq`},
	{"prompts", `
		SELECT iif(p.session IS NULL, p.text_at, NULL), c.name, s.name, p.entry, p.line, p.time_ms, d.cwd, p.sum, t.text
		FROM prompts p LEFT JOIN sessions s ON s.key = p.session LEFT JOIN scopes c ON c.id = s.scope
		LEFT JOIN prompt_cwds d ON d.id = p.cwd LEFT JOIN prompt_texts t ON p.session IS NOT NULL AND t.key = p.text_at
		ORDER BY 1, c.name, s.name, p.line, p.entry, p.time_ms, t.text`},
}

// Dump writes all rows as text in an order that depends on the files alone, so
// that two databases of the same files give the same text: a line a row, the
// table first. Keys and rowids are left out.
func (x *Index) Dump(ctx context.Context, out io.Writer) error {
	return x.retrying(ctx, func(db *migrations.DB) error {
		if db == nil {
			return ErrNoIndex
		}
		w := bufio.NewWriter(out)
		for _, d := range dumped {
			if err := dumpTable(ctx, db, w, d.title, d.query); err != nil {
				return fmt.Errorf("dump %s: %w", d.title, err)
			}
		}
		return w.Flush()
	})
}

func dumpTable(ctx context.Context, db *migrations.DB, w *bufio.Writer, title, query string) error {
	rows, err := db.QueryxContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		values, err := rows.SliceScan()
		if err != nil {
			return err
		}
		_, _ = w.WriteString(title + rowText(values) + "\n") // Flush tells of errors
	}
	return rows.Err()
}

// rowText is a row in one line; equal rows have equal texts.
func rowText(values []any) string {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			b = append(b, " -"...)
		case string:
			b = strconv.AppendQuote(append(b, ' '), v)
		case []byte:
			b = hex.AppendEncode(append(b, " x"...), v)
		default:
			b = fmt.Append(append(b, ' '), v)
		}
	}
	return string(b)
}
