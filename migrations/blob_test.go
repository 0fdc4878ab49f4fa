package migrations

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBlobsMayBeKept(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), Index, Options{})
	var kept []Blob
	must(t, db.Select(&kept, `VALUES (x'0102'), (x'0304'), (NULL)`))
	for range 3 {
		var other []Blob
		must(t, db.Select(&other, `VALUES (x'ffff'), (x'ffff'), (x'ffff')`))
	}
	if diff := cmp.Diff([]Blob{{1, 2}, {3, 4}, nil}, kept); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	var text Blob
	if err := db.Get(&text, `SELECT 'a'`); err == nil {
		t.Error("a text was scanned as bytes")
	}
}
