package lint

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var saysNil = regexp.MustCompile(`(?i)\bnil\s+(means?\s+((all|the)\s+)?defaults|(means|is)\s+the\s+zero)`)

// Exported functions must compare settings with nil before they read a field, if the comment of the type says what nil
// means. If the context ends a job, the job must return sched.Cause.
func TestNilSettings(t *testing.T) {
	fset := token.NewFileSet()
	files := map[string]*ast.File{}
	declared := map[string]bool{} // types of settings, and methods, by folder and name
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || path == "cmd" || helpers.MatchString(path)):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		files[path] = file
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				declared[filepath.Dir(path)+"."+d.Name.Name] = d.Recv != nil
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if typ, isType := spec.(*ast.TypeSpec); isType && saysNil.MatchString(d.Doc.Text()) {
						declared["type "+filepath.Dir(path)+"."+typ.Name.Name] = true
					}
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, file := range files {
		isCompared := map[ast.Expr]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				isCompared[n.X] = true
			case *ast.CallExpr:
				name := types.ExprString(n.Fun)
				if !isCompared[n] && (name == "context.Cause" || strings.HasSuffix(name, "ctx.Err")) && !strings.HasPrefix(path, "internal/") && path != "budget/pool.go" {
					t.Errorf("%s: %s; take sched.Cause", fset.Position(n.Pos()), name)
				}
			}
			return true
		})
		for _, decl := range file.Decls {
			f, isFunction := decl.(*ast.FuncDecl)
			if !isFunction || !f.Name.IsExported() || f.Body == nil {
				continue
			}
			for _, p := range f.Type.Params.List {
				pointer, isPointer := p.Type.(*ast.StarExpr)
				if !isPointer {
					continue
				}
				folder, name := filepath.Dir(path), ""
				switch typ := pointer.X.(type) {
				case *ast.Ident:
					name = typ.Name
				case *ast.SelectorExpr:
					name = typ.Sel.Name
					for _, spec := range file.Imports {
						if imported := strings.Trim(spec.Path.Value, `"`); strings.HasSuffix(imported, "/"+types.ExprString(typ.X)) {
							folder = cmp.Or(strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"), ".")
						}
					}
				}
				if !declared["type "+folder+"."+name] {
					continue
				}
				for _, parameter := range p.Names {
					if use := firstUse(f.Body, parameter.Name, func(name string) bool { return declared[folder+"."+name] }); use.IsValid() {
						t.Errorf("%s: %s reads %s, which may be nil", fset.Position(use), f.Name.Name, parameter.Name)
					}
				}
			}
		}
	}
}

// firstUse returns the first place where a body reads a field of a parameter, or copies it, unless the body compares it
// with nil.
func firstUse(body *ast.BlockStmt, parameter string, isMethod func(name string) bool) (use token.Pos) {
	isParameter := func(x ast.Expr) bool {
		id, isIdent := x.(*ast.Ident)
		return isIdent && id.Name == parameter
	}
	isCompared := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			isCompared = isCompared || isParameter(n.X) && types.ExprString(n.Y) == "nil"
		case *ast.CallExpr:
			isCompared = isCompared || types.ExprString(n.Fun) == "cmp.Or" && isParameter(n.Args[0])
		case *ast.FuncLit: // may have a parameter of the same name
			return !strings.Contains(types.ExprString(n.Type)+" ", parameter+" ")
		case *ast.SelectorExpr:
			if isParameter(n.X) && !isMethod(n.Sel.Name) && use == token.NoPos {
				use = n.Pos()
			}
		case *ast.StarExpr:
			if isParameter(n.X) && use == token.NoPos {
				use = n.Pos()
			}
		}
		return true
	})
	if isCompared {
		return token.NoPos
	}
	return use
}
