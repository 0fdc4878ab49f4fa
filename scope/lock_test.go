package scope

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gajae-code/gjc-index/storage"
)

func link(t testing.TB, target, at string) {
	t.Helper()
	must(t, os.Symlink(target, at))
}

func TestLockFollowsTheLeaseOfAnother(t *testing.T) {
	now := time.UnixMilli(1772366400000)
	record := func(expires time.Time, pid int, boot string, more string) string {
		return `{"attemptId":"x","pid":` + jsonNumber(pid) + `,"bootId":"` + boot + `","processStartId":"y","createdAt":1,"heartbeatAt":1,"leaseExpiresAt":` +
			jsonNumber(int(expires.UnixMilli())) + more + "}\n"
	}
	const alive, gone = 10, 11
	for _, tt := range []struct {
		name, content string
		old           bool // the file is older than a lease
		busy          bool
	}{
		{name: "no lock"},
		{name: "released", content: record(now.Add(time.Minute), alive, "b", `,"released":true`)},
		{name: "alive and in time", content: record(now.Add(time.Minute), alive, "b", ""), busy: true},
		{name: "gone and in time", content: record(now.Add(time.Minute), gone, "b", ""), busy: true},
		{name: "alive and expired", content: record(now.Add(-time.Minute), alive, "b", ""), busy: true},
		{name: "gone and expired", content: record(now.Add(-time.Minute), gone, "b", "")},
		{name: "another boot and expired", content: record(now.Add(-time.Minute), alive, "other", "")},
		{name: "another boot and in time", content: record(now.Add(time.Minute), alive, "other", ""), busy: true},
		{name: "half written, just now", content: "{", busy: true},
		{name: "half written, long ago", content: "{", old: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, w := newHome(t)
			s, err := Ensure(context.Background(), disk(), home, w)
			must(t, err)
			path := filepath.Join(s.Locks(), "op.lock")
			if tt.content != "" {
				must(t, os.WriteFile(path, []byte(tt.content), 0o600))
				at := now
				if tt.old {
					at = now.Add(-2 * leaseFor)
				}
				must(t, os.Chtimes(path, at, at))
			}
			waited := time.Duration(0)
			by := &Process{PID: 1, BootID: "b", StartID: "s", Now: func() time.Time { return now }, UUID: randomUUID,
				Alive: func(pid int) bool { return pid == alive },
				Wait:  func(_ context.Context, d time.Duration) error { waited += d; return nil }}
			l, err := s.lock(context.Background(), disk(), by, "op")
			if tt.busy {
				var e *Error
				if !errors.As(err, &e) || e.Code != MigrationBusy || !errors.Is(err, storage.ErrLocked) || waited < waitFor {
					t.Errorf("lock = %v after %v, want migration_busy after %v", err, waited, waitFor)
				}
				return
			}
			must(t, err)
			must(t, l.held(context.Background()))
			must(t, l.release())
			raw, err := os.ReadFile(path)
			must(t, err)
			if !strings.HasSuffix(string(raw), `,"leaseExpiresAt":1772366400000,"released":true}`+"\n") {
				t.Errorf("released lock says %s", raw)
			}
		})
	}
}

func jsonNumber(n int) string {
	raw, _ := json.Marshal(n)
	return string(raw)
}

func TestLeaseIsRenewedAndItsLossIsNoticed(t *testing.T) {
	home, w := newHome(t)
	s, err := Ensure(context.Background(), disk(), home, w)
	must(t, err)
	now := time.UnixMilli(1772366400000)
	by := ThisProcess()
	by.Now = func() time.Time { return now }
	l, err := s.lock(context.Background(), disk(), by, "op")
	must(t, err)
	now = now.Add(beatEvery)
	must(t, l.held(context.Background()))
	raw, err := os.ReadFile(l.path)
	must(t, err)
	if !strings.Contains(string(raw), `"heartbeatAt":1772366410000,"leaseExpiresAt":1772366470000}`) {
		t.Errorf("renewed lock says %s", raw)
	}
	must(t, os.Remove(l.path))
	if err := l.held(context.Background()); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("held without its file = %v, want ErrLocked", err)
	}
	must(t, l.release())
}
