package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/heatwalk/heatwalk/test/graphstest"
)

// moving matches text that differs from run to run: times, speeds and memory.
var moving = regexp.MustCompile(`[ 0-9.]+ s\b|[0-9.]+ [MG] entry|peak [0-9.]+ [MG]B( of [0-9.]+ GB)?`)

// TestPages runs the commands of pages, which are lines "    $ ", and compares the lines below them with the lines that they
// print, moving numbers apart; a line … is the rest of an output. -update writes them.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all commands of four pages")
	}
	t.Run("README.md", func(t *testing.T) { checkPages(t, "README.md", writeReadme) })
	t.Run("kinds", func(t *testing.T) { checkPages(t, "docs/kinds.md", func(t *testing.T) { writeFraud(t) }) })
	t.Run("run", func(t *testing.T) { checkPages(t, "docs/run.md", writeNightly) })
	t.Run("items", func(t *testing.T) {
		checkPages(t, "docs/items.md", func(t *testing.T) {
			writeVotes(t)
			if err := graphstest.WriteTU("MOL", graphstest.Molecules(150, 20, 3, 0.4, 1)); err != nil {
				t.Fatal(err)
			}
		})
	})
}

// checkPages runs the commands of a page in a folder with the files that prepare writes.
func checkPages(t *testing.T, page string, prepare func(*testing.T)) {
	file, err := filepath.Abs("../../../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	prepare(t)
	lines, written := strings.SplitAfter(string(text), "\n"), ""
	for i := 0; i < len(lines); {
		line := lines[i]
		written += line
		i++
		command, isCommand := strings.CutPrefix(line, "    $ ")
		if !isCommand {
			continue
		}
		var shown, printed string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "    ") && !strings.HasPrefix(lines[i], "    $ "); i++ {
			shown += lines[i]
		}
		for text := range strings.Lines(outputOf(t, strings.TrimSuffix(command, "\n"))) {
			if printed += "    " + text; strings.Count(printed, "\n") == strings.Count(shown, "\n")-1 && strings.HasSuffix(shown, "    …\n") {
				printed += "    …\n"
				break
			}
		}
		if moving.ReplaceAllString(shown, "") == moving.ReplaceAllString(printed, "") {
			printed = shown
		} else if !*update {
			t.Errorf("%s: run this test with -update (-printed +page):\n%s", command, cmp.Diff(printed, shown))
		}
		written += printed
	}
	if *update && written != string(text) {
		if err := os.WriteFile(file, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// outputOf returns the standard output of a command, or its messages if it fails: heatwalk …, head -N FILE, or
// head -N FILE | cut -f1-K.
func outputOf(t *testing.T, command string) string {
	t.Helper()
	if arguments, isOurs := strings.CutPrefix(command, "heatwalk "); isOurs {
		var output, problems bytes.Buffer
		if Main(strings.Fields(arguments), strings.NewReader(""), &output, &problems) != 0 {
			return problems.String()
		}
		return output.String()
	}
	var n, columns int
	var name string
	if _, err := fmt.Sscanf(command, "head -%d %s | cut -f1-%d", &n, &name, &columns); n == 0 || name == "" {
		t.Fatalf("%s: %v", command, err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var head strings.Builder
	for _, line := range strings.SplitN(string(text), "\n", n+1)[:n] {
		cells := strings.Split(line, "\t")
		if columns > 0 {
			cells = cells[:min(columns, len(cells))]
		}
		head.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return head.String()
}

// writeReadme writes the files of Cora and of accounts, with attributes of these: a country that is as frequent in both classes,
// and the age in months, which is lower for frauds.
func writeReadme(t *testing.T) {
	writeCora(t)
	truth := writeFraud(t)
	rng := rand.New(rand.NewPCG(11, 11))
	var accounts strings.Builder
	accounts.WriteString("account,country,months\n")
	for i, isFraud := range truth {
		months := 20 + rng.IntN(100)
		if isFraud {
			months = 1 + rng.IntN(60)
		}
		fmt.Fprintf(&accounts, "a%d,%s,%d\n", i, []string{"DE", "PL", "FR"}[rng.IntN(3)], months)
	}
	if err := os.WriteFile("accounts.csv", []byte(accounts.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// writeCora writes the links of Cora, and the subjects of every tenth paper as known.tsv.
func writeCora(t *testing.T) {
	compressed, err := os.Open(filepath.Join(coraFolder, "labels.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer compressed.Close()
	r, err := gzip.NewReader(compressed)
	if err != nil {
		t.Fatal(err)
	}
	edges, err := os.ReadFile(filepath.Join(coraFolder, "edges.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	labels, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var known strings.Builder
	for i, line := range strings.SplitAfter(string(labels), "\n") {
		if i%10 == 0 {
			known.WriteString(line)
		}
	}
	for name, content := range map[string][]byte{"edges.tsv.gz": edges, "known.tsv": []byte(known.String())} {
		if err := os.WriteFile(name, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// writeFraud writes relations of 600 accounts of which the kind same-device joins mostly equal labels, and labels of a
// third of the accounts. It returns which accounts are fraud.
func writeFraud(t *testing.T) []bool {
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
	relations.WriteString("source,target,relation,date\n")
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
	return fraud
}

// writeVotes writes eight votes of 300 members of two parties, which mostly vote with their party, and the party of all.
func writeVotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	var votes, truth strings.Builder
	votes.WriteString("class,a1,a2,a3,a4,a5,a6,a7,a8\n")
	for i := range 300 {
		party := rng.IntN(2)
		class := []string{"left", "right"}[party]
		fmt.Fprintf(&truth, "%d\t%s\n", i+1, class)
		if i%5 == 4 {
			class = ""
		}
		votes.WriteString(class)
		for range 8 {
			vote := "ny"[party : party+1]
			switch x := rng.IntN(20); {
			case x == 0:
				vote = "?"
			case x < 7:
				vote = "yn"[party : party+1]
			}
			votes.WriteString("," + vote)
		}
		votes.WriteString("\n")
	}
	for name, text := range map[string]string{"votes.csv": votes.String(), "truth.tsv": truth.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// writeNightly writes payments of 300 accounts of which most join equal labels, those of the next day, which has new accounts,
// labels of half of the accounts, and a list of these.
func writeNightly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 300
	var payments, checked, ids strings.Builder
	payments.WriteString("payer,payee\n")
	checked.WriteString("account,label\n")
	for i := range n {
		if i%4 < 2 {
			fmt.Fprintf(&checked, "a%d,%s\n", i, []string{"honest", "fraud"}[i%2])
			fmt.Fprintf(&ids, "a%d\n", i)
		}
	}
	pay := func(lines, accounts int) {
		for range lines {
			payer, payee := rng.IntN(accounts), rng.IntN(accounts)
			for payer%2 != payee%2 && rng.IntN(5) > 0 || payee == payer {
				payee = rng.IntN(accounts)
			}
			fmt.Fprintf(&payments, "a%d,a%d\n", payer, payee)
		}
	}
	pay(1200, n)
	today := payments.String()
	pay(400, n+40)
	for name, text := range map[string]string{"payments.csv": today, "tuesday.csv": payments.String(), "checked.csv": checked.String(), "checked.ids": ids.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
