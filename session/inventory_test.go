package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// manySessions are dirs directories with files sessions each, in memory.
func manySessions(t *testing.T, w *world, dirs, files int) storage.FS {
	t.Helper()
	m := storage.NewMemory()
	at := worldStart
	m.Now = func() time.Time { at = at.Add(time.Second); return at }
	for i := range dirs {
		dir := fmt.Sprintf("%s/-%04d", w.home.Sessions(), i)
		noError(t, storage.MkdirAll(m, dir))
		for j := range files {
			f, err := m.Create(fmt.Sprintf("%s/%04d.jsonl", dir, j))
			noError(t, err)
			_, err = f.Write([]byte(sessionText(fmt.Sprint(i, "-", j), "/w")))
			noError(t, err)
			noError(t, f.Close())
		}
	}
	return m
}

func TestInventoryIsBounded(t *testing.T) {
	tests := []struct {
		name        string
		dirs, files int
		step        time.Duration // that passes with each file
		rows        int
		cut         string
	}{
		{"at the limit of directories", 256, 1, 0, 256, ""},
		{"past the limit of directories", 257, 1, 0, 256, "257 directories, of which 256 were searched"},
		{"at the limit of files", 2, 2048, 0, 4096, ""},
		{"past the limit of files", 2, 2049, 0, 4096, "only the first 4096 files were read"},
		{"past the limit of time", 1, 30, 100 * time.Millisecond, 19, "only 2s were taken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			now := worldStart
			fsys := readOnly(t, manySessions(t, w, tt.dirs, tt.files))
			s := NewStore(fsys, Options{Home: w.home, Now: func() time.Time { now = now.Add(tt.step); return now }})
			inv, err := s.Inventory(t.Context())
			noError(t, err)
			if len(inv.Sessions) != tt.rows || inv.Cut != tt.cut || len(inv.LeftOut) != 0 {
				t.Errorf("Inventory = %d rows, cut %q, left out %d, want %d, %q", len(inv.Sessions), inv.Cut, len(inv.LeftOut), tt.rows, tt.cut)
			}
		})
	}
}

func TestInventoryTakesTheLatestDirectoriesFirst(t *testing.T) {
	w := newWorld(t)
	s := NewStore(manySessions(t, w, 257, 1), Options{Home: w.home})
	inv, err := s.Inventory(t.Context())
	noError(t, err)
	for _, row := range inv.Sessions {
		if row.ID == "0-0" {
			t.Error("the directory changed first is in, want it left out")
		}
	}
	if inv.Sessions[0].ID != "256-0" {
		t.Errorf("first row = %s, want 256-0", inv.Sessions[0].ID)
	}
}

func TestInventoryReadsAtMostItsBytes(t *testing.T) {
	w := newWorld(t)
	var read int64
	fsys := &storagetest.Hook{FS: manySessions(t, w, 1, 10), Before: func(op storagetest.Op, _ string) error {
		if op == storagetest.OpRead {
			read++
		}
		return nil
	}}
	_, err := NewStore(fsys, Options{Home: w.home}).Inventory(t.Context())
	noError(t, err)
	if read == 0 || read > 40 {
		t.Errorf("%d reads of 10 small files, want a few each", read)
	}
	tk := &taking{s: NewStore(fsys, Options{Home: w.home}), deadline: time.Now().Add(time.Hour)}
	tk.bytes = inventoryBytes - inventoryFileBytes
	if tk.exhausted() {
		t.Error("exhausted with room for one more file")
	}
	tk.bytes++
	if !tk.exhausted() || tk.inv.Cut != "only 64 MiB were read" {
		t.Errorf("not exhausted past the limit: %q", tk.inv.Cut)
	}
}
