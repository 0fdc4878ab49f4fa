package export

import (
	"context"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gajae-code/gjc-index/blob"
	"github.com/gajae-code/gjc-index/jsonl"
	"github.com/gajae-code/gjc-index/storage"
)

func packText(t *testing.T, text string) string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(z.EncodeAll([]byte(text), nil))
}

func TestBlobsAndEventIDsOfCompressedArchivesAreSeen(t *testing.T) {
	m, sources := world(t)
	ref, err := blob.New(m, "/blobs").Put(context.Background(), []byte("\xff\xfe only in the archive"))
	if err != nil {
		t.Fatal(err)
	}
	text := `{"line":1,"record":{"text":"` + ref.String() + `","event_id":"00000000000000cc"}}` + "\n"
	torn := packText(t, strings.Repeat(text, 50))
	put(t, m, "/s/b.archive.ndjson.zst", packText(t, text)+torn[:len(torn)/2])
	data, rep := archived(t, m, sources[1:], nil)
	if rep.Blobs != 1 {
		t.Errorf("%d blobs are in the archive, want the one that the compressed file names", rep.Blobs)
	}
	put(t, m, "/d/in.tar.zst", string(data))
	var highest any
	_, err = importIn(context.Background(), m, "/d", func(_ context.Context, id jsonl.EventID) error { highest = id.String(); return nil })
	if err != nil || highest != "00000000000000cc" {
		t.Errorf("Import = %v, and raised event ids above %v, want 00000000000000cc", err, highest)
	}
	if got, err := storage.ReadFile(m, "/d/new/b.archive.ndjson.zst", 1<<20); err != nil || !strings.HasSuffix(string(got), torn[:len(torn)/2]) {
		t.Errorf("the compressed file is not as it was: %d bytes, %v", len(got), err)
	}
}

// Where a plain archive stands beside a compressed one, the plain one counts,
// and a redacted archive holds one of that name.
func TestARedactedArchiveHoldsOneArchiveOfASession(t *testing.T) {
	m, sources := world(t)
	put(t, m, "/s/a.archive.ndjson.zst", packText(t, `{"raw":"old"}`+"\n"))
	data, _ := archived(t, m, sources, redactTest)
	files := unpack(t, data)
	if got := files["sessions/0001/a.archive.ndjson"]; !strings.Contains(got, `{"raw":`) || strings.Contains(got, "old") || len(files) != 8 {
		t.Errorf("the archive is %q, of %d files", got, len(files))
	}
	whole, _ := archived(t, m, sources, nil)
	if files = unpack(t, whole); len(files) != 9 {
		t.Errorf("%d files, want both archives among them", len(files))
	}
}

// A compressed archive whose last run a crash cut off is redacted as far as it
// can be read, and holds no secret.
func TestARedactedExportOfATornCompressedArchiveHoldsItsWholeRuns(t *testing.T) {
	line := func(word string) string {
		return `{"line":1,"moved":true,"record":{"type":"message","id":"` + word + `","text":"` + secret + ` ` + word + `"}}` + "\n"
	}
	torn := packText(t, strings.Repeat(line("torn"), 2000))
	for _, cut := range []int{1, 5, 12, len(torn) / 2, len(torn) - 1} {
		m, sources := world(t)
		put(t, m, "/s/b.archive.ndjson.zst", packText(t, line("first"))+packText(t, line("second"))+torn[:cut])
		data, _ := archived(t, m, sources[1:], redactTest)
		for name, text := range unpack(t, data) {
			if strings.Contains(text, secret) {
				t.Errorf("cut at %d: %s holds what it should not", cut, name)
			}
			if strings.Contains(name, ".archive.ndjson") && (!strings.Contains(text, `"first"`) || !strings.Contains(text, `"second"`)) {
				t.Errorf("cut at %d: %s is %.200q, want both whole runs", cut, name, text)
			}
		}
	}
}
