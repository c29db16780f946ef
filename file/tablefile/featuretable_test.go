package tablefile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func nodesOf(t *testing.T, ids ...string) *shard.Nodes {
	nodes, err := shard.StringNodes(slices.Values(ids))
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// Tables are as pandas, R and spreadsheets write them.
func TestReadFeatures(t *testing.T) {
	nodes := nodesOf(t, "n1", "n2", "n3", "4")
	for _, c := range []struct {
		name, text string
		want       [][]float32 // nil: no row
		passed     []string
	}{
		{"x.csv", "node,age,town\nn2,3,Rome\nn1,5,Oslo\nn3,,Rome\n", [][]float32{{5, 1, 0}, {3, 0, 1}, {4, 0, 1}, nil}, nil},
		{"x.tsv", "n1\t1\t0.5\n4\t-2\t1e3\n", [][]float32{{1, 0.5}, nil, nil, {-2, 1000}}, nil},
		{"x.csv", ",id,x,label\n0,n1,1,A\n1,4,NA,B\n2,n3,3,A\n", [][]float32{{1}, nil, {3}, {2}}, []string{"label"}},
		{"x.content", "n1 1 0 A\nn2 0 1 B\n", [][]float32{{1, 0}, {0, 1}, nil, nil}, []string{"column 4"}},
		{"x.csv", "x,node\n7,n3\n", [][]float32{nil, nil, {7}, nil}, nil},
		{"x.csv", "node,a,b\nn1,,1\nn2,u,2\nn3,NA,3\n", [][]float32{{0, 0, 1}, {0, 1, 2}, {1, 0, 3}, nil}, nil},
	} {
		path := write(t, c.name, []byte(c.text))
		a, err := ReadFeatures(t.Context(), path, nodes, nil)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for row, want := range c.want {
			_, values := a.Table.Reader().Row(row)
			got := make([]float32, len(values))
			if values != nil {
				got = dense(a, row)
			}
			if (values != nil) != (want != nil) || !slices.Equal(got, want) {
				t.Errorf("%q: row %d is %v, want %v", c.text, row, got, want)
			}
		}
		if ignored := ignoredOf(a); !slices.Equal(ignored, c.passed) {
			t.Errorf("%q: ignored %q, want %q", c.text, ignored, c.passed)
		}
	}
}

func ignoredOf(a *Features) (titles []string) {
	for _, c := range a.Columns {
		if c.Use == "" {
			titles = append(titles, c.Title)
		}
	}
	return titles
}

func TestFeatureColumns(t *testing.T) {
	nodes := nodesOf(t, "n1", "n2", "n3")
	numbers := nodesOf(t, "0", "1", "2", "3")
	for _, c := range []struct {
		text  string
		nodes *shard.Nodes
		want  string // columns, or the error
		first []float32
	}{
		{"id,age,city,joined\nn1,31,Rome,2021-03-04\nn2,45,Oslo,2020-01-02 10:30\nn3,3,Rome,\n", nodes,
			"id → node, age → number, city → 2 categories, joined → days, 1 missing", []float32{31, 0, 1, 18690}},
		{",Kunde,age,city\n0,n1,31,Rome\n1,n2,45,Oslo\n2,n3,31,Rome\n", nodes,
			"Kunde → node, age → number, city → 2 categories; skipped the index column", []float32{31, 0, 1}},
		{",Kunde,age\n0,3,31\n1,0,45\n2,1,31\n", numbers,
			"x.csv:1: column 2 has ids of nodes: 1 (0, 1, 2), 2 Kunde (3, 0, 1), 3 age (31, 45, 31); title the column of the node \"node\"", nil},
		{",age,city\n0,31,Rome\n1,45,Oslo\n2,31,Rome\n", numbers, "(untitled) → node, age → number, city → 2 categories", []float32{31, 0, 1}},
		{"Unnamed: 0,id,age\n0,3,31\n1,0,45\n2,1,31\n", numbers, "id → node, age → number; skipped the index column", []float32{45}},
		{"n1,5,2021-03-04\nn2,6,2020-11-05\n", nodes, "column 1 → node, column 2 → number, column 3 → days", []float32{5, 18690}},
		{"id,when,x\nn1,2021-03-04,1\nn2,20211231,2\n", nodes, "id → node, when → days, x → number", []float32{18690, 1}},
		{"id,TIME,date\nn1,5,20210304\nn2,6,20211231\n", nodes, "id → node, TIME → number, date → number", []float32{5, -463.5}},
		{"id,when,x\nn1,4 Mar 2021,1\nn2,never,2\n", nodes, "id → node, when → 2 categories, x → number", []float32{1, 0, 1}},
		{"id,category,x\nn1,a,1\nn2,b,2\n", nodes, "id → node, x → number; ignored: category (titled as labels are)", []float32{1}},
	} {
		path := write(t, "x.csv", []byte(c.text))
		a, err := ReadFeatures(t.Context(), path, c.nodes, nil)
		if err != nil {
			if got := strings.ReplaceAll(err.Error(), strings.TrimSuffix(path, "x.csv"), ""); got != c.want {
				t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
			}
			continue
		}
		if got := a.Columns.String(); got != c.want || !slices.Equal(dense(a, 0), c.first) {
			t.Errorf("%q:\n got %s, %v\nwant %s, %v", c.text, got, dense(a, 0), c.want, c.first)
		}
	}
}

func dense(a *Features, row int) []float32 {
	cols := a.Table.Cols
	out := make([]float32, cols)
	columns, values := a.Table.Reader().Row(row)
	for i, v := range values {
		j := i
		if columns != nil {
			j = int(columns[i])
		}
		out[j] = v
	}
	return out
}

func TestBadFeatures(t *testing.T) {
	nodes := nodesOf(t, "n1", "n2", "n3")
	for _, c := range []struct{ text, want string }{
		{"node,x\nn1,1\nn9,2\n", `x.csv:3: "n9" is not in the graph (1 of 2 ids is not); list nodes without edges with option nodes=FILE, or skip unknown ids with option unknown-ids=skip`},
		{"node,x\nn7,1\nn9,2\n", `x.csv: none of 2 ids is in the graph (first "n7"); the graph has ids like "n1"; pass the file with such ids`},
		{"node,x\nn1,1\nn1,2\n", `x.csv:3: "n1" has two rows; keep one of them`},
		{"node,x\nn1,1\nn2\n", `x.csv:3: 1 field, but line 1 has 2; give each line a value for every column, empty where it is missing`},
		{"node,x\nn1,1\nn2,inf\n", `x.csv:3:4: "inf" is infinite; fix the line, or leave the field empty`},
		{"node,x\nn1,1e39\n", `x.csv:2:4: "1e39" is beyond ±3.4e+38; fix the line, or leave the field empty`},
		{"node;x;w\nn1;2.5;a\nn2;1.003,25;b\n", `x.csv:3:4: "1.003,25" is not a number, and column x holds numbers; pass option thousands=. option decimal=,, or pass option attribute-fields=w`},
		{"node,x\n", `x.csv: no column of attributes; add one to the column of the node`},
		{"node\nn1\n", `x.csv: no column of attributes; add one to the column of the node`},
	} {
		path := write(t, "x.csv", []byte(c.text))
		_, err := ReadFeatures(t.Context(), path, nodes, nil)
		if !errors.As(err, new(*nodefile.ParseError)) {
			t.Errorf("%q: %v is not about data", c.text, err)
			continue
		}
		if got := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "="+path, "=FILE"), strings.TrimSuffix(path, "x.csv")); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	path := write(t, "x.csv", []byte("node,x\nn1,1\nn9,2\n"))
	a, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{SkipUnknown: true})
	if err != nil || a.Unknown != 1 || a.Table.Present != 1 {
		t.Errorf("skipped: %+v, %v", a, err)
	}
	a, err = ReadFeatures(t.Context(), path, nodes, &FeatureConfig{SkipUnknown: true, Memory: 100})
	if over := (*budget.Error)(nil); !errors.As(err, &over) || a.Table.Present != nodes.Len() || a.Table.Cols != 1 || over.Need < a.Table.Bytes {
		t.Errorf("in 100 bytes: %v, %+v", err, a)
	}
}

func TestAttributeForms(t *testing.T) {
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("n%d", i))
	}
	nodes := nodesOf(t, ids...)
	const (
		notNumber = `" is not a number, and column x holds numbers; `
		fix       = "fix the line, leave the field empty, or list words for a missing value with option missing"
		names     = ": no column of attributes: node → node; ignored: x (a different text for nearly every node); add one to the column of the node"
	)
	for _, c := range []struct{ values, want string }{ // values of n0, n1, …, joined by |; use of the column, or the error or warning
		{"0.9|0.1|-|0.4|0.5", `:4:4: "-` + notNumber + fix},
		{"0.9|NaN|0.2|NA|0.5||NULL|null", "number, 5 missing"},
		{"NA|NA|", "no value"},
		{"a|NA||b|a", "3 categories, 1 missing"},
		{"1|2|3|<0.001|5", "5 categories; warning: :5:4: column x is read as categories, because \"<0.001\" is not a number; " + fix},
		{"1|2|5 kg|3", "4 categories; warning: :4:4: column x is read as categories, because \"5 kg\" is not a number; " + fix},
		{"1,000.50|2,000.50", `:2:4: "1,000.50` + notNumber + "pass option thousands=,"},
		{"1,5|2|-3,25|1.002,27|1.003", `:2:4: "1,5` + notNumber + "pass option decimal=,"},
		{"1,234|2,000|500", `:2:4: "1,234` + notNumber + "pass option decimal=, or option thousands=,"},
		{"$5|$6.50|$7", "number"},
		{"1.000,50 €|20 €", `:2:4: "1.000,50 €` + notNumber + "pass option thousands=. option decimal=,"},
		{"5.00-|(7)|6 CHF", "number"},
		{"5 USD|7 USD|6 CHF", ": no column of attributes: node → node; ignored: x (amounts in several currencies: USD, CHF); add one to the column of the node"},
		{"365|2.313", "number"},
		{"0%|1%|2 %", "number"},
		{"1|2|3|4|5|6|7|8|9|10|tbd", `:12:5: "tbd` + notNumber + fix},
		{"1|2|3|tbd", "4 categories; warning: :5:4: column x is read as categories, because \"tbd\" is not a number; " + fix},
		{"2|3|4|5more|5more|5more", "4 categories; warning: :5:4: column x is read as categories, because \"5more\" is not a number; " + fix},
		{"5 kg|5 kg|7 kg", "2 categories"},
		{"1 m|2 m|3 m|4 m|5 m|6 m|7 m|8 m|9 m|10 m", names},
		{"18-25|26-35|<18|18-25", "3 categories"},
		{"01234|02345|99999|01234", "3 categories"},
		{"007|1|007|1", "2 categories"},
		{"0|1|0.5|00.5", "number"},
		{"anna|berta|carl|dora|emil|fritz|gerd|hans|ida|jan|karl", names},
		{"00001|00002|00003|00004|00005|00006|00007|00008|00009|00010", names},
		{"anna|berta|carl", "3 categories"},
		{"a|b|c|d|e|f|a|b|c|d|e|f", "6 categories"},
	} {
		text := "node,x\n"
		for i, value := range strings.Split(c.values, "|") {
			text += fmt.Sprintf("n%d,\"%s\"\n", i, value)
		}
		path := write(t, "x.csv", []byte(text))
		var got, warning string
		a, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{Warn: func(w error) { warning = "; warning: " + w.Error() }})
		if err != nil {
			got = err.Error()
		} else {
			got = cmp.Or(a.Columns[1].Use, a.Columns[1].Note)
		}
		if got = strings.ReplaceAll(got+warning, path, ""); got != c.want && c.want != "no value" {
			t.Errorf("%s:\n got %s\nwant %s", c.values, got, c.want)
		}
	}
}

func TestDetermining(t *testing.T) {
	const rows, classes = 24, 3
	var ids []string
	labels := &nodefile.Labels{Names: []string{"x", "y", "z"}}
	text := "node,copy,number,team,noise,constant,name,rest\n"
	for i := range rows {
		ids = append(ids, fmt.Sprintf("n%d", i))
		class := i % classes
		labels.Row, labels.Class = append(labels.Row, i), append(labels.Class, class)
		group := fmt.Sprintf("g%d", class+classes*(i%2)) // two groups of each class
		rest := ""
		if i < 4 {
			rest = fmt.Sprint("r", class)
		}
		text += fmt.Sprintf("n%d,k%d,%d,%s,%d,1,%g,%s\n", i, class, 7*class, group, i%4, 0.1*float64(i+10*class), rest)
	}
	f, err := ReadFeatures(t.Context(), write(t, "x.csv", []byte(text)), nodesOf(t, ids...), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.FindLeaks(labels), []string{"copy", "number", "team"}; !slices.Equal(got, want) {
		t.Errorf("determining: %q, want %q", got, want)
	}
	labels.Class[5] = 0
	if got := f.FindLeaks(labels); got != nil {
		t.Errorf("with an exception: %q", got)
	}
}

// Reasons must not depend on the names of attributes, and a column that is not named has no errors.
func TestOtherColumns(t *testing.T) {
	nodes := nodesOf(t, "n1", "n2", "n3")
	path := write(t, "x.csv", []byte("node,age,joined,note,money,label\nn1,30,2024-01-31,,$5,a\nn2,40,2023-05-01,,inf,b\nn3,50,2022-07-07,,7,a\n"))
	f, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{Fields: []string{"age"}})
	const want = "node → node, age → number; ignored: joined (not asked for), note (no value), money (not asked for), label (titled as labels are)"
	if err != nil || f.Columns.String() != want {
		t.Errorf("%v, %v", f.Columns, err)
	}
	path = write(t, "y.csv", []byte("node,age,joined,note\nn1,30,2024-01-31,\nn2,40,2023-05-01,\n"))
	f, err = ReadFeatures(t.Context(), path, nodes, nil)
	if err != nil || f.Columns.String() != "node → node, age → number, joined → days; ignored: note (no value)" {
		t.Errorf("%v, %v", f.Columns, err)
	}
}

// word2vec writes two counts above the vectors.
func TestWordVectors(t *testing.T) {
	nodes := nodesOf(t, "1", "2", "3")
	for text, cols := range map[string]int{
		"3 2\n1 0.5 1\n2 1.5 -2\n3 0 1\n":          2,
		"3 3\n1 0.5 1 2 \n2 1.5 -2 2 \n3 0 1 2 \n": 3,
		"2 2\n1 1 1\n3 2 2\n":                      2,
		"3 1\n1 2\n2 5\n":                          1, // a row of node 3, with as many fields as the other rows
	} {
		f, err := ReadFeatures(t.Context(), write(t, "x.emb", []byte(text)), nodes, nil)
		if err != nil || f.Table.Cols != cols {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

func TestMostLevels(t *testing.T) {
	ids, text := []string{}, "node\tnumber\ttext\n"
	for i := range 2 * mostLevels {
		ids = append(ids, fmt.Sprintf("n%d", i))
		text += fmt.Sprintf("n%d\t%d\tt%d\n", i, i, i/2)
	}
	ids = append(ids, "last")
	nodes := nodesOf(t, ids...)
	for last, cols := range map[string]int{"last\t0\tt0\n": 1 + mostLevels, "last\t0\tanother\n": 1} {
		f, err := ReadFeatures(t.Context(), write(t, "x.tsv", []byte(text+last)), nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.Table.Cols != cols || (len(ignoredOf(f)) == 1) != (cols == 1) {
			t.Errorf("%q: %d columns, passed over are %q", last, f.Table.Cols, ignoredOf(f))
		}
	}
}
