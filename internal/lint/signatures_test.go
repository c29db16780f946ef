package lint

import (
	"encoding/json"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
}

// listPackages also returns the files with the types of all packages.
func listPackages(t *testing.T) (public []listed, export map[string]string) {
	out, err := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Name,Dir,Export,GoFiles", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	export = map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		export[p.ImportPath] = p.Export
		isOurs := p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
		if isOurs && p.Name != "main" && !isHidden(p.ImportPath) {
			public = append(public, p)
		}
	}
	return public, export
}

func isHidden(path string) bool {
	return strings.Contains(path+"/", "/internal/")
}

// opaque are types that a program of another module only passes on: pages of the command, the state of a model of auto,
// and predictions of label propagation for held-out labels.
var opaque = []string{"Page", "Choice", "HeldOut"}

func TestSignatures(t *testing.T) {
	public, export := listPackages(t)
	load := importer.ForCompiler(token.NewFileSet(), "gc",
		func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	for _, p := range public {
		pkg, err := load.Import(p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			o := pkg.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			check := func(place string, named types.Type) {
				eachNamed(named, place, func(place string, o *types.TypeName) {
					if (isHidden(o.Pkg().Path()) || !o.Exported()) && !slices.Contains(opaque, o.Name()) {
						t.Errorf("%s.%s%s shows %s.%s, which users can neither name nor read: export it, or show another type",
							p.ImportPath, name, place, o.Pkg().Path(), o.Name())
					}
				})
			}
			declared, isType := o.(*types.TypeName)
			switch {
			case !isType:
				check("", o.Type())
			case declared.IsAlias():
				check("", types.Unalias(o.Type()))
			default:
				check("", o.Type().Underlying())
				for method := range o.Type().(*types.Named).Methods() {
					if method.Exported() {
						check("."+method.Name(), method.Signature())
					}
				}
			}
		}
	}
}

// eachNamed calls visit with the declarations of all types that a type is made of, by exported fields and methods only.
func eachNamed(t types.Type, place string, visit func(place string, o *types.TypeName)) {
	each := func(t types.Type) { eachNamed(t, place, visit) }
	switch t := t.(type) {
	case interface { // *types.Named or *types.Alias
		types.Type
		Obj() *types.TypeName
		TypeArgs() *types.TypeList
	}:
		if t.Obj().Pkg() != nil {
			visit(place, t.Obj())
		}
		for argument := range t.TypeArgs().Types() {
			each(argument)
		}
	case interface { // pointers, slices, arrays, channels, maps
		types.Type
		Elem() types.Type
	}:
		each(t.Elem())
		if m, ok := t.(*types.Map); ok {
			each(m.Key())
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			each(v.Type())
		}
		for v := range t.Results().Variables() {
			each(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				eachNamed(f.Type(), place+"."+f.Name(), visit)
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				eachNamed(m.Signature(), place+"."+m.Name(), visit)
			}
		}
	}
}

var nameInBrackets = regexp.MustCompile(`\[\*?(\w+\.)?[A-Z]\w*(\.\w+)?\]`)

func TestDocLinks(t *testing.T) {
	public, _ := listPackages(t)
	for _, p := range public {
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		d, err := doc.NewFromFiles(fset, files, p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		check := func(name, text string) {
			parsed := d.Parser().Parse(text)
			for _, block := range parsed.Content {
				paragraph, ok := block.(*comment.Paragraph)
				for i := 0; ok && i < len(paragraph.Text); i++ {
					plain, isPlain := paragraph.Text[i].(comment.Plain)
					if !isPlain {
						continue
					}
					if bad := nameInBrackets.FindString(string(plain)); bad != "" {
						t.Errorf("%s: the comment of %s has %s, which links to nothing", p.ImportPath, name, bad)
					}
				}
			}
		}
		functions := func(list []*doc.Func) {
			for _, f := range list {
				check(f.Name, f.Doc)
			}
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				check(v.Names[0], v.Doc)
			}
		}
		check("the package", d.Doc)
		functions(d.Funcs)
		values(d.Consts)
		values(d.Vars)
		for _, typ := range d.Types {
			check(typ.Name, typ.Doc)
			functions(typ.Funcs)
			functions(typ.Methods)
			values(typ.Consts)
			values(typ.Vars)
		}
	}
}
