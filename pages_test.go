package heatwalk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What pages and package comments call pkg.Name is there, in a package of that name.
func TestPagesNameWhatIsThere(t *testing.T) {
	names := exportedNames(t)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "README.md", "CONTRIBUTING.md")
	_ = filepath.WalkDir(".", func(path string, d fs.DirEntry, _ error) error {
		if d.Name() == "doc.go" {
			pages = append(pages, path)
		}
		return nil
	})
	said := regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range said.FindAllStringSubmatch(string(text), -1) {
			if known := names[m[1]]; known != nil && !known[m[2]] {
				t.Errorf("%s names %s, which is not there", page, m[0])
			}
		}
	}
}

// exportedNames returns the functions, types, constants and variables of packages by their
// names.
func exportedNames(t *testing.T) map[string]map[string]bool {
	names := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		known := names[file.Name.Name]
		if known == nil {
			known = map[string]bool{}
			names[file.Name.Name] = known
		}
		for _, declared := range file.Decls {
			switch d := declared.(type) {
			case *ast.FuncDecl:
				known[d.Name.Name] = d.Recv == nil || known[d.Name.Name]
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						known[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range s.Names {
							known[n.Name] = true
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
