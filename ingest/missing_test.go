package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMissingEnds(t *testing.T) {
	const na = "from,to\na,b\nb,NA\nc,NA\nd,NA\ne,f\n"
	warning := func(what, fix string) string {
		return "e.csv: " + what + "; option missing=" + fix + " drops such lines"
	}
	for _, test := range []struct {
		text    string
		c       Config
		ids     string
		edges   int64
		missing int64
		warning string
	}{
		{na, Config{}, "a b NA c d e f", 5, 0, warning(`3 lines with ids that may stand for no value and are nodes here: NA`, "NA")},
		{na, Config{Missing: []string{"NA", "N/A"}}, "a b c d e f", 2, 3, ""},
		{na, Config{Missing: []string{""}}, "a b NA c d e f", 5, 0, ""},
		{"from,to,weight\na,null,1\nnull,b,2\na,b,0.5\n", Config{}, "a null b", 3, 0, warning(`2 lines with ids that may stand for no value and are nodes here: null`, "null")},
		{"a,\\N\nb,None\nb,a\n", Config{}, "a \\N b None", 3, 0, warning(`2 lines with ids that may stand for no value and are nodes here: \N,None`, `\N,None`)},
		{"a,\\N\nb,None\nb,a\n", Config{Missing: []string{"None", `\N`}}, "a b", 1, 2, ""},
		{"1,2\n2,nan\n3,1\n", Config{Missing: []string{"nan"}}, "1 2 3", 2, 1, ""},
		{"1,2\n2,-1\n3,0\n", Config{Missing: []string{"-1", "0"}}, "1 2 3", 1, 2, ""},
		{"from,to\na,b\nb,\n,c\nTotal,\n", Config{}, "a b c Total", 1, 3, "e.csv:3: 3 lines left out for a missing end; fix such lines, and remove lines of totals, whose other ends are nodes too"},
		{"from,to,amount\na,b,1\nb,,0\nTotal,,9\n,NA,2\n", Config{Missing: []string{"NA"}}, "a b Total", 1, 2, "e.csv:4: 2 lines left out for a missing end; fix such lines, and remove lines of totals, whose other ends are nodes too"},
		{"day,from,to\n1,a,b\nTotal,,\n", Config{}, "a b", 1, 1, "e.csv:3: 1 line left out for a missing end; fix such lines, and remove lines of totals, whose other ends are nodes too"},
		{`[{"from":"a","to":"b"},{"from":"b","to":null}]`, Config{}, "a b", 1, 1, "e.csv:2: 1 line left out for a missing end; fix such lines, and remove lines of totals, whose other ends are nodes too"},
		{"10,2\n2,9\n", Config{Missing: []string{"9"}}, "2 10", 1, 1, ""},
	} {
		g, report := read(t, &test.c, file{"e.csv", test.text})
		if ids := strings.Join(g.ids, " "); ids != test.ids || report.Edges != test.edges || report.MissingIDs != test.missing || report.UnknownIDs != 0 {
			t.Errorf("%q %q: ids %s, %d edges, %d missing; want %s, %d, %d", test.text, test.c.Missing, ids, report.Edges, report.MissingIDs, test.ids, test.edges, test.missing)
		}
		got := strings.Join(report.Warnings, "\n")
		if at := strings.LastIndex(got, "/"); at >= 0 && test.warning != "" && !strings.Contains(test.warning, "/") {
			got = got[at+1:]
		}
		if got != test.warning {
			t.Errorf("%q: warnings %q, want %q", test.text, got, test.warning)
		}
	}
	paths := write(t, file{"e.csv", na}, file{"nodes", "NA\na\n"})
	if _, report, err := ingestInto(t, &Config{Nodes: paths[1]}, paths[0]); err != nil || len(report.Warnings) > 0 {
		t.Errorf("a listed id: %v, warnings %q", err, report.Warnings)
	}
}

// TestNoGoodLine reads tables in which every line misses an end.
func TestNoGoodLine(t *testing.T) {
	const missing = "no line has both ends: source or target is missing; "
	for _, test := range []struct {
		name, text, want string
		c                Config
	}{
		{"e.csv", "source,target\n,\n,\n", "e.csv:2: " + missing + "name the columns of the ends with option fields, or fix the lines", Config{}},
		{"e.csv", "source,target,amount\n,,3\n,,4\n", "e.csv:2: " + missing + "name the columns of the ends with option fields, or fix the lines", Config{}},
		{"e.csv", "source,target\n,b\n,c\n", "e.csv:2: " + missing + "name the columns of the ends with option fields, or fix the lines", Config{}},
		{"e.csv", "source,target,weight\n,,0\n", "e.csv: " + missing + "name the columns of the ends with option fields, or fix the lines", Config{}},
		{"e.csv", "a,NA\nNA,b\n", "e.csv: " + missing + "correct the words of option missing", Config{Missing: []string{"NA"}}},
		{"e.jsonl", `{"source":null,"target":"b"}` + "\n" + `{"source":"a","target":""}` + "\n", "e.jsonl:1: " + missing + "name the columns of the ends with option fields, or fix the lines", Config{}},
	} {
		for _, memory := range []int64{0, 64 << 20} {
			test.c.Memory = memory
			wantError(t, &test.c, []file{{test.name, test.text}}, test.want)
		}
	}
	paths := write(t, file{"e.csv", "source,target\n,\n"}, file{"nodes", "a\nb\n"})
	if _, report, err := ingestInto(t, &Config{Nodes: paths[1]}, paths[0]); err != nil || report.Nodes != 2 || report.Edges != 0 {
		t.Errorf("listed nodes: %v", err)
	}
}

// TestEmptyColumns reads tables whose columns of ends have no values, beside other columns.
func TestEmptyColumns(t *testing.T) {
	wantError(t, nil, []file{{"e.csv", "account,name,iban,bank\n1,x,,q\n2,y,,q\n"}},
		"e.csv:1: cannot determine source and target: 1 account (1, 2), 2 name (x, y), 3 iban (, ), 4 bank (q, q); pass option fields=account,name")
	for _, text := range []string{"a,b,,\nb,c,,\n", "a,,b\nb,,c\n", "account,sender,receiver,amount\na,,b,3\nb,,c,4\n"} {
		if g, _ := read(t, nil, file{"e.csv", text}); len(g.out) != 4 {
			t.Errorf("%q: %v", text, g.out)
		}
	}
}

func TestIntegersInTwoForms(t *testing.T) {
	for text, test := range map[string]struct {
		warning string
		ids     []string
	}{
		"source,target\n1,2.0\n2,3.0\n3,1\n":                {"", []string{"1", "2", "3"}},
		"from,to\n1e+05,2\n100000,1.0\n2.000e+00,100000\n":  {"", []string{"100000", "2", "1"}},
		"1.0000e+00,1.23456789012E+11\n123456789012,1E+5\n": {"", []string{"1", "100000", "123456789012"}},
		"12E1,7E1\n120,70\n":                                {"", []string{"12E1", "7E1", "120", "70"}},
		"1E4,2E3\n10E3,1e4\n":                               {"", []string{"1E4", "2E3", "10E3", "1e4"}},
		"a,-3.00\nb,-3\n":                                   {`"-3" and "-3.00"`, []string{"a", "-3.00", "b", "-3"}},
		"a,3.\nb,3\n":                                       {"", []string{"a", "3", "b"}},
		"a,250.0\nb,250.00\nc,250\n":                        {`"250" and "250.0"`, []string{"a", "250.0", "b", "250.00", "c", "250"}},
		"x,1e+05\n100000,y\n":                               {`"100000" and "1e+05"`, []string{"x", "1e+05", "100000", "y"}},
		"x,1e5\n100000,y\n":                                 {"", []string{"x", "1e5", "100000", "y"}},
		"a,+7\n7,a\n":                                       {`"7" and "+7"`, []string{"a", "+7", "7"}},
		"a,7\n007,a\n":                                      {`"7" and "007"`, []string{"a", "7", "007"}},
		"a,7.0\n7,a\n+7,a\n":                                {`"7" and "7.0"`, []string{"a", "7.0", "7", "+7"}},
		"1.0,2.0\n2.1,1.10\n":                               {"", []string{"1.0", "2.0", "2.1", "1.10"}},
	} {
		want := test.warning
		g, report := read(t, nil, file{"e.csv", text})
		if want != "" {
			want = fmt.Sprintf("ids %s both occur and are different nodes; write each integer in one way if they are meant as one", want)
		}
		if got := slices.Sorted(slices.Values(g.ids)); !slices.Equal(got, slices.Sorted(slices.Values(test.ids))) {
			t.Errorf("%q: nodes %q, want %q", text, got, test.ids)
		}
		joined := func(warning string) bool { return strings.Contains(warning, " is read as the node ") }
		if got := strings.Join(slices.DeleteFunc(slices.Clone(report.Warnings), joined), "\n"); got != want {
			t.Errorf("%q: warnings %q, want %q", text, got, want)
		}
	}
}

// TestOrderOfRows reads ids of whole numbers, with text in some tables, in two orders of rows. The nodes must be the
// same; the first thousand rows alone decide nothing.
func TestOrderOfRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		forms := []string{"%d", "%d.0", "%d.00", "%de+00"}[:rapid.IntRange(1, 4).Draw(rt, "forms")]
		texts := rapid.IntRange(0, 2).Draw(rt, "texts")
		var rows []string
		for i := range 1500 {
			rows = append(rows, fmt.Sprintf("p%d,"+forms[i%len(forms)]+"\n", i%40, 250+i%7))
		}
		for i := range texts {
			rows = append(rows, fmt.Sprintf("p%d,401.%d\n", i, 9-i))
		}
		var want []string
		for _, isReversed := range []bool{false, true} {
			if isReversed {
				slices.Reverse(rows)
			}
			dir, _, err := ingestInto(t, &Config{Workers: 2}, write(t, file{"e.csv", "patient,code\n" + strings.Join(rows, "")})...)
			if err != nil {
				rt.Fatal(err)
			}
			ids := slices.Sorted(slices.Values(load(t, dir).ids))
			if isReversed && !slices.Equal(ids, want) {
				rt.Errorf("%q in reverse order: %q", want, ids)
			}
			want = ids
		}
	})
	text := "patient,code\n" + strings.Repeat("p,250.0\nq,251.0\n", 600) + "p,401.9\n"
	_, _, err := ingestInto(t, &Config{Stdin: strings.NewReader(text)}, "-")
	if want := `stdin:1202: "401.9" is text, and "250.0" on line 2 was read as a whole number; a pipe cannot be read again; write it to a file, and give that`; err == nil || err.Error() != want {
		t.Errorf("a pipe: %v, want %s", err, want)
	}
}
