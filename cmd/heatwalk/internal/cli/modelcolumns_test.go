package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
)

// account is a row of a table of attributes; "" is a missing value.
type account struct{ country, age, segment string }

// Columns and categories of the tables differ from the columns and categories of the model.
func TestColumnsOfModels(t *testing.T) {
	saveExamples(t)
	accounts := make([]account, 300)
	sum := 0
	for i := range accounts {
		isFraud := i%2 == 1
		accounts[i] = account{[]string{"AT", "CY", "DE"}[i*i%7%3], fmt.Sprint(20 + i*31%50), "retail"}
		if isFraud && i%5 > 0 {
			accounts[i] = account{"CY", fmt.Sprint(20 + i*17%25), []string{"corp", "sme"}[i/2%2]}
		}
		var age int
		fmt.Sscan(accounts[i].age, &age)
		sum += age
	}
	mean := fmt.Sprint(float64(sum) / float64(len(accounts)))
	write := func(name, header string, list []account, row func(a account) string) {
		t.Helper()
		var text strings.Builder
		text.WriteString(header)
		for i, a := range list {
			fmt.Fprintf(&text, row(a)+"\n", i)
		}
		if err := os.WriteFile(name, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const header = "node,country,segment,age\n"
	plain := func(a account) string { return "a%d," + a.country + "," + a.segment + "," + a.age }
	encoded := func(a account) string {
		text := "%d"
		for j, name := range []string{"AT", "CY", "DE", "corp", "retail", "sme"} {
			if name == a.country || name == a.segment {
				text += fmt.Sprint(" ", j+1, ":1")
			}
		}
		if a.age == "" {
			a.age = mean
		}
		return text + " 7:" + a.age
	}
	write("accounts.csv", header, accounts, plain)
	write("ids", "", accounts, func(account) string { return "a%d" })
	// The links tell the labels of this graph. With so few labels attributes are always used.
	labels := strings.SplitAfterN(string(content(t, "checked.csv")), "\n", 42)
	if err := os.WriteFile("few.csv", []byte(strings.Join(labels[:min(41, len(labels))], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	succeed(t, nil, io.Discard, "classify", "payments.csv", "--labels", "few.csv", "--node-features", "accounts.csv", "--save-model", "m", "-o", "today.csv")
	today := content(t, "today.csv")
	changed := func(change func(i int, a *account)) []account {
		list := append([]account(nil), accounts...)
		for i := range list {
			change(i, &list[i])
		}
		return list
	}
	for _, c := range []struct {
		name, header string
		list         []account
		row          func(a account) string
		warning      string
	}{
		{"the same", header, accounts, plain, ""},
		{"a new category", header, changed(func(i int, a *account) {
			if i == 5 {
				a.country = "MT"
			}
		}), plain, `columns.csv:7:4: column country has 1 value in no category of the model, first "MT"; learn the model again to use them`},
		{"a category that none has", header, changed(func(_ int, a *account) { a.country = strings.Replace(a.country, "CY", "", 1) }), plain, ""},
		{"another category in place of one", header, changed(func(_ int, a *account) { a.country = strings.Replace(a.country, "CY", "MT", 1) }), plain,
			"values in no category of the model"},
		{"one category that all have", header, changed(func(_ int, a *account) { a.segment = "sme" }), plain, ""},
		{"numbers in place of words", header, changed(func(i int, a *account) { a.country = fmt.Sprint(i % 3) }), plain, "300 values in no category"},
		{"missing numbers", header, changed(func(i int, a *account) {
			if i%3 == 0 {
				a.age = ""
			}
		}), plain, ""},
		{"no number", header, changed(func(_ int, a *account) { a.age = "" }), plain, ""},
		{"another order", "age,segment,node,country\n", accounts,
			func(a account) string { return a.age + "," + a.segment + ",a%d," + a.country }, ""},
		{"a further column", "node,risk,joined,country,segment,age\n", accounts,
			func(a account) string { return "a%[1]d," + a.age + ",2024-05-0" + a.age[:1] + plain(a)[3:] },
			"columns.csv:1: left out, because the model was learned without: risk, joined; learn the model again to use them"},
	} {
		write("columns.csv", c.header, c.list, c.row)
		write("columns.svm", "", c.list, encoded)
		var warnings bytes.Buffer
		args := []string{"predict", "payments.csv", "--model", "m", "-o", "p.csv", "--node-features"}
		if code := Main(append(args, "columns.csv"), nil, io.Discard, &warnings); code != shell.Done {
			t.Errorf("%s: exit code %d: %s", c.name, code, warnings.String())
			continue
		}
		got := content(t, "p.csv")
		succeed(t, nil, io.Discard, append(args, "columns.svm", "--feature-ids", "ids")...)
		if !bytes.Equal(got, content(t, "p.csv")) {
			t.Errorf("%s: other predictions than with the columns of the model", c.name)
		}
		isUnchanged := c.name == "the same" || c.name == "another order" || c.name == "a further column"
		if bytes.Equal(got, today) != isUnchanged {
			t.Errorf("%s: same predictions as today: %v", c.name, !isUnchanged)
		}
		if n := strings.Count(warnings.String(), "warning: columns.csv"); n > 1 || n == 1 != (c.warning != "") || !strings.Contains(warnings.String(), c.warning) {
			t.Errorf("%s: warnings\n%s", c.name, warnings.String())
		}
	}
	succeed(t, nil, io.Discard, "explain", "payments.csv", "a2", "--model", "m", "--node-features", "columns.csv", "-o", "reasons.csv")
	for name, problem := range map[string]string{
		"account,land,segment,age\n":    "columns.csv:1: no column country, which the model was learned with; add it, or learn the model again",
		"account,country,age,segment\n": "columns.csv:2:7: \"retail\" is not a number, and column age holds numbers",
	} {
		write("columns.csv", name, accounts, plain)
		var text bytes.Buffer
		if code := Main([]string{"predict", "payments.csv", "--model", "m", "--node-features", "columns.csv", "-o", "p.csv"}, nil, io.Discard, &text); code != shell.WrongData || !strings.Contains(text.String(), problem) {
			t.Errorf("%q: exit code %d: %s", name, code, text.String())
		}
	}
}
