package house

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

func TestEveryExportedNameIsDocumented(t *testing.T) {
	sourceFiles(t, func(rel string, file *ast.File, fset *token.FileSet) {
		if strings.HasPrefix(rel, "internal/") || file.Name.Name == "main" {
			return
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) && d.Doc.Text() == "" && !isPlumbing(d) {
					t.Errorf("%s: %s has no doc comment", fset.Position(d.Pos()), d.Name.Name)
				}
			case *ast.GenDecl:
				checkSpecs(t, fset, d)
			}
		}
	})
}

// isPlumbing is a method whose meaning its interface documents.
func isPlumbing(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return false
	}
	switch d.Name.Name {
	case "Error", "Is", "As", "Unwrap", "String", "Len", "Less", "Swap":
		return true
	}
	return false
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if gen, ok := typ.(*ast.IndexExpr); ok {
		typ = gen.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func checkSpecs(t *testing.T, fset *token.FileSet, d *ast.GenDecl) {
	t.Helper()
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" {
				t.Errorf("%s: type %s has no doc comment", fset.Position(s.Pos()), s.Name.Name)
			}
		case *ast.ValueSpec:
			for _, name := range s.Names {
				if name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" && s.Comment.Text() == "" {
					t.Errorf("%s: %s has no doc comment", fset.Position(s.Pos()), name.Name)
				}
			}
		}
	}
}
