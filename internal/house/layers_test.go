package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gajae-code/gjc-index"

// layers maps each package to what it may import besides the standard
// library: own rooms by path below the module, libraries by import path
// prefix. A package that is not here fails the test.
var layers = map[string][]string{
	"storage":             {"golang.org/x/sys"},
	"storage/storagetest": {"storage", "github.com/google/go-cmp/cmp"},
	"blob":                {"storage"},
	"jsonl":               {"storage", "blob"},
	"scope":               {"storage", "jsonl", "golang.org/x/sys"},
	"session/checkpoint":  {"jsonl"},
	"session/chat":        {"jsonl"},
	"session":             {"storage", "blob", "jsonl", "scope", "session/checkpoint", "github.com/klauspost/compress/zstd"},
	"session/redact":      {},
	"session/psm":         {"storage", "jsonl", "session"},
	"session/export": {"storage", "blob", "jsonl", "session", "session/chat", "github.com/klauspost/compress/zstd", "github.com/yuin/goldmark",
		"github.com/alecthomas/chroma/v2", "archive/tar"},
	"migrations": {"storage", "github.com/jmoiron/sqlx", "github.com/pressly/goose/v3", "modernc.org/sqlite"},
	"history":    {"storage", "migrations", "github.com/jmoiron/sqlx"},
	"index": {"storage", "jsonl", "scope", "session", "session/checkpoint", "history", "migrations",
		"github.com/jmoiron/sqlx", "github.com/fsnotify/fsnotify", "github.com/rivo/uniseg", "golang.org/x/text", "golang.org/x/sys/cpu"},
	"cmd/gjc-index": {"storage", "blob", "jsonl", "scope", "session", "session/checkpoint", "session/chat", "session/redact",
		"session/psm", "session/export", "migrations", "history", "index", "github.com/spf13/cobra", "golang.org/x/term",
		"github.com/klauspost/compress/zstd",
		"github.com/dustin/go-humanize", "github.com/schollz/progressbar/v3", "github.com/rivo/uniseg", "github.com/pelletier/go-toml/v2",
		"charm.land/bubbletea/v2", "charm.land/lipgloss/v2", "github.com/modelcontextprotocol/go-sdk", "github.com/fsnotify/fsnotify"},
	"internal/bench":       {"internal/corpus", "storage", "jsonl", "scope", "session", "history", "index", "golang.org/x/sys"},
	"internal/house":       {},
	"internal/historycase": {"storage", "migrations", "history", "github.com/jmoiron/sqlx", "github.com/google/go-cmp"},
	"internal/corpus":      {"scope"},
	"internal/corpus/cmd":  {"internal/corpus"},
	"internal/release":     {},
	"internal/pictures":    {"github.com/rivo/uniseg"},
}

// sourceFiles calls fn for every Go file of the module that is no test.
func sourceFiles(t *testing.T, fn func(rel string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" || d.Name() == "dist") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		fn(filepath.ToSlash(rel), file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRoomsImportLowerRoomsOnly(t *testing.T) {
	sourceFiles(t, func(rel string, file *ast.File, _ *token.FileSet) {
		pkg := filepath.ToSlash(filepath.Dir(rel))
		may, ok := layers[pkg]
		if !ok {
			t.Errorf("%s: package %q is not in the table of layers", rel, pkg)
			return
		}
		for _, imp := range file.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if !allowed(path, may) {
				t.Errorf("%s imports %q, which %q may not", rel, path, pkg)
			}
		}
	})
}

func allowed(path string, may []string) bool {
	if own, ok := strings.CutPrefix(path, module+"/"); ok {
		return slices.Contains(may, own)
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		return path != "archive/tar" || slices.Contains(may, path)
	}
	return slices.ContainsFunc(may, func(lib string) bool {
		return path == lib || strings.HasPrefix(path, lib+"/")
	})
}

func TestFilesAreShortAndNamedForTheirSubject(t *testing.T) {
	const most = 500
	nameless := []string{"util.go", "utils.go", "helper.go", "helpers.go", "types.go", "common.go", "misc.go"}
	sourceFiles(t, func(rel string, file *ast.File, fset *token.FileSet) {
		if n := fset.Position(file.FileEnd).Line; n > most {
			t.Errorf("%s has %d lines, at most %d", rel, n, most)
		}
		if slices.Contains(nameless, filepath.Base(rel)) {
			t.Errorf("%s: the name says nothing about what is in it", rel)
		}
	})
}

// Whatever touches a disk goes through storage, so that a test can make it
// fail. SQLite's own files are the exception, and the test tools.
func TestOnlyStorageTouchesTheDisk(t *testing.T) {
	touching := []string{"Open", "OpenFile", "Create", "Rename", "Remove", "RemoveAll", "Mkdir", "MkdirAll",
		"WriteFile", "ReadFile", "ReadDir", "Stat", "Lstat", "Chmod", "Chtimes", "Link", "Symlink", "Truncate", "CreateTemp", "MkdirTemp"}
	sourceFiles(t, func(rel string, file *ast.File, fset *token.FileSet) {
		if strings.HasPrefix(rel, "storage/") || strings.HasPrefix(rel, "internal/") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == "os" && slices.Contains(touching, sel.Sel.Name) {
				t.Errorf("%s: os.%s; go through storage", fset.Position(n.Pos()), sel.Sel.Name)
			}
			return true
		})
	})
	if _, err := os.Stat("../../storage"); err != nil {
		t.Fatal(err)
	}
}
