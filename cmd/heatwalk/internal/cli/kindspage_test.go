package cli

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeFraud writes relations of 600 accounts of which the kind same-device joins mostly equal labels, and labels of a
// third of the accounts.
func writeFraud(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	const n = 600
	fraud := make([]bool, n)
	var known strings.Builder
	known.WriteString("account,label\n")
	for i := range fraud {
		fraud[i] = rng.IntN(4) == 0
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&known, "a%d,%s\n", i, map[bool]string{false: "honest", true: "fraud"}[fraud[i]])
		}
	}
	var relations strings.Builder
	relations.WriteString("account_a,account_b,relation,date\n")
	for i := range 3600 {
		kind, same := "pays", 0
		switch i % 6 {
		case 0:
			kind, same = "same-device", 9
		case 1, 2:
			kind, same = "calls", 3
		}
		a, b := rng.IntN(n), rng.IntN(n)
		for fraud[a] != fraud[b] && rng.IntN(10) < same {
			b = rng.IntN(n)
		}
		fmt.Fprintf(&relations, "a%d,a%d,%s,2024-%02d-%02d\n", a, b, kind, 1+rng.IntN(12), 1+rng.IntN(28))
	}
	for name, text := range map[string]string{"relations.csv": relations.String(), "known.csv": known.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestKindsPage compares the blocks of docs/kinds.md with the output of their commands; -update writes it there.
func TestKindsPage(t *testing.T) {
	file, err := filepath.Abs("../../../../docs/kinds.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeFraud(t)
	page := regexp.MustCompile("(?s)```\n\\$ .*?```\n").ReplaceAllStringFunc(string(text), func(block string) string {
		var shown strings.Builder
		shown.WriteString("```\n")
		for _, line := range strings.Split(block, "\n") {
			if command, isCommand := strings.CutPrefix(line, "$ heatwalk "); isCommand {
				var printed bytes.Buffer
				succeed(t, nil, &printed, strings.Fields(command)...)
				shown.WriteString(line + "\n" + printed.String())
			}
		}
		return shown.String() + "```\n"
	})
	relations, err := os.ReadFile("relations.csv")
	if err != nil {
		t.Fatal(err)
	}
	if head := strings.Join(strings.SplitAfterN(string(relations), "\n", 5)[:4], ""); !strings.Contains(page, head) {
		t.Errorf("docs/kinds.md does not show the first lines of relations.csv:\n%s", head)
	}
	if diff := cmp.Diff(moving.ReplaceAllString(page, ""), moving.ReplaceAllString(string(text), "")); diff != "" && !*update {
		t.Errorf("docs/kinds.md shows other lines; run this test with -update (-printed +page):\n%s", diff)
	} else if diff != "" {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
