package textio

import (
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
)

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"red":                   "red",
		"Zürich – naïve 🙂":      "Zürich – naïve 🙂",
		"a\tb\n":                "a\tb\n",
		"\x1b[31mred":           `\x1b[31mred`,
		"a\rb":                  `a\rb`,
		"\u009b2J":              `\u009b2J`,
		"abc\u202egnp.exe":      `abc\u202egnp.exe`,
		"caf\xe9":               `caf\xe9`,
		"\x1b]0;title\x07\x00z": `\x1b]0;title\a\x00z`,
	} {
		if got := input.Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
		}
		if got := input.Escape(want); got != want {
			t.Errorf("Escape(%q) = %q, want no change", want, got)
		}
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		columns input.Columns
		want    string
		usual   bool
	}{
		{input.Columns{{Title: "node", Use: input.Node}, {Title: "label", Use: input.Label}}, "node → node, label → label", true},
		{input.Columns{{Title: "", Use: input.Index}, {Title: "age"}, {Title: "customer_id", Use: input.Node}, {Title: "segment", Use: input.Label}, {Title: "city"}},
			"customer_id → node, segment → label; skipped the index column; ignored: age, city", false},
		{input.Columns{{Title: "amount", Use: input.Weight}, {Title: "payee", Use: input.Target}, {Title: "payer", Use: input.Source}}, "payer → source, payee → target, amount → weight", false},
		{input.Columns{{Title: "id", Use: input.Node}, {Title: "age", Use: "number"}, {Title: "city", Use: "12 categories"}, {Title: "joined", Note: "dates"}},
			"id → node, age → number, city → 12 categories; ignored: joined (dates)", false},
		{input.Columns{{Title: "node", Use: input.Node}, {Title: "\x1b[2J"}}, `node → node; ignored: \x1b[2J`, false},
	} {
		if got := c.columns.String(); got != c.want {
			t.Errorf("String() = %q, want %q", got, c.want)
		}
		if got := c.columns.IsUsual(); got != c.usual {
			t.Errorf("%q: IsUsual() = %v, want %v", c.want, got, c.usual)
		}
	}
}
