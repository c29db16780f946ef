package heatwalk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bannedEnglish matches habits that make a reader go over a sentence twice: clauses with "what" in
// the place of a noun, verbs of speech for computing and reporting, and amounts without a name.
var bannedEnglish = regexp.MustCompile(`(?i)\b(tells?|told|so (many|much)|beside|nobody|none is|there is none|comes? to|stands for|gives way)\b` +
	`|\bwhat (is|are|was|has|have|holds?|takes?|comes?|stands?|a|an|the|it|they)\b`)

// TestPlainEnglish checks comments, messages, help and documentation against bannedEnglish.
//
// testdata/plain-english.tsv lists the folders that still have such sentences, with their number. New
// text must not add any. A number that has fallen is lowered in the file, so that it does not rise again.
func TestPlainEnglish(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if path == "english_test.go" || strings.HasPrefix(folder, "bench/results") {
			return nil
		}
		for line, text := range prose(t, path) {
			if bannedEnglish.MatchString(text) {
				found[folder] = append(found[folder], filepath.ToSlash(path)+":"+strconv.Itoa(line)+": "+text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	allowed := allowedEnglish(t)
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		switch list := found[folder]; {
		case len(list) > allowed[folder]:
			slices.Sort(list)
			t.Errorf("%s: %d lines with a banned habit, %d allowed; rewrite them:\n%s", folder, len(list), allowed[folder], strings.Join(list, "\n"))
		case len(list) < allowed[folder]:
			t.Errorf("%s: %d lines with a banned habit, %d allowed; lower the number in testdata/plain-english.tsv", folder, len(list), allowed[folder])
		}
	}
	for folder := range allowed {
		if len(found[folder]) == 0 {
			t.Errorf("%s: free of banned habits; remove it from testdata/plain-english.tsv", folder)
		}
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

// allowedEnglish reads the number of lines that each folder may still have.
func allowedEnglish(t *testing.T) map[string]int {
	text, err := os.ReadFile("testdata/plain-english.tsv")
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]int{}
	for line := range strings.Lines(string(text)) {
		folder, number, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if allowed[folder], err = strconv.Atoi(number); err != nil {
			t.Fatal(err)
		}
	}
	return allowed
}
