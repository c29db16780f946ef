package heatwalk_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// docs/library.md shows code that runs: each of its blocks is the body of an example.
func TestLibraryPage(t *testing.T) {
	page, err := os.ReadFile("docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	code := words(string(examples))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 10 {
		t.Errorf("%d blocks, want ten jobs", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(code, words(b[1])) {
			t.Errorf("no example has\n%s", b[1])
		}
	}
}
