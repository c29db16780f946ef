package tablefile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// nodesOf returns the nodes with the given ids, in this order.
func nodesOf(t *testing.T, ids ...string) *shard.Nodes {
	nodes, err := shard.StringNodes(slices.Values(ids))
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// TestReadFeatures reads tables as pandas, R and spreadsheets write them.
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
		{"x.csv", "node,a,b\nn1,?,1\nn2,u,2\nn3,v,3\n", [][]float32{{0, 0, 1}, {1, 0, 2}, {0, 1, 3}, nil}, nil},
	} {
		path := write(t, c.name, []byte(c.text))
		a, err := ReadFeatures(t.Context(), path, nodes, nil)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for row, want := range c.want {
			_, values := a.Table.Row(row)
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

// ignoredOf returns the titles of the columns that are not attributes.
func ignoredOf(a *Features) (titles []string) {
	for _, c := range a.Columns {
		if c.Use == "" {
			titles = append(titles, c.Title)
		}
	}
	return titles
}

// TestFeatureColumns checks the reported use of each column: row numbers are not ids, and dates
// are not categories.
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
			"id → node, age → number, city → 2 categories; ignored: joined (dates)", []float32{31, 0, 1}},
		{",Kunde,age,city\n0,n1,31,Rome\n1,n2,45,Oslo\n2,n3,31,Rome\n", nodes,
			"Kunde → node, age → number, city → 2 categories; skipped the index column", []float32{31, 0, 1}},
		{",Kunde,age\n0,3,31\n1,0,45\n2,1,31\n", numbers,
			`x.csv:1: cannot determine which column of ",Kunde,age" holds the node; title it "node"`, nil},
		{",age,city\n0,31,Rome\n1,45,Oslo\n2,31,Rome\n", numbers, "(untitled) → node, age → number, city → 2 categories", []float32{31, 0, 1}},
		{"Unnamed: 0,id,age\n0,3,31\n1,0,45\n2,1,31\n", numbers, "id → node, age → number; skipped the index column", []float32{45}},
		{"n1,5,04.03.2021\nn2,6,5.11.2020\n", nodes, "column 1 → node, column 2 → number; ignored: column 3 (dates)", []float32{5}},
		{"id,when,x\nn1,03/04/2021,1\nn2,12/31/2021,2\n", nodes, "id → node, x → number; ignored: when (dates)", []float32{1}},
		{"id,when,x\nn1,4 Mar 2021,1\nn2,never,2\n", nodes, "id → node, when → 2 categories, x → number", []float32{1, 0, 1}},
		{"id,type,x\nn1,a,1\nn2,b,2\n", nodes, "id → node, x → number; ignored: type (titled as labels are)", []float32{1}},
	} {
		path := write(t, "x.csv", []byte(c.text))
		a, err := ReadFeatures(t.Context(), path, c.nodes, nil)
		if err != nil {
			if got := strings.TrimPrefix(err.Error(), strings.TrimSuffix(path, "x.csv")); got != c.want {
				t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
			}
			continue
		}
		if got := a.Columns.String(); got != c.want || !slices.Equal(dense(a, 0), c.first) {
			t.Errorf("%q:\n got %s, %v\nwant %s, %v", c.text, got, dense(a, 0), c.want, c.first)
		}
	}
}

// dense returns a row including its zeros.
func dense(a *Features, row int) []float32 {
	cols := a.Table.Cols
	out := make([]float32, cols)
	columns, values := a.Table.Row(row)
	for i, v := range values {
		j := i
		if columns != nil {
			j = int(columns[i])
		}
		out[j] = v
	}
	return out
}

// TestBadFeatures checks place and text of the errors about tables.
func TestBadFeatures(t *testing.T) {
	nodes := nodesOf(t, "n1", "n2", "n3")
	for _, c := range []struct{ text, want string }{
		{"node,x\nn1,1\nn9,2\n", `x.csv:3: "n9" is not in the graph (1 of 2 ids is not); remove such rows, or pass option unknown-ids=skip`},
		{"node,x\nn7,1\nn9,2\n", `x.csv: none of 2 ids is in the graph (first "n7"); the graph has ids like "n1"; pass the file and the column with such ids`},
		{"node,x\nn1,1\nn1,2\n", `x.csv:3: "n1" has two rows; keep one of them`},
		{"node,x\nn1,1\nn2\n", `x.csv:3: 1 field, the first line has 2; fix the line`},
		{"node,x\nn1,1\nn2,inf\n", `x.csv:3:4: "inf" is infinite; fix the line, or leave the field empty`},
		{"node,x\nn1,1e39\n", `x.csv:2:4: "1e39" is beyond float32; fix the line, or leave the field empty`},
		{"node,x\n", `x.csv: no column of attributes; add one to the column of the node`},
		{"node\nn1\n", `x.csv: no column of attributes; add one to the column of the node`},
	} {
		path := write(t, "x.csv", []byte(c.text))
		_, err := ReadFeatures(t.Context(), path, nodes, nil)
		if !errors.As(err, new(*nodefile.ParseError)) {
			t.Errorf("%q: %v is not about data", c.text, err)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), strings.TrimSuffix(path, "x.csv")); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	path := write(t, "x.csv", []byte("node;x;w;z\nn1;1;2,5;a\nn2;1,5;-3,25;1,5\n"))
	var warnings []string
	if _, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{Warn: func(w error) { warnings = append(warnings, strings.TrimPrefix(w.Error(), path)) }}); err != nil {
		t.Fatal(err)
	}
	if want := []string{
		`: column x is read as categories, because "1,5" is not a number; write numbers with a decimal point, or pass option decimal=,`,
		`: column w is read as categories, because "2,5" is not a number; write numbers with a decimal point, or pass option decimal=,`,
	}; !slices.Equal(warnings, want) {
		t.Errorf("decimal commas: %q", warnings)
	}
	path = write(t, "x.csv", []byte("node,x\nn1,1\nn9,2\n"))
	a, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{SkipUnknown: true})
	if err != nil || a.Unknown != 1 || a.Table.Present != 1 {
		t.Errorf("skipped: %+v, %v", a, err)
	}
	a, err = ReadFeatures(t.Context(), path, nodes, &FeatureConfig{SkipUnknown: true, Memory: 100})
	if over := (*budget.Error)(nil); !errors.As(err, &over) || a.Table.Present != nodes.Len() || a.Table.Cols != 1 || over.Need < a.Table.Bytes {
		t.Errorf("in 100 bytes: %v, %+v", err, a)
	}
}

// TestMostLevels checks that a column of 1,000 texts becomes categories, and that a column of
// 1,001 is ignored.
func TestMostLevels(t *testing.T) {
	ids, text := []string{}, "node\tnumber\ttext\n"
	for i := range mostLevels {
		ids = append(ids, fmt.Sprintf("n%d", i))
		text += fmt.Sprintf("n%d\t%d\tt%d\n", i, i, i)
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
