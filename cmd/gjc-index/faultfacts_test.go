package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// caseFile is the file of a case that its expect.json names, made by the case's
// make.py if it is not kept; "" if the name is no file's.
func caseFile(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if !strings.HasSuffix(name, ".jsonl") {
		return ""
	}
	script, err := filepath.Abs(filepath.Join(dir, "make.py"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(script); err != nil {
		t.Fatalf("%s has no %s and nothing that makes it", dir, name)
	}
	made := t.TempDir()
	cmd := exec.Command("python3", script)
	cmd.Dir = made
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	path = filepath.Join(made, filepath.FromSlash(name))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// testFact checks what an expect.json says of all sessions of its case.
func testFact(t *testing.T, dir, name string, want map[string]any) {
	home := t.TempDir()
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		copyFile(t, file, filepath.Join(home, "sessions", "--proj--", filepath.Base(file)))
	}
	got := map[string]any{}
	switch name {
	case "labels":
		for _, file := range files {
			path := filepath.Join(home, "sessions", "--proj--", filepath.Base(file))
			out, _, _ := answer(t, "label", "list", path, "--home", home, "--json")
			for _, o := range objects(t, out) {
				got[o["entry"].(string)] = o["label"]
			}
		}
	case "usage_total":
		out, _, _ := answer(t, "usage", "--home", home, "--json")
		all := objects(t, out)[0]
		all["cost_known"] = all["cost"]
		for key := range want {
			got[key] = all[key]
		}
	default:
		t.Logf("nothing checks %s: %v", name, want)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
