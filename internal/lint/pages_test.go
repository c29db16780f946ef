package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page or package comment may name pkg.Name only if a package pkg has this name.
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

var (
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageFile  = regexp.MustCompile("`([\\w./-]+)`")
	pageTitle = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fileEnd   = regexp.MustCompile(`\.(go|md|sh|py|c|cc|yaml)$`)
)

func TestPagesLink(t *testing.T) {
	list, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	files := strings.Fields(string(list))
	isFile := func(name string) bool {
		return slices.ContainsFunc(files, func(file string) bool { return file == name || strings.HasSuffix(file, "/"+name) })
	}
	for _, page := range files {
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pageLink.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(m[1], "(") || strings.Contains(m[1], "://") {
				continue // an expression of Go, or a page elsewhere
			}
			linked := page
			if target != "" {
				linked = path.Join(path.Dir(page), target)
			}
			if _, err := os.Stat(linked); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			} else if anchor != "" && !slices.Contains(anchorsOf(t, linked), anchor) {
				t.Errorf("%s links to %s; %s has no such heading", page, m[1], linked)
			}
		}
		for _, m := range pageFile.FindAllStringSubmatch(string(text), -1) {
			if fileEnd.MatchString(m[1]) && !isFile(m[1]) {
				t.Errorf("%s names the file %s, which is not there", page, m[1])
			}
		}
	}
}

func anchorsOf(t *testing.T, page string) []string {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var anchors []string
	for _, m := range pageTitle.FindAllStringSubmatch(string(text), -1) {
		title := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchors = append(anchors, strings.ReplaceAll(title, " ", "-"))
	}
	return anchors
}

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
