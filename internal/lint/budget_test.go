package lint

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The patterns work on source text: strings count as one token, comments as none.
var (
	notCounted = regexp.MustCompile(`(^|/)(\w*test|testgraph|graphstest|problemtest|gen|examples|\.ci)/`)
	texts      = regexp.MustCompile("(?s)\"(?:\\\\.|[^\"\\\\\n])*\"|`[^`]*`|'(?:\\\\.|[^'\\\\\n])*'|//[^\n]*|/\\*.*?\\*/")
	goToken    = regexp.MustCompile(`""|[\pL\pN_]+|<<=|>>=|&\^=|\.\.\.|:=|\+\+|--|&&|\|\||<-|[=!<>+\-*/%&|^]=|<<|>>|&\^|[^\s\pL\pN_]`)
)

// wing is a part of the code with a budget.
type wing struct {
	name    string
	budget  int      // tokens
	folders []string // prefixes of the names of its files
}

// readWings reads the table .ci/size: name, budget, purpose and folders of each wing. The wing without folders has all other
// files.
func readWings(t *testing.T) []wing {
	text, err := os.ReadFile(".ci/size")
	if err != nil {
		t.Fatal(err)
	}
	var wings []wing
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var w wing
		fields := strings.Split(line, "|")
		if len(fields) != 4 {
			t.Fatalf(".ci/size: %q: write NAME | TOKENS | PURPOSE | FOLDERS", line)
		}
		w.name = strings.TrimSpace(fields[0])
		if _, err := fmt.Sscan(fields[1], &w.budget); err != nil {
			t.Fatalf(".ci/size: %q: %v", line, err)
		}
		w.folders = strings.Fields(fields[3])
		wings = append(wings, w)
	}
	return wings
}

// Each wing has at most the tokens of its budget in .ci/size. Tests, their helpers, examples and generators of code do not
// count. A wing may rise only by what another gives in the same change.
func TestBudgets(t *testing.T) {
	list, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	wings := readWings(t)
	tokens := map[string]int{}
	for _, name := range strings.Fields(string(list)) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || notCounted.MatchString(name) {
			continue
		}
		source, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		tokens[wingOf(wings, name)] += countTokens(string(source))
	}
	total := 0
	for _, w := range wings {
		t.Logf("%-10s %7d of %7d", w.name, tokens[w.name], w.budget)
		total += tokens[w.name]
		if tokens[w.name] > w.budget {
			t.Errorf("%s has %d tokens, and its budget in .ci/size is %d; delete first", w.name, tokens[w.name], w.budget)
		}
		delete(tokens, w.name)
	}
	if len(tokens) > 0 {
		t.Errorf("no wing of .ci/size has the files of %q", slices.Sorted(maps.Keys(tokens)))
	}
	t.Logf("total      %7d", total)
}

// wingOf returns the name of the wing with the longest prefix of the name of a file.
func wingOf(wings []wing, file string) string {
	name := ""
	longest := -1
	for _, w := range wings {
		if len(w.folders) == 0 && longest < 0 {
			longest = 0
			name = w.name
		}
		for _, folder := range w.folders {
			if len(folder) > longest && strings.HasPrefix(file, folder) {
				longest = len(folder)
				name = w.name
			}
		}
	}
	return name
}

// countTokens returns the number of names, numbers, strings and operators of a source text.
func countTokens(source string) int {
	source = texts.ReplaceAllStringFunc(source, func(s string) string {
		if s[0] == '/' {
			return ""
		}
		return `""`
	})
	return len(goToken.FindAllStringIndex(source, -1))
}
