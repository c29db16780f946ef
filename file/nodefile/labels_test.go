package nodefile

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heatwalk/heatwalk/sparse/shard"
)

func names(t testing.TB) *shard.Nodes {
	t.Helper()
	ids := make([]string, 10)
	for i := range ids {
		ids[i] = fmt.Sprintf("n%d", i)
	}
	n, err := shard.StringNodes(slices.Values(ids))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestReadLabels(t *testing.T) {
	want := Labels{Row: []int{1, 2, 4}, Class: []int{0, 1, 1}, Names: []string{"A b", "B"}}
	const text = "n4\tB\nn1\tA b\nn2\tB\n"
	for _, test := range []struct {
		name string
		c    LabelConfig
		file file
		more Labels
	}{
		{"tabs", LabelConfig{}, file{"l.tsv", text}, Labels{}},
		{"gzip", LabelConfig{}, file{"l.tsv.gz", packed(text)}, Labels{}},
		{"blanks", LabelConfig{}, file{"l.txt", strings.ReplaceAll(text, "\t", "  ")}, Labels{}},
		{"commas", LabelConfig{}, file{"l.csv", strings.ReplaceAll(text, "\t", ",")}, Labels{}},
		{"quotes", LabelConfig{}, file{"l.csv", "\"n4\",\"B\"\nn1,\"A b\"\nn2 , B\n"}, Labels{}},
		{"CR LF, comments", LabelConfig{}, file{"l.tsv", "# labels\r\n\r\n" + strings.ReplaceAll(text, "\n", "\r\n")}, Labels{}},
		{"more columns", LabelConfig{}, file{"l.tsv", "node\tlabel\treached\nn4\tB\ttrue\nn1\tA b\ttrue\nn2\tB\tfalse\n"}, Labels{}},
		{"header", LabelConfig{}, file{"l.tsv", "node\tlabel\n" + text}, Labels{}},
		{"another header", LabelConfig{}, file{"l.csv", "who,class\n" + strings.ReplaceAll(text, "\t", ",")}, Labels{}},
		{"row numbers of pandas", LabelConfig{}, file{"l.csv", ",node,label\n0,n4,B\n1,n1,A b\n2,n2,B\n"}, Labels{}},
		{"nodes as index of pandas", LabelConfig{}, file{"l.csv", ",label\nn4,B\nn1,A b\nn2,B\n"}, Labels{}},
		{"label first", LabelConfig{}, file{"l.csv", "class,id\nB,n4\nA b,n1\nB,n2\n"}, Labels{}},
		{"label first, blanks", LabelConfig{}, file{"l.txt", "class id\nB n4\n\"A b\" n1\nB n2\n"}, Labels{}},
		{"names of rows of R", LabelConfig{}, file{"l.txt", "\"id\" \"class\"\n\"1\" \"n4\" \"B\"\n\"2\" \"n1\" \"A b\"\n\"3\" \"n2\" \"B\"\n"}, Labels{}},
		{"columns by number", LabelConfig{Fields: []string{"3", "2"}}, file{"l.csv", "x,B,n4\ny,A b,n1\nz,B,n2\n"}, Labels{}},
		{"columns by title", LabelConfig{Fields: []string{"who", "what"}}, file{"l.csv", "what,age,who\nB,1,n4\nA b,2,n1\nB,3,n2\n"}, Labels{}},
		{"missing values", LabelConfig{}, file{"l.tsv", text + "n0\t\nn3\t  \nn5\nn6\t\"\"\n"}, Labels{Unlabelled: 4}},
		{"missing in other letters", LabelConfig{Missing: []string{"none", "#N/A", "-", "-1"}}, file{"l.tsv", text + "n0\tNone\nn3\t#n/a\nn6\t-\nn8\t-1.0\n"}, Labels{Unlabelled: 4, MinusOne: true}},
		{"other missing values", LabelConfig{Missing: []string{"?", "A"}}, file{"l.tsv", text + "n0\t?\nn3\tA\n"}, Labels{Unlabelled: 2}},
		{"some without", LabelConfig{Missing: []string{"-1", "na"}}, file{"l.tsv", "n0\t\nn3\nn5\t-1\nn6\tNA\n" + text}, Labels{Unlabelled: 4, MinusOne: true}},
		{"a line of totals without a label", LabelConfig{}, file{"l.tsv", text + "3 lines\t\n"}, Labels{Unlabelled: 1}},
		{"said again", LabelConfig{}, file{"l.tsv", text + "n4\tB\nn2\tB\n"}, Labels{Repeated: 2}},
		{"unknown skipped", LabelConfig{SkipUnknown: true}, file{"l.tsv", text + "x\tA b\ny\tC\n"}, Labels{Unknown: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := write(t, test.file)[0]
			got, err := ReadLabels(t.Context(), path, names(t), &test.c)
			if err != nil {
				t.Fatal(err)
			}
			test.more.File, test.more.Row, test.more.Class, test.more.Names = path, want.Row, want.Class, want.Names
			got.Columns, got.MissingWords = nil, nil // TestLabelColumns and TestMissingWords check these
			got.Node, got.NodeTitle = 0, ""          // the groups of --groups are found by them
			if !reflect.DeepEqual(*got, test.more) {
				t.Errorf("%+v, want %+v", *got, test.more)
			}
		})
	}
}

// If the list of missing words is empty, words are classes. Ids with blanks are found.
func TestForcedClasses(t *testing.T) {
	nodes, err := shard.StringNodes(slices.Values([]string{"a ", "bb", "c"}))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"l.tsv": "a \tNone\n bb\tNA\nc\t\n", "l.csv": "\"a \",None\n bb ,NA\nc,\n"} {
		got, err := ReadLabels(t.Context(), write(t, file{name, text})[0], nodes, &LabelConfig{Missing: []string{""}})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"None", "NA"}; !slices.Equal(got.Names, want) || !slices.Equal(got.Row, []int{0, 1}) || got.Unlabelled != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// c.Missing does not list -1.
func TestMinusOne(t *testing.T) {
	path := write(t, file{"l.tsv", "n1\t-1\nn2\t+1\nn3\tNA\n"})[0]
	got, err := ReadLabels(t.Context(), path, names(t), &LabelConfig{Missing: []string{"NA"}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"-1", "+1"}; !slices.Equal(got.Names, want) || len(got.Row) != 2 || got.Unlabelled != 1 {
		t.Errorf("%+v", got)
	}
}

// A second table has no setting of its own for its columns.
func TestTruthByClasses(t *testing.T) {
	paths := write(t, file{"l.csv", "node,label\nn1,good\nn2,bad\n"}, file{"t.csv", "node,by,finding\nn3,ann,bad\nn4,bob,\nn1,bob,good\n"})
	nodes := names(t)
	like, err := ReadLabels(t.Context(), paths[0], nodes, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadLabels(t.Context(), paths[1], nodes, &LabelConfig{Like: like})
	if err == nil || !strings.Contains(err.Error(), `title the columns "node" and "label"`) {
		t.Error(err)
	}
}

// Classes that are one whole number have the first name, with a warning. Versions and codes such as 3.10 are texts.
func TestNumericClasses(t *testing.T) {
	for text, want := range map[string][]string{
		"n1\t1\nn2\t1.0\nn3\t2\nn4\t2.00\n":                       {"1", "2", "2.00"},
		"n1\t1.0\nn2\t1\nn3\t+2\nn4\t2\n":                         {"1.0", "+2", "2"},
		"n1\t3.1\nn2\t3.10\nn3\t250.0\nn4\t250.00\n":              {"3.1", "3.10", "250.0", "250.00"},
		"n1\t01\nn2\t1\nn3\t001\nn4\t1.\n":                        {"01", "1", "001"},
		"n1\t0.5\nn2\t.5\nn3\t5e-1\nn4\t-0\nn5\t0\n":              {"0.5", ".5", "5e-1", "-0"},
		"n1\t9007199254740993\nn2\t9007199254740992\nn3\t1.0.0\n": {"9007199254740993", "9007199254740992", "1.0.0"},
	} {
		var warnings []string
		c := &LabelConfig{Warn: func(warning error) { warnings = append(warnings, warning.Error()) }}
		l, err := ReadLabels(t.Context(), write(t, file{"l.tsv", text})[0], names(t), c)
		isTold := strings.Contains(strings.Join(warnings, "\n"), "are one class, because they are one whole number")
		areJoined := err == nil && len(l.Names) < strings.Count(text, "\n")
		if isTold != areJoined {
			t.Errorf("%q: warnings %q", text, warnings)
		}
		if err != nil || !slices.Equal(l.Names, want) {
			t.Errorf("%q: %v, %v, want %q", text, l, err, want)
		}
	}
	l := &Labels{Names: []string{"1.0", "b", "02"}}
	if l.Respell([]string{"1", "B", "2"}); !slices.Equal(l.Names, []string{"1", "b", "02"}) {
		t.Errorf("respelled: %q", l.Names)
	}
}

func TestLabelWarnings(t *testing.T) {
	const alike = " differ only in the case of letters; if they are one class, write them alike"
	for text, want := range map[string][]string{
		"n1\t1\nn2\t2\nn3\tNA\nn4\t-1\n":                       nil,
		"n1\tA\nn2\tB\nn3\tNA\nn4\t-1\nn5\tNA\n":               {`read as a class: "NA", "-1", with 3 nodes; if there is no label there, pass option missing=NA,-1`},
		"n1\t1\nn2\tB\nn3\tunknown\nn4\t?\n":                   {`read as a class: "unknown", "?", with 2 nodes; if there is no label there, pass option missing=unknown,?`},
		"n1\tTrue\nn2\tFalse\nn3\tTRUE\n":                      {`the classes "True" and "TRUE"` + alike},
		"n1\tYes\nn2\tyes\nn3\tno\nn4\tNO\nn5\tÉté\nn6\tété\n": {`the classes "Yes" and "yes"` + alike, `the classes "no" and "NO"` + alike, `the classes "Été" and "été"` + alike},
	} {
		path := write(t, file{"l.tsv", text})[0]
		var got []string
		_, err := ReadLabels(t.Context(), path, names(t), &LabelConfig{Warn: func(w error) { got = append(got, strings.TrimPrefix(w.Error(), path+": ")) }})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v\n got %q\nwant %q", text, err, got, want)
		}
	}
}

func TestGraphsAsLabels(t *testing.T) {
	for text, want := range map[string]string{
		"%%MatrixMarket matrix coordinate pattern general\n8 2 1\n1 1\n":                                           "a Matrix Market file",
		"%%MatrixMarket matrix array real general\n3 1\n1\n2\n1\n":                                                 "a Matrix Market file",
		"<?xml version=\"1.0\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n<graph/></graphml>\n": "a GraphML file",
		"<?xml version=\"1.0\"?>\n<gexf>\n</gexf>\n":                                                               "a GEXF file",
		"{\n \"n1\": \"A\"\n}\n":            "a JSON file",
		"[\"n1\", \"n2\"]\n":                "a JSON file",
		"*Vertices 2\n1 \"n1\"\n2 \"n2\"\n": "a Pajek file",
	} {
		path := write(t, file{"l.txt", text})[0]
		want += " is no table of nodes; give a table with the node and its label on each line"
		if _, err := ReadLabels(t.Context(), path, names(t), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{
		"PK\x03\x04" + strings.Repeat("\x00", 22) + "\x13\x00\x00\x00[Content_Types].xml": "a spreadsheet, which is not read; save its sheet as CSV",
		"<!doctype html>\n<title>Sign in</title>\n":                                       "an HTML page, which is not read",
	} {
		path := write(t, file{"l.csv", text})[0]
		if _, err := ReadLabels(t.Context(), path, names(t), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestBadLabels(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a b\tn\nc d\tc\ne f\tc\ng h\tn\n", `l.tsv: none of 4 ids is in the graph (first "a b"); the graph has ids like "n0"; pass the file with such ids, or their column by option label-fields`},
		{"n1\tA\nn2\tB\nn77\tA\nx\tA\n", `l.tsv:3: "n77" is not in the graph (2 of 4 ids are not); list nodes without edges with option nodes, or skip unknown ids with option unknown-ids=skip`},
		{"n77\tA\nn1\tA\nn2\tB\n", `l.tsv:1: "n77" is not in the graph (1 of 3 ids is not); list nodes without edges with option nodes, or skip unknown ids with option unknown-ids=skip`},
		{"n77\tZ\nn1\tA\nn2\tB\n", `l.tsv:1: "n77" is not in the graph (1 of 3 ids is not); list nodes without edges with option nodes, or skip unknown ids with option unknown-ids=skip`},
		{"node\tlabel\n0\tA\n1\tB\n", `l.tsv: none of 2 ids is in the graph (first "0"); the graph has ids like "n0"; pass the file with such ids, or their column by option label-fields`},
		{"node\tlabel\n", `l.tsv: no labels; write a line node<TAB>label for each node whose label is known`},
		{"0\tA\n1\tB\n2\tA\n", `l.tsv: none of 3 ids is in the graph (first "0"); the graph has ids like "n0"; pass the file with such ids, or their column by option label-fields`},
		{"n4\tA\n# c\nn4\tB\n", `l.tsv:3: "n4" is B here, A on line 1; keep one of the lines`},
		{"", "l.tsv: no labels; write a line node<TAB>label for each node whose label is known"},
		{"# none\n", "l.tsv: no labels; write a line node<TAB>label for each node whose label is known"},
		{"n1\t\nn2\tNA\n", "l.tsv: no labels: 2 lines without one (NA); write a line node<TAB>label for each node whose label is known"},
		{"n1\tA\n\tB\n", "l.tsv:2:1: empty id; fix the line"},
		{"red\tn1\nblue\tn2\n", "l.tsv:1: column 2 has ids of nodes: 1 (red, blue), 2 (n1, n2); pass option label-fields=2,1"},
		{"node label\nn1 A\nn2 x\tB\n", "l.tsv:3:4: a field holds a TAB; fix the line"},
		{"id\tshape\tcolour\nn1\t3\tA\nn2\t4\tB\n", `l.tsv:1: cannot determine node and label: 1 id (n1, n2), 2 shape (3, 4), 3 colour (A, B); pass option label-fields=id,shape or option label-fields=id,colour`},
	} {
		path := write(t, file{"l.tsv", test.text})[0]
		_, err := ReadLabels(t.Context(), path, names(t), nil)
		if err == nil || strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "") != test.want || !isData(err) {
			t.Errorf("%q: error %v, want %s", test.text, err, test.want)
		}
	}
	_, err := ReadLabels(t.Context(), write(t, file{"l.tsv", "0\tA\n"})[0], names(t), &LabelConfig{SkipUnknown: true})
	if err == nil || !strings.Contains(err.Error(), `"0" is not in the graph`) {
		t.Errorf("error %v", err)
	}
	if l, err := ReadLabels(t.Context(), write(t, file{"l.tsv", "n1\t1\nn2\t-1\n"})[0], names(t), nil); err != nil || !l.MinusOne {
		t.Errorf("the label -1: %+v, %v", l, err)
	}
}

func TestReadIDs(t *testing.T) {
	for _, test := range []struct {
		text string
		want []int
		err  string
	}{
		{"n3\nn1\n n0 \n", []int{3, 1, 0}, ""},
		{"node\nn3\n# c\nn1\tB\n", []int{3, 1}, ""},
		{"", nil, "ids: no ids; give one node a line"},
		{"n3\nn1\nn3\n", nil, `ids:3: "n3" is on line 1 already; keep one of the lines`},
		{"n3\nx\n", nil, `ids:2: "x" is not in the graph (1 of 2 ids is not); remove such lines, or skip unknown ids with option unknown-ids=skip`},
		{"1\n2\n", nil, `ids: none of 2 ids is in the graph (first "1"); the graph has ids like "n0"; pass the file with such ids`},
	} {
		path := write(t, file{"ids", test.text})[0]
		got, err := ReadIDs(t.Context(), path, names(t), nil)
		text := ""
		if err != nil {
			text = strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
		}
		if !slices.Equal(got, test.want) || text != test.err {
			t.Errorf("%q: %v, %s, want %v, %s", test.text, got, text, test.want, test.err)
		}
	}
}

func partsOf(splits []Parts) (train, test []int) {
	for _, s := range splits {
		train, test = append(train, s.Train...), append(test, s.Test...)
	}
	return train, test
}

func TestReadSplits(t *testing.T) {
	for _, test := range []struct {
		text        string
		train, test []int
		err         string
	}{
		{"n3\ttrain\nn1\ttest\nn0\tTrain\nn4\tval\nn2\tvalidation\nn5\tnone\nn6\n", []int{3, 0}, []int{1}, ""},
		{"node part\nn3 train\nn1 test\n", []int{3}, []int{1}, ""},
		{"node\tsplit\nn3\ttrain test\nn1\ttest train\nn2\tnone test\nn4\t\n", []int{3, 1}, []int{1, 3, 2}, ""},
		{"n3\ttrain test\nn1\ttest\n", nil, nil, "s:2:4: 1 parts, and the first line has 2; fix the line"},
		{"n3\ttrain\nn1\ttrial\n", nil, nil, `s:2:4: "trial" is neither train nor test; fix the line`},
		{"n3\ttrain\nn3\ttest\n", nil, nil, `s:2: "n3" is on line 1 already; keep one of the lines`},
		{"n3\ttrain\n", nil, nil, "s: no node is for testing; write lines node<TAB>test"},
		{"n3\ttest\n", nil, nil, "s: no node is for training; write lines node<TAB>train"},
	} {
		path := write(t, file{"s", test.text})[0]
		splits, err := ReadSplits(t.Context(), path, names(t), nil)
		train, part := partsOf(splits)
		text := ""
		if err != nil {
			text = strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "")
		}
		if !slices.Equal(train, test.train) || !slices.Equal(part, test.test) || text != test.err {
			t.Errorf("%q: %v, %v, %s, want %v, %v, %s", test.text, train, part, text, test.train, test.test, test.err)
		}
	}
}

func TestReadPrior(t *testing.T) {
	classes := []string{"A", "B", "C"}
	path := write(t, file{"p.tsv", "node\tlabel\treached\tC\tA\tB\nn1\tA\ttrue\t0.25\t0.5\t0.25\nn3\tC\tfalse\t0.333\t0.333\t0.333\n"})[0]
	p, err := ReadPrior(t.Context(), path, names(t), classes, &ListConfig{Skip: []string{"label", "reached"}})
	if err != nil {
		t.Fatal(err)
	}
	third := 1.0 / 3
	for row, want := range map[int][]float64{1: {0.5, 0.25, 0.25}, 3: {third, third, third}, 0: {third, third, third}} {
		for c, w := range want {
			// One division of a sum of three terms, each rounded once.
			if got := p.At(row, c); got < w*(1-1e-15) || got > w*(1+1e-15) {
				t.Errorf("row %d: %v, want %v", row, p.Row(row), want)
			}
		}
	}
	for _, test := range []struct{ text, want string }{
		{"node\tA\tB\nn1\t0.5\t0.5\n", `p.tsv:1: class "C" has no column; the header names the classes`},
		{"node\tA\tB\tC\tD\nn1\t1\t0\t0\t0\n", `p.tsv:1: "D" is none of the classes A, B, C; the header names the classes`},
		{"node\tA\tB\tC\tA\nn1\t1\t0\t0\t0\n", `p.tsv:1: class "A" has two columns`},
		{"node\tA\tB\tC\n", "p.tsv: no probabilities; give one node a line"},
		{"node\tA\tB\tC\nn1\t0.5\t0.5\n", "p.tsv:2: 3 fields, but line 1 has 4; give each line a value for every column, empty where it is missing"},
		{"node\tA\tB\tC\nn1\t0.5\t0.6\t0\n", `p.tsv:2: the probabilities of "n1" add up to 1.1, want 1; fix the line`},
		{"node\tA\tB\tC\nn1\t1.5\t-0.5\t0\n", `p.tsv:2:8: probability "-0.5" is negative; fix the line`},
		{"node\tA\tB\tC\nn1\tx\t0.5\t0\n", `p.tsv:2:4: probability "x" is not a number; fix the line`},
		{"node\tA\tB\tC\nx\t1\t0\t0\nn1\t1\t0\t0\n", `p.tsv:2: "x" is not in the graph (1 of 2 ids is not); remove such lines, or skip unknown ids with option unknown-ids=skip`},
	} {
		path := write(t, file{"p.tsv", test.text})[0]
		_, err := ReadPrior(t.Context(), path, names(t), classes, nil)
		if err == nil || strings.ReplaceAll(err.Error(), filepath.Dir(path)+string(filepath.Separator), "") != test.want || !isData(err) {
			t.Errorf("%q: error %v, want %s", test.text, err, test.want)
		}
	}
}

func FuzzLabels(f *testing.F) {
	for _, text := range []string{"n1\tA\nn2\tB\n", "node,label\nn1,\"A\"\n", "n1 A b\n", "\"n1\",\"", "n1\tA\nn1\tB", packed("n1\tA\n"), "# n1\tA\r\r\nn1"} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(1))
		f.Add(text, uint8(2))
		f.Add(text, uint8(3))
	}
	nodes := names(f)
	f.Fuzz(func(t *testing.T, text string, what uint8) {
		name := "l.tsv"
		if what&4 != 0 {
			name = "l.csv"
		}
		path := write(t, file{name, text})[0]
		var rows []int
		var err error
		switch what & 3 {
		case 0:
			var l *Labels
			if l, err = ReadLabels(context.Background(), path, nodes, nil); err == nil {
				rows = l.Row
				if len(l.Class) != len(rows) || len(rows) == 0 {
					t.Errorf("%+v", l)
				}
				for _, c := range l.Class {
					if l.Names[c] == "" {
						t.Errorf("%+v", l)
					}
				}
			}
		case 1:
			rows, err = ReadIDs(context.Background(), path, nodes, nil)
		case 2:
			var splits []Parts
			splits, err = ReadSplits(context.Background(), path, nodes, nil)
			for _, s := range splits {
				rows = append(s.Train, s.Test...)
			}
		case 3:
			p, perr := ReadPrior(context.Background(), path, nodes, []string{"A", "B"}, nil)
			if err = perr; err == nil {
				for i := range 10 {
					if s := p.At(i, 0) + p.At(i, 1); s < 1-1e-15 || s > 1+1e-15 {
						t.Errorf("row %d adds up to %v", i, s)
					}
				}
			}
		}
		if err != nil && !isData(err) {
			t.Errorf("%T: %v", err, err)
		}
		seen := map[int]bool{}
		for _, r := range rows {
			if r < 0 || r > 9 || seen[r] {
				t.Errorf("rows %v", rows)
			}
			seen[r] = true
		}
	})
}

func TestReadSeveralLabels(t *testing.T) {
	path := write(t, file{"l.tsv", "n4\tB\nn1\tA\nn4\tC\nn4\tB\nn4\tA\nn1\tC\nn1\tA\n"})
	l, err := ReadLabels(t.Context(), path[0], names(t), &LabelConfig{Several: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(l.Row, []int{1, 1, 4, 4, 4}) || !slices.Equal(l.Class, []int{0, 1, 0, 1, 2}) || l.Repeated != 2 {
		t.Errorf("nodes %v have %v, %d repeated", l.Row, l.Class, l.Repeated)
	}
}

// Order of lines and names of classes must not affect the order of labels.
func TestLabelOrder(t *testing.T) {
	const first, second = "n4\tB\nn1\tA\nn4\tC\nn3\tA\nn1\tC\n", "n1\tc\nn3\tz\nn1\tz\nn4\tc\nn4\ta\n" // A is z, B is a, C is c
	for _, text := range []string{first, second} {
		l, err := ReadLabels(t.Context(), write(t, file{"l.tsv", text})[0], names(t), &LabelConfig{Several: true})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Row, []int{1, 1, 3, 4, 4}) || !slices.Equal(l.Class, []int{0, 1, 0, 1, 2}) || strings.ToLower(l.Names[1]) != "c" {
			t.Errorf("nodes %v have %v of %v", l.Row, l.Class, l.Names)
		}
	}
}

func TestOrderClasses(t *testing.T) {
	var order []string
	names := []string{"17", "3", "b", "10", "a", "-8"}
	for _, class := range OrderClasses(names) {
		order = append(order, names[class])
	}
	if want := []string{"-8", "3", "10", "17", "a", "b"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// A table with a column of 0 and 1 for each label has the labels of lines of nodes and labels.
func TestWideLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	nodes := names(t)
	type wide struct {
		ID    string `parquet:"id"`
		Red   int64  `parquet:"red"`
		Green int64  `parquet:"green"`
		Blue  *int64 `parquet:"blue,optional"`
	}
	rapid.Check(t, func(rt *rapid.T) {
		zero, one := int64(0), int64(1)
		lines := "node,label\n"
		cells := "id,red,green,blue\n"
		var rows []wide
		for node := range nodes.Len() {
			bits := rapid.IntRange(0, 7).Draw(rt, "labels")
			if node == 0 {
				bits = 7 // every label occurs
			}
			for i, label := range []string{"red", "green", "blue"} {
				if bits>>i&1 == 1 {
					lines += nodes.ID(node) + "," + label + "\n"
				}
			}
			cells += fmt.Sprintf("%s,%d,%d,%d\n", nodes.ID(node), bits&1, bits>>1&1, bits>>2)
			rows = append(rows, wide{nodes.ID(node), int64(bits & 1), int64(bits >> 1 & 1), []*int64{&zero, &one}[bits>>2]})
		}
		rows = append(rows, wide{nodes.ID(0), 0, 1, nil}) // a label again
		cells += nodes.ID(0) + ",0,1,\n"
		want, err := ReadLabels(t.Context(), write(t, file{"l.csv", lines})[0], nodes, &LabelConfig{Several: true})
		if err != nil {
			rt.Fatal(err)
		}
		for _, f := range []file{{"w.csv", cells}, {"w.parquet", parquetOf(t, rows)}} {
			got, err := ReadLabels(t.Context(), write(t, f)[0], nodes, &LabelConfig{Several: true})
			if err != nil || !slices.Equal(got.Names, want.Names) || !slices.Equal(got.Row, want.Row) || !slices.Equal(got.Class, want.Class) {
				rt.Errorf("%s: %v, %+v, want %+v", f.name, err, got, want)
			}
		}
	})
	for _, c := range []struct{ text, want string }{
		{"id,red,green\nn1,1,0\nn2,0,2\n", "label-fields"}, // not all are 0 and 1
		{"id,red,green\n" + strings.Repeat("n1,1,0\n", 1200) + "n2,0,2\n", `l.csv:1202:6: "2" is neither 0 nor 1; fix the line`},
	} {
		_, err := ReadLabels(t.Context(), write(t, file{"l.csv", c.text})[0], nodes, &LabelConfig{Several: true})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	_, err := ReadLabels(t.Context(), write(t, file{"l.csv", "id,red,green\nn1,1,0\nn2,0,1\n"})[0], nodes, nil)
	if err == nil || !strings.Contains(err.Error(), "columns of 0 and 1, one for each label; pass option multi-label to read all of them") {
		t.Error(err)
	}
}
