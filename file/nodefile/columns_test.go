package nodefile

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// customers is a graph of 100 customers with the ids c100 to c199, or 0 to 99.
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

// TestLabelColumns checks that titles choose the columns of node and label, that the column of
// row numbers is skipped, and that ambiguous titles are an error with the setting to pass.
func TestLabelColumns(t *testing.T) {
	for _, c := range []struct {
		name, text, fields string
		numbers            bool
		want               string // columns, or the error
		label              string // of the first node
	}{
		{"l.csv", ",age,customer_id,segment,city\n0,31,c100,gold,Rome\n1,45,c101,tin,Oslo\n2,31,c102,tin,Rome\n", "", false,
			"customer_id → node, segment → label; skipped the index column; ignored: age, city", "gold"},
		{"l.csv", ";Kunde;city;age;Klasse\n0;c100;Rome;31;a\n1;c101;Oslo;45;b\n2;c102;Rome;31;a\n", "", false,
			"Kunde → node, Klasse → label; skipped the index column; ignored: city, age", "a"},
		{"l.csv", ";Kunde;city;age;Klasse\n0;c100;Rome;31;a\n1;c101;Oslo;45;b\n2;c102;Rome;31;a\n", "Kunde,Klasse", false,
			"Kunde → node, Klasse → label; skipped the index column; ignored: city, age", "a"},
		{"l.csv", "Kunde;Ort;Art\nc100;Rome;a\nc101;Oslo;b\nc102;Rome;b\n", "", false,
			`l.csv:1: cannot determine which columns of "Kunde;Ort;Art" hold the node and the label; pass option label-fields=Kunde,Ort or option label-fields=Kunde,Art`, ""},
		{"l.tsv", "Unnamed: 0\tKunde\tKlasse\n1\tc100\ta\n2\tc101\tb\n", "", false, "Kunde → node, Klasse → label; skipped the index column", "a"},
		{"l.tsv", "Kunde\tKlasse\nc100\ta\nc101\tb\nc102\ta\n", "", false, "Kunde → node, Klasse → label", "a"},
		{"l.tsv", "Klasse\tKunde\na\tc100\nb\tc101\na\tc102\n", "Kunde,Klasse", false, "Kunde → node, Klasse → label", "a"},
		// pandas: the index holds the ids
		{"l.csv", ",label\n0,a\n1,b\n", "", true, "(untitled) → node, label → label", "a"},
		{"l.csv", ",age,label\n0,31,a\n1,31,b\n2,40,b\n", "", true, "(untitled) → node, label → label; ignored: age", "a"},
		{"l.csv", ",customer,label\n0,3,a\n1,2,b\n2,0,b\n", "", true, "customer → node, label → label; skipped the index column", "b"},
		// the key of a table in a database, whose numbers are nodes of the graph too
		{"l.csv", "id,account,verdict\n1,3,a\n2,0,b\n3,2,b\n", "", true, "account → node, verdict → label; skipped the index column", "b"},
		{"l.csv", "id,age,verdict\n1,3,a\n2,0,b\n3,2,b\n", "", true, "id → node, verdict → label; ignored: age", "a"},
		// R: the header has one title less than the rows have fields
		{"l.txt", "\"id\" \"class\"\n\"1\" \"c100\" \"a b\"\n\"2\" \"c101\" \"b\"\n", "", false, "id → node, class → label; skipped the index column", "a b"},
		// no header
		{"l.tsv", "c100\ta\t0.5\nc101\tb\t1\n", "", false, "column 1 → node, column 2 → label; ignored: column 3", "a"},
		{"l.csv", "0,c100,a\n1,c101,b\n", "", false, "column 2 → node, column 3 → label; skipped the index column", "a"},
		{"l.csv", "a,c100\nb,c101\na,c102\n", "", false, "column 2 → node, column 1 → label", "a"},
		{"l.csv", "a,x\nb,y\na,z\n", "", false, `l.csv: none of 3 ids is in the graph (first "a"); the graph has ids like "c100"; pass the file with such ids, or their column by option label-fields`, ""},
		{"l.csv", "c100,a\nc101,b\n", "", false, "column 1 → node, column 2 → label", "a"},
		{"l.csv", "user_id,branch_id,plan\nc100,1,a\nc101,2,b\n", "", false,
			"user_id → node, plan → label; ignored: branch_id", "a"},
		{"l.csv", "node,red,blue\nc100,1,0\nc101,0,1\n", "", false,
			`l.csv:1: cannot determine which columns of "node,red,blue" hold the node and the label; pass option label-fields=node,red or option label-fields=node,blue`, ""},
		{"l.csv", "Nr. eins,Nr. zwei,x\nc100,a,1\nc101,b,2\n", "", false,
			`l.csv:1: cannot determine which columns of "Nr. eins,Nr. zwei,x" hold the node and the label; pass option label-fields=1,2 or option label-fields=1,3`, ""},
		{"l.csv", ",customer,grp,n\n1,c100,a,0\n2,c101,b,1\n", "", false,
			`l.csv:1: cannot determine which columns of ",customer,grp,n" hold the node and the label; pass option label-fields=customer,grp or option label-fields=customer,n`, ""},
		{"l.csv", "id,customer,label\n1,c100,a\n2,c101,b\n", "", false,
			"customer → node, label → label; skipped the index column", "a"},
		// serial numbers that are ids too
		{"l.csv", "id,konto_nr,verdict\n1,40,a\n2,7,b\n3,25,a\n4,3,b\n", "", true,
			"konto_nr → node, verdict → label; skipped the index column", "b"},
		{"l.csv", "user,account,fraud\n50,40,1\n51,7,0\n52,25,0\n53,3,1\n", "", true,
			"account → node, fraud → label; skipped the index column", "1"},
		{"l.csv", "account,row_id,verdict\n40,0,a\n7,1,b\n25,2,a\n3,3,b\n", "", true,
			"account → node, verdict → label; skipped the index column", "b"},
		{"l.csv", "id,account,verdict\n9,40,a\n4,7,b\n2,25,a\n1,3,b\n", "", true,
			`l.csv:1: cannot determine which columns of "id,account,verdict" hold the node and the label; pass option label-fields=id,verdict or option label-fields=account,verdict`, ""},
		{"l.csv", "id,account,verdict\n1,40,a\n2,7,b\n3,40,a\n4,3,b\n", "", true,
			`l.csv:1: cannot determine which columns of "id,account,verdict" hold the node and the label; pass option label-fields=id,verdict or option label-fields=account,verdict`, ""},
		{"l.csv", "id,zip,verdict\n1,40,a\n2,7,b\n3,4,a\n4,3,b\n", "", true,
			`l.csv:1: cannot determine which columns of "id,zip,verdict" hold the node and the label; pass option label-fields=id,verdict or option label-fields=zip,verdict`, ""},
		{"l.csv", "1,40,a\n2,7,b\n3,4,a\n", "", true,
			`l.csv:1: cannot determine which columns of "1,40,a" hold the node and the label; pass option label-fields=1,3 or option label-fields=2,3`, ""},
		{"l.csv", "id,team_id,verdict\n1,40,a\n2,40,b\n3,7,a\n4,7,b\n5,7,a\n6,7,b\n7,7,a\n8,7,a\n9,7,b\n", "", true,
			"id → node, verdict → label; ignored: team_id", "a"},
		{"l.csv", "case_no,account,verdict\n1,40,a\n2,40,b\n3,40,a\n4,40,b\n5,3,b\n", "", true,
			`l.csv:1: cannot determine which columns of "case_no,account,verdict" hold the node and the label; pass option label-fields=case_no,verdict or option label-fields=account,verdict`, ""},
		{"l.csv", "id,n_payments,verdict\n1,40,a\n2,7,b\n3,4,a\n4,3,b\n", "", true, "id → node, verdict → label; ignored: n_payments", "a"},
		{"l.csv", "nr,age,account,verdict\n1,40,7,a\n2,7,40,b\n3,4,25,a\n4,3,6,b\n", "", true, "account → node, verdict → label; skipped the index column; ignored: age", "b"},
		{"l.csv", "node,account,verdict\n1,40,a\n2,7,b\n3,4,a\n4,3,b\n", "", true,
			"node → node, verdict → label; ignored: account", "a"},
		{"l.csv", "label,node\n#a,c100\n#b,c101\n", "", false, "node → node, label → label", "#a"},
		{"l.csv", "c100,#a\n#1,x\nc101,#b\n", "", false, "column 1 → node, column 2 → label", "#a"},
		{"l.csv", "node|label\nc100|a\nc101|b\n", "", false, "node → node, label → label", "a"},
		{"l.txt", "node|label\nc100|a\nc101|b c\n(2 rows)\n", "", false, "node → node, label → label", "a"},
		{"l.csv", "node^label\nc100^a\nc101^b\n", "", false, `l.csv:1: one column, want two: node and label; pass option delimiter=^`, ""},
		{"l.csv", "knoten,klasse,gewicht\nc100,a,1\nc101,b,2\n", "", false,
			"knoten → node, klasse → label; ignored: gewicht", "a"},
		// titles of labels, and times
		{"l.csv", "account,is_fraud,checked_by\nc100,0,ann\nc101,1,bob\nc102,0,ann\n", "", false, "account → node, is_fraud → label; ignored: checked_by", "0"},
		{"l.csv", "Konto;Betrugsfall;Ort\nc100;ja;Rome\nc101;nein;Oslo\nc102;nein;Rome\n", "", false, "Konto → node, Betrugsfall → label; ignored: Ort", "ja"},
		{"l.csv", "account,fraud_score,status\nc100,0.5,x\nc101,0.1,y\nc102,0.5,y\n", "", false, "account → node, status → label; ignored: fraud_score", "x"},
		{"l.csv", "c100,fraud\nc101,honest\nc102,fraud\n", "", false, "column 1 → node, column 2 → label", "fraud"},
		{"l.csv", "account,seen,status\nc100,2026-03,x\nc101,2026-04,y\nc102,2026-04,y\n", "", false, "account → node, status → label; ignored: seen", "x"},
		{"l.csv", "account,seen,status\nc100,Q1 2026,x\nc101,Q2 2026,y\nc102,Q2 2026,y\n", "", false, "account → node, status → label; ignored: seen", "x"},
		{"l.csv", "account,seen,status\nc100,2026Q1,x\nc101,2026Q2,y\nc102,2026Q2,y\n", "", false, "account → node, status → label; ignored: seen", "x"},
		{"l.csv", "account,seen,status\nc100,14:05,x\nc101,9:30,y\nc102,9:30,y\n", "", false, "account → node, status → label; ignored: seen", "x"},
		{"l.csv", "account,seen,status\nc100,März 2026,x\nc101,Mai 2026,y\nc102,Dezember 2026,y\n", "", false, "account → node, status → label; ignored: seen", "x"},
		{"l.csv", "account,seen,status\nc100,3. März 2026,x\nc101,1. Mai 2026,y\nc102,Apr 2 2026,y\n", "", false, "account → node, status → label; ignored: seen", "x"},
		{"l.csv", "account,month,status\nc100,3,x\nc101,4,y\nc102,4,y\n", "", false, "account → node, status → label; ignored: month", "x"},
		// two labels, names that are no classes, titles of spreadsheets, headers above text
		{"l.csv", "id,label,class\nc100,a,x\nc101,a,y\n", "", false,
			`l.csv:1: several columns could be the label; pass option label-fields=id,label or option label-fields=id,class`, ""},
		{"l.csv", "Id,Label,party\nc100,ann,red\nc101,bob,red\nc102,cid,blue\n", "", false,
			`l.csv:1: "Label" has a different word in every line, and is no class; pass option label-fields=Id,party`, ""},
		{"l.csv", "Id,Label,class\nc100,ann,red\nc101,bob,red\nc102,cid,blue\n", "", false, "Id → node, class → label; ignored: Label", "red"},
		{"l.csv", "node,group,type\nc100,x1,red\nc101,x2,red\nc102,x3,blue\n", "", false, "node → node, type → label; ignored: group", "red"},
		{"l.csv", "Members 2024,\n,\nid,label\nc100,a\nc101,b\n", "", false, "id → node, label → label", "a"},
		{"l.csv", "sep=;\nid;label\nc100;a\nc101;b\n", "", false, "id → node, label → label", "a"},
		{"l.csv", "_nx_name,label\nc100,a\nc101,b\n", "", false, "_nx_name → node, label → label", "a"},
		{"l.csv", "person,team\nc100,a\nc101,b\n", "", false, "person → node, team → label", "a"},
	} {
		path := write(t, file{c.name, c.text})[0]
		config := &LabelConfig{}
		if c.fields != "" {
			config.Fields = strings.Split(c.fields, ",")
		}
		l, err := ReadLabels(t.Context(), path, customers(t, c.numbers), config)
		if err != nil {
			if got := strings.TrimPrefix(err.Error(), filepath.Dir(path)+"/"); got != c.want {
				t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
			}
			continue
		}
		if got := l.Columns.String(); got != c.want || l.Names[l.Class[0]] != c.label {
			t.Errorf("%q:\n got %s, label %s\nwant %s, label %s", c.text, got, l.Names[l.Class[0]], c.want, c.label)
		}
	}
}

// TestListColumns checks that lists of ids and splits follow the rules of labels.
func TestListColumns(t *testing.T) {
	for text, want := range map[string]string{
		"c103\nc101\n": "[3 1]", "node\nc103\nc101\n": "[3 1]", ",node,age\n0,c103,5\n1,c101,6\n": "[3 1]",
		"age,customer_id\n5,c103\n6,c101\n": "[3 1]", "id,account\n1,c103\n2,c101\n": "[3 1]", "\"c103\"\nc101\n": "[3 1]", ",id\n0,c103\n1,c101\n": "[3 1]",
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
	_, err := ReadIDs(t.Context(), write(t, file{"r.csv", "Kunde,Partner\nc103,c105\nc101,c107\n"})[0], customers(t, false), nil)
	if err == nil || !strings.HasSuffix(err.Error(), `holds the node; title it "node"`) {
		t.Errorf("two columns of ids: %v", err)
	}
	splits, err := ReadSplits(t.Context(), write(t, file{"s.csv", "Kunde,Ort,Teil\nc103,x,train\nc101,y,test\n"})[0], customers(t, false), nil)
	if train, test := partsOf(splits); err != nil || !slices.Equal(train, []int{3}) || !slices.Equal(test, []int{1}) {
		t.Errorf("foreign titles: %v, %v", splits, err)
	}
}

func sprint(rows []int) string {
	var words []string
	for _, row := range rows {
		words = append(words, strconv.Itoa(row))
	}
	return "[" + strings.Join(words, " ") + "]"
}

// TestMissingWords checks that words read as missing labels are reported, and that blanks are
// no label, also in quotes.
func TestMissingWords(t *testing.T) {
	for text, want := range map[string]string{
		"node,label\nc100,a\nc101,NA\nc102,-1\nc103,NA\nc104,b\n": "-1 NA|3|a b",
		"node,label\nc100,a\nc101,\"  \"\nc102,\"\"\nc104,b\n":    "|2|a b",
		"node;label\nc100;a\nc101; \t \nc104;b\n":                 "|1|a b",
		"node,label\nc100,a\nc101,\"\u00a0\"\nc104,b\n":           "|1|a b",
		"node,label\nc100,a\nc101,\u2003\nc104,b\n":               "|1|a b",
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

// TestWholeNumbers checks that 3 in one file matches 3.0 in another.
func TestWholeNumbers(t *testing.T) {
	nodes, err := shard.StringNodes(slices.Values([]string{"1", "2.0", "03", "4.0", "x.0"}))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLabels(t.Context(), write(t, file{"l.csv", "node,label\n1.0,a\n2,b\n4,a\n03,b\n"})[0], nodes, nil)
	if err != nil || !slices.Equal(l.Row, []int{0, 2, 1, 3}) {
		t.Errorf("%+v, %v", l, err)
	}
	if rows, err := ReadIDs(t.Context(), write(t, file{"r.txt", "1.00\n4\n"})[0], nodes, nil); err != nil || !slices.Equal(rows, []int{0, 3}) {
		t.Errorf("%v, %v", rows, err)
	}
	for _, id := range []string{"3", "1.5", "01", "x"} {
		if _, err := ReadIDs(t.Context(), write(t, file{"r.txt", "1\n" + id + "\n"})[0], nodes, nil); err == nil || !strings.Contains(err.Error(), "is not in the graph") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestLongNames checks the error about a class name above 64 KiB.
func TestLongNames(t *testing.T) {
	for n, ok := range map[int]bool{maxName: true, maxName + 1: false, 900_000: false} {
		_, err := ReadLabels(t.Context(), write(t, file{"l.csv", "node,label\nc100,a\nc101," + strings.Repeat("x", n) + "\n"})[0], customers(t, false), nil)
		if (err == nil) != ok || !ok && !strings.HasSuffix(err.Error(), "l.csv:3:6: a class name of "+strconv.Itoa(n)+" bytes, more than 64 KiB; shorten it") {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestParts reads a directory of parts as one table; a part may hold only a header.
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
