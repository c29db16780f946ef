package input

import "testing"

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
		if got := Escape(text); got != want {
			t.Errorf("Escape(%q) = %q, want %q", text, got, want)
		}
		if got := Escape(want); got != want {
			t.Errorf("Escape(%q) = %q, want no change", want, got)
		}
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		columns Columns
		want    string
		usual   bool
	}{
		{Columns{{"node", Node, ""}, {"label", Label, ""}}, "node → node, label → label", true},
		{Columns{{"", Index, ""}, {"age", "", ""}, {"customer_id", Node, ""}, {"segment", Label, ""}, {"city", "", ""}},
			"customer_id → node, segment → label; skipped the index column; ignored: age, city", false},
		{Columns{{"amount", Weight, ""}, {"payee", Target, ""}, {"payer", Source, ""}}, "payer → source, payee → target, amount → weight", false},
		{Columns{{"id", Node, ""}, {"age", "number", ""}, {"city", "12 categories", ""}, {"joined", "", "dates"}},
			"id → node, age → number, city → 12 categories; ignored: joined (dates)", false},
		{Columns{{"node", Node, ""}, {"\x1b[2J", "", ""}}, `node → node; ignored: \x1b[2J`, false},
	} {
		if got := c.columns.String(); got != c.want {
			t.Errorf("String() = %q, want %q", got, c.want)
		}
		if got := c.columns.IsUsual(); got != c.usual {
			t.Errorf("%q: IsUsual() = %v, want %v", c.want, got, c.usual)
		}
	}
}
