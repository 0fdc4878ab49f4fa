package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

// TestDoctorAndRepairOfTheFaults has every damaged file of the cases checked and
// mended: what doctor says fits what the case expects, and the copy is sound and
// has every record that can be read.
func TestDoctorAndRepairOfTheFaults(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(faultsDir(), "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no faults in %s: %v", faultsDir(), err)
	}
	for _, path := range files {
		id := filepath.Base(filepath.Dir(path))
		t.Run(id+"/"+name(path), func(t *testing.T) {
			want := expected(t, path)
			home := t.TempDir()
			copied := filepath.Join(home, "sessions", "--proj--", name(path))
			copyFile(t, path, copied)
			limit := []string{}
			if n, ok := want["line_limit_bytes"].(float64); ok {
				limit = []string{"--max-line", strconv.Itoa(int(n))}
			}
			checkDoctor(t, home, copied, want, limit)
			checkRepair(t, home, copied, limit)
			if before, after := readAll(t, path), readAll(t, copied); before != after {
				t.Error("the damaged file was changed")
			}
		})
	}
}

// expected is what the case's expect.json says of a file; nil if nothing.
func expected(t *testing.T, path string) map[string]any {
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), "expect.json"))
	if err != nil {
		return nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	for key, raw := range all {
		var want map[string]any
		if json.Unmarshal(raw, &want) == nil && caseFile(t, filepath.Dir(path), key) == path {
			return want
		}
	}
	return nil
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkDoctor wants a verdict on the file that fits what the case expects.
func checkDoctor(t *testing.T, home, path string, want map[string]any, limit []string) {
	t.Helper()
	out, errs, status := answer(t, append([]string{"doctor", "--home", home, "--json"}, limit...)...)
	if errs != "" || status != exitDone && status != exitPart {
		t.Fatalf("doctor: status %d, stderr %q", status, errs)
	}
	worst := ""
	for _, f := range objects(t, out) {
		state, _ := f["state"].(string)
		if !slices.Contains([]string{"ok", "warn", "bad"}, state) {
			t.Errorf("doctor: state %q", state)
		}
		if f["path"] == path && (worst == "" || state == "bad" || state == "warn" && worst == "ok") {
			worst = state
		}
		if f["path"] == path && f["state"] == "bad" && !strings.HasPrefix(f["fix"].(string), "gjc-index repair ") {
			t.Errorf("doctor: nothing mends %v", f)
		}
	}
	if (worst == "bad") != (status == exitPart) {
		t.Errorf("doctor: %q with status %d", worst, status)
	}
	if want == nil {
		return
	}
	lost, _ := want["malformed"].([]any)
	switch {
	case want["state"] == "bad_header" || len(lost) > 0:
		if worst != "bad" {
			t.Errorf("doctor: %q, want bad: %v", worst, want)
		}
	case worst == "bad":
		t.Errorf("doctor: bad, and the case expects %v", want)
	case worst == "":
		t.Error("doctor: no word of the file")
	}
}

// checkRepair wants a copy that both readers take, with every record that the
// lenient one finds in the file.
func checkRepair(t *testing.T, home, path string, limit []string) {
	t.Helper()
	mended := filepath.Join(t.TempDir(), "mended.jsonl")
	args := append([]string{"repair", path, "--home", home, "--header", "--id", "made", "--output", mended, "--json"}, limit...)
	out, errs, status := answer(t, args...)
	disk := storage.Disk(storage.Policy{})
	opt := jsonl.LoadOptions{}
	if len(limit) > 0 {
		opt.MaxLine, _ = strconv.ParseInt(limit[1], 10, 64)
	}
	old, _ := jsonl.Load(t.Context(), disk, path, opt)
	if status == exitError && old != nil && (old.State == jsonl.StateEmpty || old.State == jsonl.StateNewerVersion) {
		return
	}
	if status != exitDone && status != exitPart {
		t.Fatalf("repair: status %d, %s", status, errs)
	}
	said := objects(t, out)[0]
	if said["sound"] == true {
		mended = path
	}
	in := jsonl.Inspect(t.Context(), disk, mended, jsonl.LoadOptions{})
	if !in.Verdict.Openable() || len(in.Warnings) > 0 {
		t.Fatalf("copy is %s, %v, %v", in.Verdict, in.Cause, in.Warnings)
	}
	sum := in.Transcript.Summary(in.Transcript.Tree(false).Warnings()...)
	if len(sum.Malformed)+len(sum.Recovered)+len(sum.Warnings) > 0 {
		t.Errorf("copy is not sound: %+v", sum)
	}
	if old.State != jsonl.StateOK {
		return
	}
	texts := map[string]int{}
	for _, e := range in.Transcript.Records {
		texts[e.Type()+jsonl.MessageText(e.Value().Get("message"))]++
	}
	for _, e := range old.Records {
		key := e.Type() + jsonl.MessageText(e.Value().Get("message"))
		if texts[key]--; texts[key] < 0 && jsonl.KindOf(e.Type(), "").Known && e.Type() != "session" {
			t.Errorf("record of line %d is not in the copy", e.Line)
		}
	}
}
