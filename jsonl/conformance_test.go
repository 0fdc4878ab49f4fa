package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/storage"
)

// divergence is a recorded result that a decision of ours overrules.
type divergence struct {
	name, why string
	rule      int
	want      Value
}

// readDivergences reads the table beside the test: case, step, rule, what we
// return instead and why.
func readDivergences(t *testing.T) map[string]divergence {
	t.Helper()
	all := map[string]divergence{}
	for _, d := range readRecorded(t, "testdata/divergences.json").Items() {
		key := fmt.Sprintf("%s/%d", d.Get("case").Str(), int(d.Get("step").Num()))
		all[key] = divergence{name: key, why: d.Get("why").Str(), rule: int(d.Get("rule").Num()), want: d.Get("want")}
	}
	return all
}

// TestReadingAgreesWithTheRecordedCases runs the steps that read one file
// and need no session, up to the first step that might write.
func TestReadingAgreesWithTheRecordedCases(t *testing.T) {
	dirs, err := filepath.Glob("../testdata/conformance/*/*")
	if err != nil {
		t.Fatal(err)
	}
	differ := readDivergences(t)
	ran := 0
	for _, dir := range dirs {
		name := filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
		steps := readRecorded(t, filepath.Join(dir, "case.json"))
		if !readsFirst(steps) {
			continue
		}
		t.Run(name, func(t *testing.T) { ran += runReading(t, dir, name, steps, differ) })
	}
	if ran < 90 {
		t.Errorf("compared %d steps, want at least 90: are the cases there?", ran)
	}
}

func readsFirst(c Value) bool {
	steps := c.Get("steps").Items()
	switch steps[0].Get("op").Str() {
	case "load", "inspect", "migrate", "parse":
		return true
	}
	return false
}

func runReading(t *testing.T, dir, name string, c Value, differ map[string]divergence) (ran int) {
	t.Helper()
	root := t.TempDir()
	if in := filepath.Join(dir, "in"); exists(in) {
		if err := os.CopyFS(root, os.DirFS(in)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range c.Get("mkdirs").Items() {
		if err := os.MkdirAll(filepath.Join(root, d.Str()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	results := readRecorded(t, filepath.Join(dir, "want.json")).Get("results").Items()
	for i, step := range c.Get("steps").Items() {
		op := step.Get("op").Str()
		path := filepath.Join(root, step.Get("file").Str())
		var got Value
		switch op {
		case "load", "migrate":
			got = loadStep(t, path, op == "migrate")
		case "inspect":
			got = inspectStep(t, path)
		case "parse":
			got = resultOf(entryValues(ParseText(step.Get("text").Str())))
		case "context", "latestCompaction":
			continue // the tree's test
		default:
			return ran
		}
		want := comparable(results[i])
		if d, ok := differ[fmt.Sprintf("%s/%d", name, i)]; ok {
			if want.JSON() == d.want.JSON() {
				t.Errorf("step %d (%s) no longer differs: drop it from the table", i, op)
			}
			want = d.want
		}
		if diff := cmp.Diff(want.JSON(), got.JSON()); diff != "" {
			t.Errorf("step %d (%s %s) (-want +got):\n%s", i, op, step.Get("file").Str(), diff)
		}
		ran++
	}
	return ran
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// comparable is a recorded result without the name of the step and with an
// error's class only.
func comparable(result Value) Value {
	o := result.Obj().Clone()
	o.Delete("op")
	if err := o.Get("err"); err.Is(Object) {
		o.Set("err", err.Get("name"))
	}
	return ObjectValue(o)
}

func resultOf(v Value) Value { return ObjectValue(NewObj(Member{"ok", v})) }

// loadStep is what loadEntriesFromFile returns: [] for what is no transcript,
// an error for a version that is none and for what can't be read.
func loadStep(t *testing.T, path string, upgrade bool) Value {
	t.Helper()
	tr, err := Load(t.Context(), storage.Disk(storage.Policy{}), path, LoadOptions{})
	var version *VersionError
	switch {
	case errors.As(err, &version):
		return ObjectValue(NewObj(Member{"err", StringValue("Error")}))
	case errors.Is(err, ErrNotTranscript), errors.Is(err, fs.ErrNotExist):
		return resultOf(ArrayValue())
	case err != nil:
		return ObjectValue(NewObj(Member{"err", StringValue("Error")}))
	}
	next := 0
	if upgrade {
		tr.Upgrade(func() string {
			next++
			return fmt.Sprintf("%08x", next)
		})
	}
	values := append([]Value{ObjectValue(tr.Header.Value())}, entryValues(tr.Records).Items()...)
	return resultOf(ArrayValue(values...))
}

func inspectStep(t *testing.T, path string) Value {
	t.Helper()
	in := Inspect(t.Context(), storage.Disk(storage.Policy{}), path, LoadOptions{})
	o := &Obj{}
	if !in.Verdict.Openable() {
		o.Set("kind", StringValue("error"))
		o.Set("reason", StringValue(string(in.Verdict)))
		return resultOf(ObjectValue(o))
	}
	o.Set("kind", StringValue(string(in.Verdict)))
	o.Set("sessionId", StringValue(in.SessionID))
	o.Set("sha256", StringValue(in.SHA256))
	return resultOf(ObjectValue(o))
}
