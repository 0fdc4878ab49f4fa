package session_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/gajae-code/gjc-index/jsonl"
)

// ours tells the files of this program that the original doesn't have.
func ours(path string) bool {
	name := filepath.Base(path)
	if strings.HasPrefix(name, ".gjc-index.") || strings.HasPrefix(name, "index.db") || strings.HasPrefix(name, "event-id-sequence") {
		return true
	}
	for _, end := range []string{".meta.json", ".leaf.json"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".lease")
}

// caseFile is one file of the tree that a case leaves.
type caseFile struct{ Mode, Text, Sum, Link string }

func (r *caseRunner) compareFiles(want jsonl.Value, differ map[string]divergence) {
	r.t.Helper()
	wanted := map[string]caseFile{}
	for _, m := range want.Obj().Members() {
		wanted[m.Key] = wantedFile(m.Value)
	}
	if d, ok := differ[fmt.Sprintf("%s/%d", r.name, filesStep)]; ok {
		for _, m := range d.want.Obj().Members() {
			if m.Value.Is(jsonl.Null) {
				delete(wanted, m.Key)
				continue
			}
			wanted[m.Key] = wantedFile(m.Value)
		}
	}
	got := filesLeft(r)
	if _, ok := wanted["home/.gjc/agent/sessions/"]; !ok {
		delete(got, "home/.gjc/agent/sessions/") // holds the event ids alone
	}
	wanted, got = normalFiles(wanted), normalFiles(got)
	for name, f := range got {
		if w, ok := wanted[name]; ok && fewerBits(f.Mode, w.Mode) {
			f.Mode = w.Mode // decision 14
			got[name] = f
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		r.t.Errorf("files (-want +got):\n%s", diff)
	}
	for name, f := range got {
		if w, ok := wanted[name]; !ok || w != f {
			r.t.Logf("file %s is %s %s", name, f.Mode, f.Text)
		}
	}
}

// recordedBytes is a file as the original would have written it: without
// event ids.
func recordedBytes(t testing.TB, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	return stripLines(string(raw))
}

// sumOf is the sum of a file as the original would have written it.
func sumOf(t testing.TB, path string) jsonl.Value {
	t.Helper()
	sum := sha256.Sum256([]byte(recordedBytes(t, path)))
	return text(hex.EncodeToString(sum[:]))
}

// fewerBits reports whether got grants a part of what want does, and the same
// to the owner.
func fewerBits(got, want string) bool {
	g, err1 := strconv.ParseUint(got, 8, 32)
	w, err2 := strconv.ParseUint(want, 8, 32)
	return err1 == nil && err2 == nil && g&^w == 0 && g&0o700 == w&0o700
}

func wantedFile(v jsonl.Value) caseFile {
	f := caseFile{Mode: v.Get("mode").Str(), Link: v.Get("link").Str()}
	if t := v.Get("text"); !t.Is(jsonl.Absent) {
		f.Text = encode(t, t)
	}
	f.Sum = v.Get("sha256").Str()
	return f
}

func filesLeft(r *caseRunner) map[string]caseFile {
	files := map[string]caseFile{}
	must(r.t, filepath.WalkDir(caseRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == caseRoot {
			return err
		}
		if ours(path) {
			return nil
		}
		rel, _ := filepath.Rel(caseRoot, path)
		st, err := d.Info()
		if err != nil {
			return err
		}
		f := caseFile{Mode: strconv.FormatUint(uint64(st.Mode().Perm()), 8)}
		switch {
		case d.IsDir():
			rel += "/"
		case st.Mode()&fs.ModeSymlink != 0:
			f.Mode = ""
			f.Link, err = os.Readlink(path)
		default:
			err = f.read(path)
		}
		files[rel] = f
		return err
	}))
	return files
}

func (f *caseFile) read(path string) error {
	raw, err := os.ReadFile(path)
	if !utf8.Valid(raw) {
		sum := sha256.Sum256(raw)
		f.Sum = hex.EncodeToString(sum[:])
		return err
	}
	v := text(string(raw))
	f.Text = encode(v, v)
	return err
}

var (
	numberFields = regexp.MustCompile(`\\"(dev|ino|nlink|mtimeMs|mtimeNs|ctimeNs|rootDev|rootIno|parentDev|parentIno|pid)\\":(\\"\d+\\"|\d+(\.\d+)?)`)
	uuidText     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	operations   = regexp.MustCompile(`(\.gjc-delete-|\.gjc-migrate-|locks/|receipts/|tombstones/|json\.|\.)([0-9a-f]{64})`)
)

// normalFiles replaces what differs from run to run, as the recording did.
func normalFiles(files map[string]caseFile) map[string]caseFile {
	out, known := map[string]caseFile{}, map[string]string{}
	op := func(s string) string {
		return operations.ReplaceAllStringFunc(s, func(m string) string {
			sub := operations.FindStringSubmatch(m)
			if known[sub[2]] == "" {
				known[sub[2]] = "$OP" + strconv.Itoa(len(known)+1)
			}
			return sub[1] + known[sub[2]]
		})
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if strings.Contains(name, "-internal/") {
			f.Text = uuidText.ReplaceAllString(numberFields.ReplaceAllString(op(f.Text), `\"$1\":\"$$n\"`), "$$uuid")
			f.Text = strings.ReplaceAll(f.Text, `\"bootId\":\"\"`, `\"bootId\":\"$uuid\"`)
		}
		out[op(name)] = f
	}
	return out
}
