package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

const appendPath = "/s.jsonl"

// memoryFile is a file system that holds one transcript.
func memoryFile(t testing.TB, text string) *storage.Memory {
	t.Helper()
	m := storage.NewMemory()
	f, err := m.Create(appendPath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close(), m.SyncDir("/")); err != nil {
		t.Fatal(err)
	}
	return m
}

func contentOf(t testing.TB, fsys storage.FS) string {
	t.Helper()
	data, err := storage.ReadFile(fsys, appendPath, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// writeBehind appends as another program does, by path.
func writeBehind(t testing.TB, fsys storage.FS, line string) {
	t.Helper()
	f, err := fsys.Append(appendPath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAppendOutcomes(t *testing.T) {
	const old, batch, other = "{\"a\":1}\n", "{\"b\":2}\n{\"c\":3}\n", "{\"other\":1}\n"
	// failAt fails the first operation of a kind, and does something before it.
	tests := []struct {
		name    string
		start   string
		op      storagetest.Op
		short   int // bytes that the failing write writes
		sticky  bool
		sync    bool
		between storagetest.Op // another program appends before this operation
		want    string
		outcome Outcome
	}{
		{name: "nothing fails", start: old, want: old + batch},
		{name: "torn tail is closed first", start: old + `{"torn`, want: old + "{\"torn\n" + batch},
		{name: "write fails at once", start: old, op: storagetest.OpWrite, want: old, outcome: RolledBack},
		{name: "short write is cut back", start: old, op: storagetest.OpWrite, short: 9, want: old, outcome: RolledBack},
		{name: "short write after a torn tail", start: old + `{"torn`, op: storagetest.OpWrite, short: 5, want: old + `{"torn`, outcome: RolledBack},
		{
			name: "line of another after a short write stays whole", start: old, op: storagetest.OpWrite, short: 9,
			between: storagetest.OpStat, want: old + batch[:9] + other + "\n", outcome: Uncertain,
		},
		{
			name: "another's line when nothing was written", start: old, op: storagetest.OpWrite,
			between: storagetest.OpStat, want: old + other, outcome: RolledBack,
		},
		{name: "sync of data fails", start: old, op: storagetest.OpSync, sync: true, want: old + batch, outcome: Uncertain},
		{name: "sync after the cut fails", start: old, op: storagetest.OpWrite, short: 9, sticky: true, want: old, outcome: Uncertain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := memoryFile(t, tt.start)
			var hook storagetest.Hook
			failed, behind := false, false
			hook = storagetest.Hook{FS: m, Before: func(op storagetest.Op, _ string) error {
				if op == tt.between && failed && !behind {
					behind = true
					writeBehind(t, m, other)
				}
				if tt.sticky && failed && op == storagetest.OpSync {
					return syscall.EIO
				}
				if op != tt.op || failed || tt.op == "" {
					return nil
				}
				failed = true
				if tt.short > 0 {
					return &storagetest.ShortWrite{N: tt.short, Err: syscall.ENOSPC}
				}
				return syscall.EIO
			}}
			a, err := OpenAppender(&hook, appendPath)
			if err != nil {
				t.Fatal(err)
			}
			err = a.Append(t.Context(), []byte(batch), tt.sync)
			outcome := Committed
			var failure *AppendError
			if errors.As(err, &failure) {
				outcome = failure.Outcome
			} else if err != nil {
				t.Errorf("Append() = %v, want an *AppendError", err)
			}
			if outcome != tt.outcome {
				t.Errorf("outcome = %v (%v), want %v", outcome, err, tt.outcome)
			}
			if diff := cmp.Diff(tt.want, contentOf(t, m)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAppendNoticesThatItsFileIsGone(t *testing.T) {
	tests := []struct {
		name string
		do   func(m *storage.Memory) error
		gone bool
	}{
		{"removed", func(m *storage.Memory) error { return m.Remove(appendPath) }, true},
		{"moved away", func(m *storage.Memory) error { return m.Rename(appendPath, "/other.jsonl") }, true},
		{"replaced", func(m *storage.Memory) error {
			return storage.Replace(context.Background(), m, appendPath, 0o600, func(w io.Writer) error {
				_, err := io.WriteString(w, "{}\n")
				return err
			})
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := memoryFile(t, "{}\n")
			a, err := OpenAppender(m, appendPath)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.do(m); err != nil {
				t.Fatal(err)
			}
			err = a.Append(t.Context(), []byte("{\"new\":1}\n"), false)
			var failed *AppendError
			if !errors.As(err, &failed) || failed.Outcome != RolledBack || !errors.Is(err, ErrReplaced) {
				t.Errorf("Append() = %v, want ErrReplaced, rolled back", err)
			}
			if errors.Is(err, fs.ErrNotExist) != tt.gone {
				t.Errorf("Append() = %v, is fs.ErrNotExist: %v, want %v", err, !tt.gone, tt.gone)
			}
		})
	}
}

func TestAppendMakesTheFileOwnerOnly(t *testing.T) {
	m := memoryFile(t, "{}\n")
	if err := m.Chmod(appendPath, 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := OpenAppender(m, appendPath)
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := m.Lstat(appendPath); st.Mode != 0o644 {
		t.Errorf("mode after opening = %o, want 644", st.Mode)
	}
	if err := a.Append(t.Context(), []byte("{}\n"), false); err != nil {
		t.Fatal(err)
	}
	if st, _ := m.Lstat(appendPath); st.Mode != 0o600 {
		t.Errorf("mode after appending = %o, want 600", st.Mode)
	}
}

func TestRewriteCarriesLateLinesOver(t *testing.T) {
	const old, made, late = "{\"a\":1}\n", "{\"A\":1}\n", "{\"late\":1}\n"
	tests := []struct {
		name  string
		at    storagetest.Op // another program appends before this operation
		exact bool
		after bool // or after Replace has returned
		want  string
		err   error
	}{
		{name: "nothing arrives", want: made},
		{name: "grown before the rename, to start again", at: storagetest.OpLstat, exact: true, want: old + late, err: ErrGrown},
		{name: "grown before the rename", at: storagetest.OpLstat, want: made + late},
		{name: "grown at the rename", at: storagetest.OpRename, exact: true, want: made + late},
		{name: "grown after it, in a writer that had it open", after: true, want: made + late},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := memoryFile(t, old)
			open, err := m.Append(appendPath)
			if err != nil {
				t.Fatal(err)
			}
			written, began := false, false
			hook := &storagetest.Hook{FS: m, Before: func(op storagetest.Op, _ string) error {
				if op == storagetest.OpClose {
					began = true // the new file is whole
				}
				if op == tt.at && began && !written {
					written = true
					_, err := open.Write([]byte(late))
					return err
				}
				return nil
			}}
			r, err := BeginRewrite(hook, appendPath)
			if err != nil {
				t.Fatal(err)
			}
			placed, err := r.Replace(t.Context(), 0o600, int64(len(old)), tt.exact, func(w io.Writer) error {
				_, err := io.WriteString(w, made)
				return err
			})
			if !errors.Is(err, tt.err) || placed != (tt.err == nil) {
				t.Fatalf("Replace() = %v, %v, want %v, %v", placed, err, tt.err == nil, tt.err)
			}
			if tt.after {
				if _, err := open.Write([]byte(late)); err != nil {
					t.Fatal(err)
				}
			}
			if tt.err != nil {
				err = r.Close()
			} else {
				err = r.Finish(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, contentOf(t, m)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRewriteRefusesAFileThatAnotherProgramReplaced(t *testing.T) {
	m := memoryFile(t, "{}\n")
	r, err := BeginRewrite(m, appendPath)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Replace(t.Context(), 0o600, 3, true, func(io.Writer) error {
		return storage.Replace(t.Context(), m, appendPath, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, "{\"theirs\":1}\n")
			return err
		})
	})
	if !errors.Is(err, ErrReplaced) {
		t.Errorf("Replace() = %v, want ErrReplaced", err)
	}
	if got := contentOf(t, m); got != "{\"theirs\":1}\n" {
		t.Errorf("file = %q, want the other program's", got)
	}
}

func BenchmarkAppender(b *testing.B) {
	line := []byte(`{"text":"` + strings.Repeat("x", 1000) + "\"}\n")
	for _, size := range []int{1 << 10, 100 << 20} {
		b.Run(fmt.Sprintf("file of %d bytes", size), func(b *testing.B) {
			path := b.TempDir() + "/s.jsonl"
			disk := storage.Disk(storage.Policy{})
			if err := storage.Publish(b.Context(), disk, path, 0o600, func(w io.Writer) error {
				_, err := io.Copy(w, io.LimitReader(repeated(line), int64(size/len(line)*len(line))))
				return err
			}); err != nil {
				b.Fatal(err)
			}
			a, err := OpenAppender(disk, path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if err := a.Append(b.Context(), line, false); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeated yields a line for ever.
func repeated(line []byte) io.Reader { return &repeater{line: line} }

type repeater struct{ line, rest []byte }

func (r *repeater) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.rest) == 0 {
			r.rest = r.line
		}
		k := copy(p[n:], r.rest)
		n, r.rest = n+k, r.rest[k:]
	}
	return n, nil
}
