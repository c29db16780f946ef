//go:build ignore

// Type-checks all packages and tests for other systems, and vets them there: go run .ci/systems.go GOOS/GOARCH … It
// reads the declarations of imports from source, which is a twentieth of the work of go vet, for which the compiler
// compiles all imports for each system.
package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/assign"
	"golang.org/x/tools/go/analysis/passes/atomic"
	"golang.org/x/tools/go/analysis/passes/bools"
	"golang.org/x/tools/go/analysis/passes/composite"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/directive"
	"golang.org/x/tools/go/analysis/passes/errorsas"
	"golang.org/x/tools/go/analysis/passes/nilfunc"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/analysis/passes/sigchanyzer"
	"golang.org/x/tools/go/analysis/passes/stdmethods"
	"golang.org/x/tools/go/analysis/passes/stringintconv"
	"golang.org/x/tools/go/analysis/passes/unreachable"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/analysis/passes/unusedresult"
	"golang.org/x/tools/go/packages"
)

// vet are the checks of go vet that need one package alone.
var vet = []*analysis.Analyzer{
	assign.Analyzer, atomic.Analyzer, bools.Analyzer, composite.Analyzer, copylock.Analyzer, directive.Analyzer,
	errorsas.Analyzer, nilfunc.Analyzer, shift.Analyzer, sigchanyzer.Analyzer, stdmethods.Analyzer,
	stringintconv.Analyzer, unreachable.Analyzer, unsafeptr.Analyzer, unusedresult.Analyzer,
}

func main() {
	for _, system := range os.Args[1:] {
		goos, goarch, _ := strings.Cut(system, "/")
		all, err := packages.Load(&packages.Config{
			Mode: packages.LoadAllSyntax, Tests: true, ParseFile: parse,
			Env: append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		}, "./...")
		if err != nil {
			log.Fatal(err)
		}
		if packages.PrintErrors(all) > 0 {
			log.Fatalf("for %s", system)
		}
		graph, err := checker.Analyze(vet, all, nil)
		if err != nil {
			log.Fatal(err)
		}
		for a := range graph.All() {
			for _, d := range a.Diagnostics {
				log.Fatalf("for %s: %v: %s", system, a.Package.Fset.Position(d.Pos), d.Message)
			}
			if a.IsRoot && a.Err != nil {
				log.Fatalf("for %s: %v: %v", system, a, a.Err)
			}
		}
	}
}

// version is the end of the path of an import that is not part of the name of the package.
var version = regexp.MustCompile(`[/.]v[0-9]+$`)

// parse reads a file. Functions of files outside this folder lose their bodies, and imports that only
// bodies use their names; files that import names without a qualifier stay as they are.
func parse(set *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	folder, wdErr := os.Getwd()
	if err != nil || wdErr != nil || strings.HasPrefix(name, folder+string(os.PathSeparator)) {
		return file, err
	}
	for _, spec := range file.Imports {
		if spec.Name != nil && spec.Name.Name == "." {
			return file, nil
		}
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body.List = []ast.Stmt{&ast.ForStmt{Body: new(ast.BlockStmt)}} // never returns
		}
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, spec := range file.Imports {
		name := path.Base(version.ReplaceAllString(strings.Trim(spec.Path.Value, "`\""), ""))
		name = strings.TrimPrefix(name, "go-")
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if !used[name] {
			spec.Name = ast.NewIdent("_")
		}
	}
	return file, nil
}
