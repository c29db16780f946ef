package heatwalk_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Blocks of the pages, or their main functions, stand in an example.
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
	block := regexp.MustCompile("(?s)```go\n(.*?)```")
	blocks := block.FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 14 {
		t.Errorf("%d blocks, want 14", len(blocks))
	}
	for _, name := range []string{"README.md", "docs/tour.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, block.FindAllStringSubmatch(string(text), -1)...)
	}
	for _, b := range blocks {
		if _, body, isProgram := strings.Cut(b[1], "func main() {"); isProgram {
			b[1] = strings.TrimSuffix(body, "}\n")
		}
		if !strings.Contains(code, words(b[1])) {
			t.Errorf("no example has\n%s", b[1])
		}
	}
}
