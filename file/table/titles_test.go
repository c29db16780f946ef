package table

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/input"
)

// TestEdgeTitles chooses columns by titles alone; − marks a question.
func TestEdgeTitles(t *testing.T) {
	none := EdgeColumns{-1, -1, -1}
	for titles, want := range map[string]EdgeColumns{
		"source,target":                              {0, 1, -1},
		",source,target":                             {1, 2, -1},
		"Weight,Target,Source":                       {2, 1, 0},
		"FromNodeId,ToNodeId":                        {0, 1, -1},
		"source_id,target_id,source,target":          none, // two pairs
		"from_date,to_date,from_city,to_city":        {2, 3, -1},
		":START_ID(Person),w:float,:END_ID,:TYPE":    {0, 2, 1},
		"id:START_ID(P),since:int,b:END_ID(P),:TYPE": {0, 2, -1},
		"node_1,node_2,edge weight":                  {0, 1, 2},
		"gene1,gene2,p.value":                        {0, 1, -1},
		"feature_1,feature_2,feature_3":              none,
		"id1,id2,count,weight":                       none, // two weights
		"u,v,total_amount":                           {0, 1, 2},
		"from,to,p_value,edge_value":                 {0, 1, 3},
		"a,b,kind":                                   none,
		"a,b,amount":                                 {0, 1, 2},
		"head,relation,tail":                         {0, 2, -1},
		"paper,cites":                                {0, 1, -1},
		"caller,callee,start,end":                    none,
	} {
		c, err := (&Sample{Titles: strings.Split(titles, ",")}).ChooseEdges(EdgeOptions{Header: input.HasHeader})
		if (err != nil) != (want == none) || err == nil && c.EdgeColumns != want {
			t.Errorf("%s: %v, %v, want %v", titles, c.EdgeColumns, err, want)
		}
	}
}

// TestTitlesPage checks that docs/tables.md has the words of every role in its row of the table.
func TestTitlesPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, r := range []role{nodeRole, weightRole, noWeights, labelRole, partRole, timeRole, indexRole} {
		if row := strings.Join(r.words, ", "); !strings.Contains(page, row) {
			t.Errorf("docs/tables.md: no row %s: %s", r.name, row)
		}
	}
	for _, pair := range ends {
		if !strings.Contains(page, pair[0]+"/"+pair[1]) {
			t.Errorf("docs/tables.md: no pair %s/%s", pair[0], pair[1])
		}
	}
}

func TestChoose(t *testing.T) {
	titles := []string{"a", "2", "From Node", "0"}
	for fields, want := range map[string][]int{"1,2": {0, 1}, "a,2": {0, 1}, "from_node,a": {2, 0}, "0,2": {3, 1}, "a,x": nil, "a,A": nil} {
		if got, err := Choose(strings.Split(fields, ","), titles); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %v, %v, want %v", fields, got, err, want)
		}
	}
}

func TestIsTime(t *testing.T) {
	for text, want := range map[string]bool{
		"1081987200": true, "1081987200000": true, "2004-04-15": true, "2004-04-15T10:00:00Z": true, "2004-04-15 10:00": true,
		"3": false, "1081987200.5": false, "20040415": false, "2004-04-15x": false, "2004-13-15": false, "": false, "2004": false,
	} {
		if got := isTime(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestSplit compares the text of fields, and whether blanks surround it.
func TestSplit(t *testing.T) {
	for _, test := range []struct {
		line   string
		sep    byte
		want   string // fields, joined by |
		padded string // 1 for each that is
		err    error
	}{
		{"a,b", Comma, "a|b", "00", nil},
		{" a , b\r", Comma, "a|b", "11", nil},
		{`"a ","b,""c"""`, Comma, `a |b,"c"`, "00", nil},
		{`a, "b "`, Comma, "a|b ", "00", nil},
		{"a \t b\t 7 \r", Tab, "a | b|7", "111", nil},
		{"\"a\"\t\t", Tab, `a||`, "000", nil},
		{`"Bob" Smith` + "\t" + `"open` + "\t" + `"""open"` + "\t" + `" a"" "`, Tab, `"Bob" Smith|"open|"open| a" `, "0000", nil},
		{`"` + "\t" + `""` + "\t" + `"a"b"` + "\r", Tab, `"||"a"b"`, "000", nil},
		{"  a  b\t", Blanks, "a|b", "00", nil},
		{`"a b" c`, Blanks, "a b|c", "00", nil},
		{"a;", Semicolon, "a|", "00", nil},
		{`"a,b`, Comma, "", "", ErrQuote},
		{`"a"x,b`, Comma, "a", "0", ErrQuoteEnd},
		{"\"a\tb\",c", Comma, "", "", ErrTab},
		{strings.Repeat(",", manyFields), Comma, "", "", ErrFields},
	} {
		var f Fields
		err := f.Split([]byte(test.line), test.sep)
		if err != test.err {
			t.Errorf("%.40q: %v, want %v", test.line, err, test.err)
		}
		if err != nil {
			continue
		}
		padded := ""
		for _, p := range f.Padded {
			padded += map[bool]string{false: "0", true: "1"}[p]
		}
		var text []string
		for i, field := range f.Text {
			text = append(text, string(field))
			if at := strings.Index(test.line[f.Start[i]:], string(field)); at > 1 {
				t.Errorf("%q: field %d does not start at %d", test.line, i, f.Start[i])
			}
		}
		if strings.Join(text, "|") != test.want || padded != test.padded {
			t.Errorf("%q: %q, padded %s; want %q, %s", test.line, text, padded, test.want, test.padded)
		}
	}
}
