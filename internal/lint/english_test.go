package lint

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

// bannedEnglish matches habits that make a reader go over a sentence twice: clauses with "what" in
// the place of a noun, verbs of speech for computing and reporting, and amounts without a name.
var bannedEnglish = regexp.MustCompile(`(?i)\b(tells?|told|so (many|much)|beside|nobody|none is|there is none|comes? to|stands for|gives way)\b` +
	`|\bwhat (is|are|was|has|have|holds?|takes?|comes?|stands?|a|an|the|it|they)\b`)

// TestPlainEnglish checks comments, messages, help and documentation against bannedEnglish.
func TestPlainEnglish(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if filepath.ToSlash(path) == "internal/lint/english_test.go" || strings.HasPrefix(filepath.ToSlash(path), "bench/results/") {
			return nil
		}
		for line, text := range prose(t, path) {
			if bannedEnglish.MatchString(text) {
				t.Errorf("%s:%d: a banned habit; rewrite: %s", filepath.ToSlash(path), line, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// prose returns the lines of a file that are text for a reader: comments and messages of Go files, whole
// pages of documentation and help.
func prose(t *testing.T, path string) map[int]string {
	lines := map[int]string{}
	switch {
	case strings.HasSuffix(path, ".go"):
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		add := func(pos token.Pos, text string) {
			for i, line := range strings.Split(text, "\n") {
				lines[files.Position(pos).Line+i] += line
			}
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				add(c.Pos(), c.Text)
			}
		}
		if strings.HasSuffix(path, "_test.go") {
			return lines
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
				add(lit.Pos(), lit.Value)
			}
			return true
		})
	case strings.HasSuffix(path, ".md"), strings.Contains(filepath.ToSlash(path), "/help/"):
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			lines[i+1] = line
		}
	}
	return lines
}
