package index

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/scope"
	"github.com/gajae-code/gjc-index/storage"
)

// Options of Open. The zero value is right for a command.
type Options struct {
	Now         func() time.Time                // nil: time.Now
	Tick        func(path string) time.Duration // clock tick of a file system; nil: storage.Tick
	BusyTimeout time.Duration                   // how long to wait for another process; 0: 5 s
	Project     func(cwd string) string         // the project of a workspace; nil: the workspace itself
	Progress    func(Progress)                  // told of a build's progress; may be nil
	MaxLine     int64                           // longest line in bytes; 0: jsonl's default
	Workers     int                             // readers of files at once; 0: by the number of cores
}

// Index answers what the files say. Make one with Open, end it with Close.
type Index struct{}

var errUnbuilt = errors.New("index is not built yet")

// Open opens the index of home, making its database if there is none and the
// home exists. It does not fail for anything that is wrong with the database:
// see Notes. The only errors are those of ctx.
func Open(ctx context.Context, fsys storage.FS, home scope.Home, opt Options) (*Index, error) {
	return nil, errUnbuilt
}

// Close gives the database back.
func (x *Index) Close() error { return nil }

// Notes are sentences for people about what is not as it should be: a newer
// schema, a read-only home, a damaged database set aside, a busy one.
func (x *Index) Notes() []string { return nil }

// Refresh brings the database up to what is on disk: changed files only, all of
// them the first time. If another process is writing it doesn't wait, unless
// nothing was ever built.
func (x *Index) Refresh(ctx context.Context) (Report, error) { return Report{}, errUnbuilt }

// Rebuild reads every file again and replaces all rows in one transaction, in
// place; others read the old rows until it ends.
func (x *Index) Rebuild(ctx context.Context) (Report, error) { return Report{}, errUnbuilt }

// Sessions gives the rows that f selects, in its order, and how many there are
// without its limit and offset. An error pair is the last one.
func (x *Index) Sessions(ctx context.Context, f Filter) (iter.Seq2[Row, error], int, error) {
	return nil, 0, errUnbuilt
}

// Find is the session that ref names: a path, an id, a file name without
// .jsonl, or the beginning of an id. Errors: fs.ErrNotExist; *AmbiguousError
// with the candidates.
func (x *Index) Find(ctx context.Context, ref string) (Row, error) { return Row{}, errUnbuilt }

// Entries gives the entries of the session file at path in file order.
// fs.ErrNotExist if that file is not in the database.
func (x *Index) Entries(ctx context.Context, path string) iter.Seq2[EntryRow, error] {
	return func(yield func(EntryRow, error) bool) { yield(EntryRow{}, errUnbuilt) }
}

// Labels gives the label entries of a session in file order.
func (x *Index) Labels(ctx context.Context, path string) ([]LabelRow, error) { return nil, errUnbuilt }

// ContextOf is the context that ends at leaf ("": the last entry), made by
// reading only the lines that decide it. strict leaves holes unbridged.
func (x *Index) ContextOf(ctx context.Context, path, leaf string, strict bool) (jsonl.Value, error) {
	return jsonl.Value{}, errUnbuilt
}

// Check compares the database with the files, all of them read again, and gives
// every difference. An error pair is the last one.
func (x *Index) Check(ctx context.Context) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) { yield(Difference{}, errUnbuilt) }
}

// Dump writes all rows as text in an order that depends on the files alone, so
// that two databases of the same files give the same text.
func (x *Index) Dump(ctx context.Context, w io.Writer) error { return errUnbuilt }

// Status says what the database holds.
func (x *Index) Status(ctx context.Context) (Status, error) { return Status{}, errUnbuilt }
