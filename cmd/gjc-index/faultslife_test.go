package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
	"github.com/gajae-code/gjc-index/storage/storagetest"
)

// saidAt runs the command at a time.
func saidAt(t *testing.T, now time.Time, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	a := newApp(strings.NewReader(""), &out, &errs)
	a.now = func() time.Time { return now }
	status = a.run(context.Background(), args)
	return out.String(), errs.String(), status
}

// retained is a home with the sessions of case B100, their files as old as its
// steps say.
func retained(t *testing.T) (home string, now time.Time) {
	t.Helper()
	home, _, _, path := begun(t)
	dir := filepath.Dir(path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	now = time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
	for name, at := range map[string]time.Time{
		"keep": time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC), "old": now, "both": time.Date(2025, 11, 2, 0, 0, 0, 0, time.UTC),
	} {
		to := filepath.Join(dir, name+".jsonl")
		copyFile(t, filepath.Join(faultsDir(), "B100", name+".jsonl"), to)
		if err := os.Chtimes(to, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return home, now
}

func TestB100AgeIsTheNewestOfRecordAndFile(t *testing.T) {
	home, now := retained(t)
	out, errs, status := saidAt(t, now, "prune", "--older-than", "30d", "--json", "--home", home)
	var got []string
	for _, o := range objects(t, out) {
		got = append(got, fmt.Sprint(o["id"], " ", o["action"]))
	}
	if diff := cmp.Diff([]string{"both0001 would_trash"}, got); diff != "" || status != exitDone {
		t.Errorf("prune: status %d, %q (-want +got):\n%s", status, errs, diff)
	}
	if _, errs, status := saidAt(t, now, "prune", "--older-than", "30d", "--yes", "--home", home); status != exitDone {
		t.Errorf("prune --yes: status %d, %q", status, errs)
	}
	log := readFile(t, filepath.Join(home, "prune.log"))
	for _, want := range []string{`"id":"both0001"`, `"lastActive":"2025-11-0`, `"reason":"`, `"title":`} {
		if strings.Count(log, "\n") != 1 || !strings.Contains(log, want) {
			t.Errorf("prune.log has no %s: %s", want, log)
		}
	}
	wantIDs(t, "list", listed(t, "--home", home), "keep0001", "old00001")
}

func TestB101SettingsThatCannotBeReadRemoveNothing(t *testing.T) {
	var values []*string
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(faultsDir(), "B101", "bad-values.json"))), &values); err != nil {
		t.Fatal(err)
	}
	home, now := retained(t)
	before := everything(t, filepath.Join(home, "sessions"))
	for _, v := range values {
		args := []string{"prune", "--yes", "--home", home}
		if v != nil {
			args = append(args, "--older-than="+*v)
		}
		out, errs, status := saidAt(t, now, args...)
		if status != exitUsage || out != "" || errs == "" {
			t.Errorf("%q: status %d, %q, %q; want status %d and why", args, status, out, errs, exitUsage)
		}
	}
	if diff := cmp.Diff(before, everything(t, filepath.Join(home, "sessions"))); diff != "" {
		t.Errorf("something changed (-before +after):\n%s", diff)
	}
}

// The messages are those that the case's make.py prints.
func TestB091OneImageIsStoredOnce(t *testing.T) {
	home, _, id, path := begun(t)
	pattern := make([]byte, 256)
	for i := range pattern {
		pattern[i] = byte(i)
	}
	image := base64.StdEncoding.EncodeToString(bytes.Repeat(pattern, 12))
	var in strings.Builder
	for i, data := range []string{image, image, image, image, image, strings.Repeat("A", 1023), strings.Repeat("A", 1024)} {
		fmt.Fprintf(&in, `{"type":"message","message":{"role":"user","content":[{"type":"text","text":"shot %d"},{"type":"image","mimeType":"image/png","data":%q}]}}`+"\n", i, data)
	}
	printed(t, in.String(), "append", id, "--home", home)
	refs := strings.Count(readFile(t, path), `"blob:sha256:`)
	if blobs := blobFiles(t, home); len(blobs) != 2 || refs != 6 {
		t.Errorf("%d blobs and %d references, want 2 and 6", len(blobs), refs)
	}
	if !strings.Contains(readFile(t, path), strings.Repeat("A", 1023)+`"`) {
		t.Error("the image of 1,023 characters is not in its place")
	}
	fork := printed(t, "", "fork", id, "--home", home)["id"].(string)
	printed(t, "", "delete", id, "--yes", "--json", "--home", home)
	old := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, name := range blobFiles(t, home) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, status := said(t, nil, "", "gc", "--yes", "--home", home); status != exitDone || len(blobFiles(t, home)) != 2 {
		t.Errorf("gc: status %d, %q; %d blobs are left, want 2: %s refers to them", status, errs, len(blobFiles(t, home)), fork)
	}
}

func blobFiles(t *testing.T, home string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(home, "blobs", strings.Repeat("[0-9a-f]", 64)))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A title on a file of an older version rewrites it whole.
func TestB150RenameThatFailsForAMoment(t *testing.T) {
	for _, tt := range []struct {
		name   string
		times  int
		sticky bool
		status int
		title  bool
	}{
		{"three times", 3, false, exitDone, true},
		{"for ever", 0, true, exitRolledBack, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home, _, _, path := begun(t)
			before := strings.Replace(small("old", filepath.Join(home, "work"), "one", 1), `"version":5`, `"version":3`, 1)
			writeFile(t, path, before)
			fault := storagetest.NewFault(storage.Disk(storage.Policy{}), storagetest.FaultPlan{
				Op: storagetest.OpRename, N: 1, Times: tt.times, Sticky: tt.sticky, Err: storage.ErrInUse,
				NeverFor: func(_ storagetest.Op, name string) bool { return filepath.Dir(name) != filepath.Dir(path) },
			})
			begin := time.Now()
			_, errs, status := said(t, fault, "", "title", path, "New", "--home", home)
			text := readFile(t, path)
			if status != tt.status && !(tt.sticky && status != exitDone) || strings.Contains(text, `"New"`) != tt.title || !tt.title && text != before {
				t.Errorf("status %d, %q; the file:\n%s", status, errs, text)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
			if temps, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.tmp")); err != nil || len(temps) > 0 {
				t.Errorf("left over: %v, %v", temps, err)
			}
			printed(t, user("again"), "append", path, "--home", home)
			if !strings.Contains(readFile(t, path), "again") {
				t.Error("nothing was appended afterwards")
			}
		})
	}
}
