package heatwalk

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// functionWords are words that name nothing by themselves, so that a variable needs a noun in their place.
var functionWords = strings.Fields(`of own all some most least there is at by on near beyond without known kept found made taken wanted given other
	others rest each every alone apart together whole part within around before after above below between inside outside none few many more
	less to from with such same like alike`)

// maxMethods is the number of methods, with those of embedded types, above which a type counts as large.
const maxMethods = 15

// TestSize compares the size of the code with the limits of .ci/size: lines of code without comments and
// blank lines, names of variables and parameters that are function words per 1,000 declared, folders at the
// top, and large types. Tests and generators of code do not count. A limit only goes down.
func TestSize(t *testing.T) {
	list, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	h := house{methods: map[string]int{}, embedded: map[string][]string{}, words: map[string]int{}}
	folders := map[string]bool{}
	for _, name := range strings.Fields(string(list)) {
		if top, _, nested := strings.Cut(name, "/"); nested && top[0] != '.' {
			folders[top] = true
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "/gen/") {
			if err := h.add(name); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	var large []string
	for name := range h.methods {
		if n := h.count(name, map[string]bool{}); n > maxMethods {
			large = append(large, fmt.Sprintf("%s %d", name, n))
		}
	}
	sized := map[string]float64{
		"lines": float64(h.lines), "names": 1000 * float64(h.riddles) / float64(h.declared), "folders": float64(len(folders)), "types": float64(len(large)),
	}
	t.Logf("%v; names %v; types %q", sized, h.words, large)
	limits, err := os.ReadFile(".ci/size")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(limits)), "\n") {
		var name string
		var limit float64
		if _, err := fmt.Sscan(line, &name, &limit); err != nil || sized[name] == 0 {
			t.Errorf(".ci/size: %q: write one of lines, names, folders, types and its limit", line)
		} else if sized[name] > limit {
			t.Errorf("%s: %.1f, above the limit %g of .ci/size; delete first", name, sized[name], limit)
		}
	}
}

// house counts the code of a module.
type house struct {
	lines, declared, riddles int
	words                    map[string]int
	methods                  map[string]int      // methods declared, by folder.Type
	embedded                 map[string][]string // types that a struct embeds, by folder.Type
}

// add counts a file.
func (h *house) add(name string) error {
	source, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	var lexer scanner.Scanner
	lexer.Init(files.AddFile(name, -1, len(source)), source, nil, 0)
	for last := 0; ; {
		pos, tok, literal := lexer.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		if line := files.Position(pos).Line; line != last {
			h.lines++
			last = line
		}
		last += bytes.Count([]byte(literal), []byte("\n"))
	}
	file, err := parser.ParseFile(files, name, source, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folder := path.Dir(name)
	imports := map[string]string{}
	for _, spec := range file.Imports {
		imported := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), module)
		imports[path.Base(imported)] = imported
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				h.declare(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				h.declare(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				h.declare(name)
			}
		case *ast.FuncType:
			for _, field := range n.Params.List {
				for _, name := range field.Names {
					h.declare(name)
				}
			}
		case *ast.FuncDecl:
			if n.Recv != nil {
				h.methods[folder+"."+typeName(n.Recv.List[0].Type)]++
			}
		case *ast.TypeSpec:
			fields, ok := n.Type.(*ast.StructType)
			if !ok {
				break
			}
			for _, field := range fields.Fields.List {
				if field.Names == nil {
					owner, name, qualified := strings.Cut(typeName(field.Type), ".")
					if owner = imports[owner]; !qualified {
						owner, name = folder, typeName(field.Type)
					}
					h.embedded[folder+"."+n.Name.Name] = append(h.embedded[folder+"."+n.Name.Name], owner+"."+name)
					h.methods[folder+"."+n.Name.Name] += 0
				}
			}
		}
		return true
	})
	return nil
}

// declare counts the names that a statement declares.
func (h *house) declare(names ...ast.Expr) {
	for _, e := range names {
		if id, ok := e.(*ast.Ident); ok && id.Name != "_" {
			h.declared++
			for _, word := range functionWords {
				if id.Name == word {
					h.riddles++
					h.words[word]++
				}
			}
		}
	}
}

// count returns the number of methods of a type, with those of the types that it embeds.
func (h *house) count(name string, visited map[string]bool) int {
	if visited[name] {
		return 0
	}
	visited[name] = true
	n := h.methods[name]
	for _, e := range h.embedded[name] {
		n += h.count(e, visited)
	}
	return n
}

// typeName returns the name of a type without pointers and type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
