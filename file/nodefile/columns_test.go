package nodefile

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func customers(t *testing.T, numbers bool) *shard.Nodes {
	var ids []string
	for i := range 100 {
		id := "c" + strconv.Itoa(100+i)
		if numbers {
			id = strconv.Itoa(i)
		}
		ids = append(ids, id)
	}
	nodes, err := shard.StringNodes(slices.Values(ids))
	if err != nil {
		t.Fatal(err)
	}
	return nodes
}

// The right columns must be read, or the question must name a setting that reads them.
func TestLabelColumns(t *testing.T) {
	for _, c := range []struct {
		name, text string
		numbers    bool
		fields     string // right columns
		label      string // label of the first node
	}{
		{"l.csv", ",age,customer_id,segment,city\n0,31,c100,gold,Rome\n1,45,c101,tin,Oslo\n2,31,c102,tin,Rome\n", false, "3,4", "gold"},
		{"l.csv", ";Kunde;city;age;Klasse\n0;c100;Rome;31;a\n1;c101;Oslo;45;b\n2;c102;Rome;31;a\n", false, "2,5", "a"},
		{"l.tsv", "Unnamed: 0\tKunde\tKlasse\n1\tc100\ta\n2\tc101\tb\n", false, "2,3", "a"},
		{"l.tsv", "Kunde\tKlasse\nc100\ta\nc101\tb\nc102\ta\n", false, "1,2", "a"},
		{"l.csv", ",label\n0,a\n1,b\n", true, "1,2", "a"},
		{"l.csv", ",age,label\n0,31,a\n1,31,b\n2,40,b\n", true, "1,3", "a"},
		{"l.csv", ",customer,label\n0,3,a\n1,2,b\n2,0,b\n", true, "2,3", "b"},
		{"l.csv", "id,account,verdict\n1,3,a\n2,0,b\n3,2,b\n", true, "2,3", "b"},
		{"l.csv", "id,age,verdict\n1,3,a\n2,0,b\n3,2,b\n", true, "1,3", "a"},
		{"l.tsv", "c100\ta\t0.5\nc101\tb\t1\n", false, "1,2", "a"},
		{"l.csv", "0,c100,a\n1,c101,b\n", false, "2,3", "a"},
		{"l.csv", "a,c100\nb,c101\na,c102\n", false, "2,1", "a"},
		{"l.csv", "c100,a\nc101,b\n", false, "1,2", "a"},
		{"l.csv", "user_id,branch_id,plan\nc100,1,a\nc101,2,b\n", false, "1,3", "a"},
		{"l.csv", "id,customer,label\n1,c100,a\n2,c101,b\n", false, "2,3", "a"},
		{"l.csv", "id,konto_nr,verdict\n1,40,a\n2,7,b\n3,25,a\n4,3,b\n", true, "2,3", "b"},
		{"l.csv", "user,account,fraud\n50,40,1\n51,7,0\n52,25,0\n53,3,1\n", true, "2,3", "1"},
		{"l.csv", "account,row_id,verdict\n40,0,a\n7,1,b\n25,2,a\n3,3,b\n", true, "1,3", "b"},
		{"l.csv", "id,team_id,verdict\n1,40,a\n2,40,b\n3,7,a\n4,7,b\n5,7,a\n6,7,b\n7,7,a\n8,7,a\n9,7,b\n", true, "1,3", "a"},
		{"l.csv", "id,n_payments,verdict\n1,40,a\n2,7,b\n3,4,a\n4,3,b\n", true, "1,3", "a"},
		{"l.csv", "nr,age,account,verdict\n1,40,7,a\n2,7,40,b\n3,4,25,a\n4,3,6,b\n", true, "3,4", "b"},
		{"l.csv", "node,account,verdict\n1,40,a\n2,7,b\n3,4,a\n4,3,b\n", true, "1,3", "a"},
		{"l.csv", "label,node\n#a,c100\n#b,c101\n", false, "2,1", "#a"},
		{"l.csv", "c100,#a\n#1,x\nc101,#b\n", false, "1,2", "#a"},
		{"l.csv", "node|label\nc100|a\nc101|b\n", false, "1,2", "a"},
		{"l.txt", "node|label\nc100|a\nc101|b c\n(2 rows)\n", false, "1,2", "a"},
		{"l.csv", "knoten,klasse,gewicht\nc100,a,1\nc101,b,2\n", false, "1,2", "a"},
		{"l.csv", "account,is_fraud,checked_by\nc100,0,ann\nc101,1,bob\nc102,0,ann\n", false, "1,2", "0"},
		{"l.csv", "Konto;Betrugsfall;Ort\nc100;ja;Rome\nc101;nein;Oslo\nc102;nein;Rome\n", false, "1,2", "ja"},
		{"l.csv", "account,fraud_score,status\nc100,0.5,x\nc101,0.1,y\nc102,0.5,y\n", false, "1,3", "x"},
		{"l.csv", "c100,fraud\nc101,honest\nc102,fraud\n", false, "1,2", "fraud"},
		{"l.csv", "account,seen,status\nc100,2026-03,x\nc101,2026-04,y\nc102,2026-04,y\n", false, "1,3", "x"},
		{"l.csv", "account,seen,status\nc100,Q1 2026,x\nc101,Q2 2026,y\nc102,Q2 2026,y\n", false, "1,3", "x"},
		{"l.csv", "account,seen,status\nc100,2026Q1,x\nc101,2026Q2,y\nc102,2026Q2,y\n", false, "1,3", "x"},
		{"l.csv", "account,month,status\nc100,3,x\nc101,4,y\nc102,4,y\n", false, "1,3", "x"},
		{"l.csv", "Id,Label,class\nc100,ann,red\nc101,bob,red\nc102,cid,blue\n", false, "1,3", "red"},
		{"l.csv", "node,group,type\nc100,x1,red\nc101,x2,red\nc102,x3,blue\n", false, "1,3", "red"},
		{"l.csv", "sep=;\nid;label\nc100;a\nc101;b\n", false, "1,2", "a"},
		{"l.csv", "_nx_name,label\nc100,a\nc101,b\n", false, "1,2", "a"},
		{"l.csv", "person,team\nc100,a\nc101,b\n", false, "1,2", "a"},
		{"l.csv", "id,label,class\nc100,a,x\nc101,a,y\n", false, "1,3", "x"},
		{"l.csv", "id,account,verdict\n9,40,a\n4,7,b\n2,25,a\n1,3,b\n", true, "2,3", "b"},
		{"l.csv", "1,40,a\n2,7,b\n3,4,a\n", true, "2,3", "a"},
	} {
		path := write(t, file{c.name, c.text})[0]
		nodes := customers(t, c.numbers)
		l, err := ReadLabels(t.Context(), path, nodes, &LabelConfig{})
		if err != nil {
			fields := paste(t, err, c.text, c.fields)
			if l, err = ReadLabels(t.Context(), path, nodes, &LabelConfig{Fields: fields}); err != nil {
				t.Errorf("%q with %q: %v", c.text, fields, err)
				continue
			}
		}
		if l.Names[l.Class[0]] != c.label {
			t.Errorf("%q: %s, label %s, want %s", c.text, l.Columns, l.Names[l.Class[0]], c.label)
		}
	}
	for text, want := range map[string]string{
		",age,label\n0,31,a\n1,31,b\n2,40,b\n": "pass option label-fields=1,3 or option label-fields=age,label",
		"node^label\nc100^a\nc101^b\n":         "pass option delimiter=^",
		"a,x\nb,y\na,z\n":                      "the graph has ids like",
	} {
		_, err := ReadLabels(t.Context(), write(t, file{"l.csv", text})[0], customers(t, strings.HasPrefix(text, ",age")), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

var choices = regexp.MustCompile(`\{label-fields=([^}]*)\}`)

func paste(t *testing.T, err error, text, fields string) []string {
	t.Helper()
	var question *ParseError
	if !errors.As(err, &question) {
		t.Fatalf("%q: %v", text, err)
	}
	for _, choice := range choices.FindAllStringSubmatch(question.Fix, -1) {
		list := strings.Split(choice[1], ",")
		var numbers []string
		for _, title := range list {
			number := title
			for _, line := range strings.Split(text, "\n")[:1] {
				for i, cell := range strings.FieldsFunc("\x00"+strings.NewReplacer(",", ",\x00", ";", ",\x00", "\t", ",\x00").Replace(line), func(r rune) bool { return r == ',' }) {
					if strings.Trim(cell, "\x00\"") == title {
						number = strconv.Itoa(i + 1)
					}
				}
			}
			numbers = append(numbers, number)
		}
		if strings.Join(numbers, ",") == fields {
			return list
		}
	}
	t.Errorf("%q: no setting for the columns %s in %v", text, fields, err)
	return strings.Split(fields, ",")
}

func TestListColumns(t *testing.T) {
	for text, want := range map[string]string{
		"c103\nc101\n": "[3 1]", "node\nc103\nc101\n": "[3 1]", ",node,age\n0,c103,5\n1,c101,6\n": "[3 1]",
		"\"c103\"\nc101\n": "[3 1]", ",id\n0,c103\n1,c101\n": "[3 1]",
	} {
		rows, err := ReadIDs(t.Context(), write(t, file{"r.csv", text})[0], customers(t, false), nil)
		if got := sprint(rows); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, rows, err, want)
		}
	}
	for _, text := range []string{"node,split\nc103,train\nc101,test\n", "split,node\ntrain,c103\ntest,c101\n", ",id,age,part\n0,c103,5,train\n1,c101,6,test\n", "c103,train\nc101,test\n"} {
		var columns input.Columns
		splits, err := ReadSplits(t.Context(), write(t, file{"s.csv", text})[0], customers(t, false), &ListConfig{Columns: func(c input.Columns) { columns = c }})
		train, test := partsOf(splits)
		if err != nil || !slices.Equal(train, []int{3}) || !slices.Equal(test, []int{1}) {
			t.Errorf("%q: %v, %v, %v", text, train, test, err)
		}
		if strings.Contains(text, "age") && columns.String() != "id → node, part → part; skipped the index column; ignored: age" {
			t.Errorf("%q: %s", text, columns)
		}
	}
	for text, want := range map[string]string{
		"age,customer_id\n5,c103\n6,c101\n":     `title the column of the node "node"`,
		"id,account\n1,c103\n2,c101\n":          `title the column of the node "node"`,
		"Kunde,Partner\nc103,c105\nc101,c107\n": "remove such lines, or skip unknown ids with option unknown-ids=skip",
	} {
		if _, err := ReadIDs(t.Context(), write(t, file{"r.csv", text})[0], customers(t, false), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	_, err := ReadSplits(t.Context(), write(t, file{"s.csv", "Kunde,Ort,Teil\nc103,x,train\nc101,y,test\n"})[0], customers(t, false), nil)
	if err == nil || !strings.Contains(err.Error(), `title the columns "node" and "part"`) {
		t.Errorf("foreign titles: %v", err)
	}
}

func sprint(rows []int) string {
	var words []string
	for _, row := range rows {
		words = append(words, strconv.Itoa(row))
	}
	return "[" + strings.Join(words, " ") + "]"
}

// Words are missing among numbers and classes among text; blanks are no label.
func TestMissingWords(t *testing.T) {
	for text, want := range map[string]string{
		"node,label\nc100,a\nc101,NA\nc102,-1\nc103,NA\nc104,b\n":  "|0|a NA -1 b",
		"node,label\nc100,1\nc101,NA\nc102,-1\nc103,nan\nc104,2\n": "-1 NA nan|3|1 2",
		"node,label\nc103,NULL\nc100,1\nc101,None\nc104,2\n":       "|0|1 None NULL 2",
		"node,label\nc100,01\nc101,02\nc104,NA\n":                  "|0|01 02 NA",
		"node,label\nc100,a\nc101,\"  \"\nc102,\"\"\nc104,b\n":     "|2|a b",
		"node;label\nc100;a\nc101; \t \nc104;b\n":                  "|1|a b",
		"node,label\nc100,a\nc101,\"\u00a0\"\nc104,b\n":            "|1|a b",
		"node,label\nc100,a\nc101,\u2003\nc104,b\n":                "|1|a b",
	} {
		l, err := ReadLabels(t.Context(), write(t, file{"l.csv", text})[0], customers(t, false), nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := strings.Join(l.MissingWords, " ") + "|" + strconv.Itoa(l.Unlabelled) + "|" + strings.Join(l.Names, " "); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// 3 in one file matches 3.0 in another.
func TestWholeNumbers(t *testing.T) {
	nodes, err := shard.StringNodes(slices.Values([]string{"1", "2.0", "03", "4.0", "x.0"}))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLabels(t.Context(), write(t, file{"l.csv", "node,label\n1.0,a\n2,b\n4,a\n03,b\n"})[0], nodes, nil)
	if err != nil || !slices.Equal(l.Row, []int{0, 2, 1, 3}) {
		t.Errorf("%+v, %v", l, err)
	}
	if rows, err := ReadIDs(t.Context(), write(t, file{"r.txt", "1.0\n4\n"})[0], nodes, nil); err != nil || !slices.Equal(rows, []int{0, 3}) {
		t.Errorf("%v, %v", rows, err)
	}
	for _, id := range []string{"3", "1.5", "01", "x", "4.000"} {
		if _, err := ReadIDs(t.Context(), write(t, file{"r.txt", "1\n" + id + "\n"})[0], nodes, nil); err == nil || !strings.Contains(err.Error(), "is not in the graph") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestLongNames(t *testing.T) {
	for n, ok := range map[int]bool{maxName: true, maxName + 1: false, 900_000: false} {
		_, err := ReadLabels(t.Context(), write(t, file{"l.csv", "node,label\nc100,a\nc101," + strings.Repeat("x", n) + "\n"})[0], customers(t, false), nil)
		if (err == nil) != ok || !ok && !strings.HasSuffix(err.Error(), "l.csv:3:6: a class name of "+strconv.Itoa(n)+" bytes, more than 64 KiB; shorten it") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// A part may be only a header.
func TestParts(t *testing.T) {
	paths := write(t, file{"part-0.csv", "label,node\n"}, file{"part-1.csv", "label,node\na,c100\nb,c101\n"}, file{"part-2.csv", "label,node\na,c102\n"}, file{"_SUCCESS", ""})
	l, err := ReadLabels(t.Context(), filepath.Dir(paths[0]), customers(t, false), nil)
	if err != nil || !slices.Equal(l.Row, []int{0, 1, 2}) || !slices.Equal(l.Class, []int{0, 1, 0}) {
		t.Errorf("%+v, %v", l, err)
	}
	rows, err := ReadIDs(t.Context(), filepath.Dir(paths[0]), customers(t, false), nil)
	if err != nil || !slices.Equal(rows, []int{0, 1, 2}) {
		t.Errorf("ids: %v, %v", rows, err)
	}
	paths = write(t, file{"a.tsv", "c105\nc103\n"}, file{"b.tsv", "c101\n"})
	if rows, err = ReadIDs(t.Context(), filepath.Dir(paths[0]), customers(t, false), nil); err != nil || !slices.Equal(rows, []int{5, 3, 1}) {
		t.Errorf("ids: %v, %v", rows, err)
	}
	type row struct {
		Node  string `parquet:"node"`
		Label string `parquet:"label"`
	}
	paths = write(t, file{"0.parquet", parquetOf(t, []row{{"c100", "a"}})}, file{"1.parquet", parquetOf(t, []row{{"c101", "b"}})})
	if l, err = ReadLabels(t.Context(), filepath.Dir(paths[0]), customers(t, false), nil); err != nil || !slices.Equal(l.Row, []int{0, 1}) {
		t.Errorf("%+v, %v", l, err)
	}
	paths = write(t, file{"0.csv", "node,label\nc100,a\n"}, file{"1.tsv", "node\tlabel\n"})
	if _, err = ReadLabels(t.Context(), filepath.Dir(paths[0]), customers(t, false), nil); err == nil || !strings.Contains(err.Error(), "a directory") {
		t.Errorf("mixed endings: %v", err)
	}
}
