package storage_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
	"github.com/google/go-cmp/cmp"
)

func TestLineWriterWritesWholeLines(t *testing.T) {
	m := storage.NewMemory()
	f, err := m.Create("/f")
	if err != nil {
		t.Fatal(err)
	}
	w := storage.NewLineWriter(f)
	var want strings.Builder
	for _, n := range []int{0, 1, 1000, 64<<10 - 1, 64 << 10, 300 << 10, 5} {
		line := strings.Repeat("x", n)
		want.WriteString(line + "\n")
		if err := w.WriteLine([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Sync(), w.Close()); err != nil {
		t.Fatal(err)
	}
	got, err := storage.ReadFile(m.Crash(), "/f", 1<<20)
	if err == nil {
		t.Errorf("the file is durable although its directory was never synced: %d bytes", len(got))
	}
	got, err = storage.ReadFile(m, "/f", 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
}

func TestLineWriterKeepsItsFirstError(t *testing.T) {
	for _, tt := range []struct {
		name string
		op   storagetest.Op
		want error
	}{
		{"write", storagetest.OpWrite, syscall.ENOSPC},
		{"sync", storagetest.OpSync, syscall.EIO},
		{"close", storagetest.OpClose, syscall.EIO},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fault := storagetest.NewFault(storage.NewMemory(), storagetest.FaultPlan{Op: tt.op, N: 1, Err: tt.want})
			f, err := fault.Create("/f")
			if err != nil {
				t.Fatal(err)
			}
			w := storage.NewLineWriter(f)
			err = w.WriteLine([]byte("line"))
			if err == nil {
				err = w.Sync()
			}
			closeErr := w.Close()
			if err == nil {
				err = closeErr
			}
			for what, got := range map[string]error{
				"first error": err, "Close": closeErr, "Err": w.Err(), "WriteLine": w.WriteLine(nil), "Flush": w.Flush(), "Sync": w.Sync(),
			} {
				if !errors.Is(got, tt.want) {
					t.Errorf("%s = %v, want %v", what, got, tt.want)
				}
			}
		})
	}
}

func TestLineWriterRefusesALineEndInALine(t *testing.T) {
	f, err := storage.NewMemory().Create("/f")
	if err != nil {
		t.Fatal(err)
	}
	w := storage.NewLineWriter(f)
	if err := w.WriteLine([]byte("a\nb")); err == nil {
		t.Error("WriteLine = nil, want an error")
	}
	if err := w.Close(); err == nil {
		t.Error("Close = nil, want the first error")
	}
	if _, err := f.Read(nil); !errors.Is(err, io.EOF) && err == nil {
		t.Error("the file is still open")
	}
}
