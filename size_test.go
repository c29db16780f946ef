package heatwalk

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// maxMethods is the number of methods above which a type counts as large.
const maxMethods = 15

// The patterns work on source text, as those of the tool that set the limits, so that both count the same.
var (
	helpers      = regexp.MustCompile(`(^|/)(\w+test|testgraph|graphstest|problemtest|gen|examples|\.ci)/`)
	texts        = regexp.MustCompile("(?s)\"(?:\\\\.|[^\"\\\\\n])*\"|`[^`]*`|'(?:\\\\.|[^'\\\\\n])*'|//[^\n]*|/\\*.*?\\*/")
	goToken      = regexp.MustCompile(`""|[\pL\pN_]+|<<=|>>=|&\^=|\.\.\.|:=|\+\+|--|&&|\|\||<-|[=!<>+\-*/%&|^]=|<<|>>|&\^|[^\s\pL\pN_]`)
	assignment   = regexp.MustCompile(`^([\w.\[\]\*, ()+:-]+?)\s*:?=\s*(.+)$`)
	control      = regexp.MustCompile(`^(if|for|switch|case|func|var|const|return)`)
	headOfIf     = regexp.MustCompile(`^(?:\} else )?(?:if|switch) ([^;{]*[^:=!<>+\-*/|&^]=[^=][^;]*);`)
	assignsErr   = regexp.MustCompile(`^[^=]*\berr\b`)
	functionName = regexp.MustCompile(`^func (?:\([^)]*\) )?(\w+)`)
	methodOwner  = regexp.MustCompile(`(?m)^func \(\w*\s*\*?(\w+)(?:\[[^\]]*\])?\) `)
	participle   = regexp.MustCompile(`^(?:[a-z]|[A-Z])[a-z]*(?:ed|ing)$`)
	definition   = regexp.MustCompile(`(?m)^\s*(?:for |if |switch |case [^:]*:)?\s*((?:\w+\s*,\s*)*\w+)\s*:=`)
	declaration  = regexp.MustCompile(`\bvar\s+((?:\w+\s*,\s*)*\w+)\s`)
	parameters   = regexp.MustCompile(`func[^{(\n]*\(([^)]*)\)`)
)

// functionWords are words that name nothing by themselves, so that a variable needs a noun in their place.
var functionWords = words(`of own all some most least there is at by on near beyond without known kept found made taken wanted given other
	others rest each every alone apart together whole part within around before after above below between inside outside none few many more
	less to from with such same like alike`)

// notParticiples are nouns and verbs that end like a participle.
var notParticiples = words("embed feed need seed speed string ring sibling")

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// TestSize compares the size and style of the code with the limits of .ci/size: tokens; assignments of several unrelated
// values in one line, and those hidden in the head of an if or switch, per 1,000 lines; functions whose name is a bare
// participle, per 1,000; variables that are function words, per 1,000; folders at the top; types with more than 15 methods.
// Tests, their helpers, examples and generators of code do not count. A limit only goes down.
func TestSize(t *testing.T) {
	list, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skipf("git ls-files: %v", err)
	}
	h := house{counts: map[string]float64{}, methods: map[string]int{}, participles: map[string]int{}, riddles: map[string]int{}}
	folders := map[string]bool{}
	for _, name := range strings.Fields(string(list)) {
		if top, _, nested := strings.Cut(name, "/"); nested && top[0] != '.' {
			folders[top] = true
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || helpers.MatchString(name) {
			continue
		}
		source, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		h.add(path.Dir(name), string(source))
	}
	h.counts["folders"] = float64(len(folders))
	var large []string
	for name, n := range h.methods {
		if n > maxMethods {
			large = append(large, fmt.Sprintf("%s %d", name, n))
		}
	}
	sort.Strings(large)
	h.counts["types"] = float64(len(large))
	for name, total := range map[string]string{"packed": "lines", "hidden": "lines", "participles": "functions", "names": "declared"} {
		h.counts[name] *= 1000 / h.counts[total]
	}
	t.Logf("%v; participles %v; function words %v; large types %q", h.counts, h.participles, h.riddles, large)
	limits, err := os.ReadFile(".ci/size")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(limits)), "\n") {
		var name string
		var limit float64
		_, err := fmt.Sscan(line, &name, &limit)
		count, counted := h.counts[name]
		if err != nil || !counted {
			t.Errorf(".ci/size: %q: write one of tokens, packed, hidden, participles, names, folders, types and its limit", line)
		} else if count > limit {
			t.Errorf("%s: %.2f, above the limit %g of .ci/size; delete first", name, count, limit)
		}
	}
}

// house counts the code of a module.
type house struct {
	counts               map[string]float64
	methods              map[string]int // by folder.Type
	participles, riddles map[string]int
}

// add counts a file.
func (h *house) add(folder, source string) {
	source = texts.ReplaceAllStringFunc(source, func(s string) string {
		if s[0] == '/' {
			return ""
		}
		return `""`
	})
	h.counts["tokens"] += float64(len(goToken.FindAllStringIndex(source, -1)))
	for _, line := range strings.Split(source, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		h.counts["lines"]++
		m := assignment.FindStringSubmatch(line)
		if m != nil && !control.MatchString(line) && countValues(m[2]) >= 2 && countValues(m[1]) == countValues(m[2]) {
			h.counts["packed"]++
		}
		m = headOfIf.FindStringSubmatch(line)
		if m != nil && !strings.Contains(m[1], ":=") && !assignsErr.MatchString(m[1]) {
			h.counts["hidden"]++
		}
		m = functionName.FindStringSubmatch(line)
		if m != nil {
			h.counts["functions"]++
			if participle.MatchString(m[1]) && !notParticiples[strings.ToLower(m[1])] {
				h.counts["participles"]++
				h.participles[m[1]]++
			}
		}
	}
	for _, m := range methodOwner.FindAllStringSubmatch(source, -1) {
		h.methods[folder+"."+m[1]]++
	}
	for _, pattern := range []*regexp.Regexp{definition, declaration, parameters} {
		for _, m := range pattern.FindAllStringSubmatch(source, -1) {
			for _, name := range strings.Split(m[1], ",") {
				h.declare(name)
			}
		}
	}
}

// declare counts the name that a declaration begins with.
func (h *house) declare(declaration string) {
	name, _, _ := strings.Cut(strings.TrimSpace(declaration), " ")
	if name == "" {
		return
	}
	h.counts["declared"]++
	if functionWords[name] {
		h.counts["names"]++
		h.riddles[name]++
	}
}

// countValues returns the number of values that commas separate outside brackets.
func countValues(s string) int {
	depth, n := 0, 1
	for _, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				n++
			}
		}
	}
	return n
}
