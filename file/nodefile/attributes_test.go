package nodefile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/budget"
)

func tableOf(a *Attributes) string {
	var text strings.Builder
	column := func(c *Column) {
		text.WriteString(" | " + c.Name + ":")
		for _, code := range c.Code {
			value := "·"
			if code >= 0 {
				value = c.Values[code]
			}
			text.WriteString(" " + value)
		}
	}
	text.WriteString(strings.Join(a.IDs, " "))
	for i := range a.Columns {
		column(&a.Columns[i])
	}
	if a.Classes != nil {
		value := slices.Repeat([]string{"·"}, len(a.IDs))
		for i, row := range a.Classes.Row {
			value[row] = a.Classes.Names[a.Classes.Class[i]]
		}
		text.WriteString(" | classes: " + strings.Join(value, " "))
	}
	return text.String()
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct{ name, text, config, want string }{
		{"a.csv", "id,fur,class\na,y,k\nb,?,\n", "", "a b | fur: y ? | classes: k ·"},
		{"a.csv", "fur,tail\ny,n\nn,n\n", "", "1 2 | fur: y n | tail: n n"},
		{"a.csv", "y,n\ny,k\nn,n\n", "", "1 2 3 | column 1: y y n | column 2: n k n"}, // y occurs again
		{"a.csv", "1,n\n2,k\n", "", "1 2 | column 1: 1 2 | column 2: n k"},            // a number is no title
		{"a.csv", "x,y\nk,l\n", "header=no", "1 2 | column 1: x k | column 2: y l"},
		{"a.csv", "x,y\nz,w\nx,y\n", "header=yes", "1 | x: z | classes: w"},
		{"a.tsv", "\tfur\tsize\n0\ty\tbig cat\n1\tn\tNA\n", "", "0 1 | fur: y n | size: big cat NA"},
		{"a.txt", "\"fur\" \"size\"\n\"r1\" \"y\" \"big\"\n\"r2\" \"n\" \"big\"\n", "", "r1 r2 | fur: y n | size: big big"}, // write.table of R
		{"a.data", "# about\n39, a b, ?\n\n40, c, d\n", "", "1 2 | column 1: 39 40 | column 2: a b c | column 3: ? d"},
		{"a.csv", "id,fur,class\na,y,k\nb,n,l\n", "columns=fur,class", "a b | fur: y n | class: k l"},
		{"a.csv", "id,fur,class\na,y,k\nb,n,l\n", "columns=2 class=id id=class", "k l | fur: y n | classes: a b"},
		{"a.csv", "a,y,k\nb,n,l\n", "header=no columns=2 class=3 id=1", "a b | column 2: y n | classes: k l"},
		{"a.csv", "id,fur\n#a,y\n%b,n\n# none\n", "", "#a %b | fur: y n"},
		{"a.csv", "id,born,fur\na,2001-02-03,y\nb,?,n\nc,2003-01-01,y\n", "", "a b c | fur: y n y"},
		{"a.csv", "id,born,fur\na,3.2.2001,y\nb,1.1.2003,n\n", "columns=born", "a b | born: 3.2.2001 1.1.2003"},
		{"a.csv", "id,born,fur\na,2001-02-03,y\nb,never,n\n", "", "a b | born: 2001-02-03 never | fur: y n"},
		{"a.csv", "text\n\"\"\n\"a,b\"\nc d\n", "header=yes", "1 2 3 | text:  a,b c d"},
		{"a.csv", "x,y\n-,n\nNA,?\n", "header=yes missing=- columns=1,2", "1 2 | x: · NA | y: n ?"},

		{"a.csv", "id,fur,class\na,y,1\nb,Unknown,NA\nc,n/a,1.0\n", "", "a b c | fur: y Unknown n/a | classes: 1 · 1"},
		{"a.csv", "id,fur,size\na,1,1\nb,NA,\nc,nan,x\nd,2,NA\n", "", "a b c d | fur: 1 · · 2 | size: 1 · x NA"},

		{"a.csv", "a,b\n1\n", "", "a.csv:2: 1 field, but line 1 has 2; give each line a value for every column, empty where it is missing"},
		{"a.csv", "a,b\n\"1\n", "", "a.csv:2: a quote is not closed on this line; close it, or write fields that go on over several lines on one: PYTHONIOENCODING=utf-8:surrogateescape python3 -c \"import csv, sys; csv.writer(sys.stdout).writerows([c.replace('\\n', ' ') for c in row] for row in csv.reader(open(sys.argv[1], encoding='utf-8-sig', errors='surrogateescape'), delimiter=','))\" a.csv > new-a.csv"},
		{"a.csv", "id,b\nx,1\ny,2\nx,3\n", "", `a.csv:4: "x" is the id of the record on line 2 already; give each record an id of its own, or name another column of ids`},
		{"a.csv", "id,b\n,1\ny,2\n", "", "a.csv:2: empty id; fix the line"},
		{"a.csv", "id,class\nx,1\ny,2\n", "", "a.csv: no column is left for attributes; name the columns of attributes"},
		{"a.csv", "a,b\n", "header=yes", "a.csv: a header and no records; write a line for each, with a value for every attribute"},
		{"a.csv", "\n", "", "a.csv: no records; write a line for each, with a value for every attribute"},
		{"a.csv", "a,b\nc,d\n", "columns=3 header=yes", "a.csv: 2 columns, but column 3 was requested; give titles of the header, or numbers"},
		{"a.csv", "a,b\nc,d\n", "columns=e", `a.csv: the header "a,b" has no column "e"; give titles of the header, or numbers`},
		{"a.csv", "1,2\n1,2\n", "class=e", `a.csv: the header "1,2" has no column "e"; give titles of the header, or numbers`},
	} {
		config := &AttributeConfig{}
		for _, word := range strings.Fields(c.config) {
			key, value, _ := strings.Cut(word, "=")
			switch key {
			case "header":
				config.Header = map[string]Header{"yes": HasHeader, "no": NoHeader}[value]
			case "columns":
				config.Columns = strings.Split(value, ",")
			case "class":
				config.Class = value
			case "id":
				config.ID = value
			case "missing":
				config.Missing = []string{value}
			}
		}
		t.Chdir(filepath.Dir(write(t, file{c.name, c.text})[0]))
		a, err := ReadAttributes(t.Context(), c.name, config)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = tableOf(a)
		}
		if got != c.want {
			t.Errorf("%q %s:\n%s, want\n%s", c.text, c.config, got, c.want)
		}
	}
}

func TestClassesOfRecords(t *testing.T) {
	a, err := ReadAttributes(t.Context(), write(t, file{"a.csv", "id,x,y,class\na,p,1,k\nb,q,2,\nc,r,NA,l\nd,p,2,\n"})[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	l := a.Classes
	if len(l.Row) != 2 || l.Row[1] != 2 || l.Names[l.Class[1]] != "l" || l.Unlabelled != 2 {
		t.Fatalf("labels %+v, %v", l, err)
	}
	if row, ok := a.Lookup("c"); !ok || row != 2 || a.Len() != 4 {
		t.Error("c is not found")
	}
}

// The error states the estimated memory of the whole table.
func TestAttributesWithinMemory(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "%d,v%d\n", i%3, i)
	}
	path := write(t, file{"a.csv", text.String()})[0]
	if _, err := ReadAttributes(t.Context(), path, &AttributeConfig{Memory: 1 << 20}); err != nil {
		t.Error(err)
	}
	_, err := ReadAttributes(t.Context(), path, &AttributeConfig{Memory: 100 << 10})
	var over *budget.Error
	if !errors.As(err, &over) || over.Need <= over.Limit {
		t.Errorf("%v, want an error about memory", err)
	}
}

func FuzzAttributes(f *testing.F) {
	f.Add("id,fur,class\na,y,k\nb,?,\n")
	f.Add("x\n\"\"\n\"a\"\"b\"\n#\n")
	f.Add("1 2\n3 4\n")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ReadAttributes(t.Context(), write(t, file{"a.csv", text})[0], nil)
		if err != nil {
			return
		}
		if len(a.Line) != len(a.IDs) || len(a.Columns) == 0 {
			t.Fatalf("%d lines of %d records with %d attributes", len(a.Line), len(a.IDs), len(a.Columns))
		}
		for i, id := range a.IDs {
			if row, ok := a.Lookup(id); !ok || row != i {
				t.Fatalf("record %d is called %q, and that is %d", i, id, row)
			}
		}
		for _, c := range a.Columns {
			if len(c.Code) != len(a.IDs) {
				t.Fatalf("%d codes of %d records", len(c.Code), len(a.IDs))
			}
			for _, code := range c.Code {
				if code < -1 || int(code) >= len(c.Values) {
					t.Fatalf("code %d of %d values", code, len(c.Values))
				}
			}
		}
	})
}

// A table of records is the same as text, as Parquet and in parts.
func TestRecordsOfForms(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	type record struct {
		ID    string  `parquet:"id"`
		Fur   *string `parquet:"fur,optional"`
		Size  int64   `parquet:"size"`
		Class *string `parquet:"class,optional"`
	}
	rapid.Check(t, func(rt *rapid.T) {
		words := []string{"y", "n", "NA", "a b"}
		optional := func(name string) *string {
			if i := rapid.IntRange(-1, len(words)-1).Draw(rt, name); i >= 0 {
				return &words[i]
			}
			return nil
		}
		textOf := func(value *string) string {
			if value == nil {
				return ""
			}
			return *value
		}
		var records []record
		lines := []string{}
		for i := range rapid.IntRange(2, 9).Draw(rt, "records") {
			r := record{fmt.Sprint("r", i), optional("fur"), int64(rapid.IntRange(0, 3).Draw(rt, "size")), optional("class")}
			records = append(records, r)
			lines = append(lines, fmt.Sprintf("%s,%s,%d,%s\n", r.ID, textOf(r.Fur), r.Size, textOf(r.Class)))
		}
		const header = "id,fur,size,class\n"
		cut := rapid.IntRange(1, len(lines)-1).Draw(rt, "first part")
		text := write(t, file{"a.csv", header + strings.Join(lines, "")})[0]
		table := write(t, file{"a.parquet", parquetOf(t, records)})[0]
		parts := filepath.Dir(write(t, file{"1.csv", header + strings.Join(lines[:cut], "")}, file{"2.csv", header + strings.Join(lines[cut:], "")})[0])
		want, err := ReadAttributes(t.Context(), text, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for _, path := range []string{table, parts} {
			if got, err := ReadAttributes(t.Context(), path, nil); err != nil || tableOf(got) != tableOf(want) {
				rt.Errorf("%s: %v\n got %s\nwant %s", path, err, tableOf(got), tableOf(want))
			}
		}
	})
}
