package history_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gajae-code/gjc-index/internal/historycase"
)

// TestConformance runs the recorded cases of the group history, those in
// GJC_CONFORMANCE_DIR if that is set.
func TestConformance(t *testing.T) {
	base := filepath.Join("..", "testdata", "conformance")
	if dir := os.Getenv("GJC_CONFORMANCE_DIR"); dir != "" {
		if base = dir; !exists(base) {
			base = filepath.Join("..", dir) // as seen from the root of the project
		}
	}
	cases, err := filepath.Glob(filepath.Join(base, "history", "*", "case.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Skipf("no cases of history in %s", base)
	}
	for _, name := range cases {
		dir := filepath.Dir(name)
		t.Run("history/"+filepath.Base(dir), func(t *testing.T) {
			historycase.Run(t, dir, t.TempDir())
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
