package ingest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestColumns reads tables with titles, without titles, and with first lines that may be either: the
// graph and a word of the warning, or a question.
func TestColumns(t *testing.T) {
	const header, isEdge = "read as a header", "read as an edge"
	for _, test := range []struct {
		text, want, warning string // want: the first edge, or part of the error
	}{
		// two pairs of ends, two weights
		{"source,target,from,to\na,b,c,d\nb,c,d,e\n", `two pairs of columns could be source and target: "source" and "target", or "from" and "to"; pass option fields=source,target or option fields=from,to`, ""},
		{"sender,receiver,left,right\na,b,c,d\n", "two pairs of columns", ""},
		{"src,dst,dest\na,b,c\n", "two pairs of columns", ""},
		{"u,v,weight,value\na,b,1,2\nb,c,3,4\n", `several columns could be the weight: "weight", "value"; pass option weight=weight or option weight=value`, ""},
		{"u,v,count,value\na,b,1,x\nb,c,3,y\n", "a–b 1", ""}, // text is no weight
		// times and dates are no ends
		{"caller,callee,start,end,duration\nann,bob,1300,1310,10\nbob,cid,1400,1405,5\n", "ann–bob 1", "edges have no weight"},
		{"u,v,start,end\nann,bob,1,3\nbob,cid,2,5\n", "ann–bob 1", "edges have no weight"},
		{"name,start,end\nann,1300,1310\nbob,1400,1405\n", "which two of name, start, end", ""},
		{"customer,date\nC1,2020-01-01\nC2,2020-01-02\n", "holds dates, which are no ends", ""},
		// p-values and distances are no weights
		{"from,to,correlation,p.value\na,b,0.9,0.001\nb,c,0.1,0.5\n", "a–b 1", `"p.value"`},
		{"source,target,edge_value,p_value\na,b,3,0.001\nb,c,1,0.5\n", "a–b 3", ""},
		{"source,target,distance\na,b,3\nb,c,1\n", "a–b 1", "a weight has to be large for strong edges"},
		{"source,target,E-value\na,b,3\nb,c,1\n", "a–b 1", "a weight has to be large"},
		// headers above text
		{"Gene1,Gene2\nTP53,MDM2\nMDM2,AKT1\n", "TP53–MDM2 1", ""},
		{"\"n.name\",\"m.name\"\n\"ann\",\"bob\"\n\"bob\",\"cid\"\n", "ann–bob 1", header},
		{"customer,merchant\nC1,M1\nC2,M1\nC3,M2\n", "C1–M1 1", header},
		{"0,1\n5,7\n7,9\n9,5\n", "5–7 1", header},
		{"person,knows\nanna,bob\nbob,carla\n", "anna–bob 1", header},
		{"Fonte,Meta\nanna,bob\nbob,carla\n", "anna–bob 1", header},
		{"haus,strasse\nx17,y4\nx18,y5\n", "x17–y4 1", header},
		{"left side,other side\nAB,BC\nBC,CD\n", "AB–BC 1", header},
		// edges that may be headers, and edges
		{"hans,otto\nanna,bob\nbob,carla\n", "hans–otto 1", isEdge},
		{"hans,otto\notto,bob\n", "hans–otto 1", ""},
		{"0,1\n1,2\n", "0–1 1", ""},
		{"a7,b8\na1,b2\na2,b3\n", "a7–b8 1", ""},
		{"david,ingrid\nanna,bob\nbob,carla\n", "david–ingrid 1", isEdge}, // end in id
		// third columns, and first columns that count
		{"190,501,1990\n106,234,1991\n252,296,2015\n", "190–501 1", "column 3 looks like years"},
		{"a,b,20200101\nb,c,20200215\n", "a–b 1", "column 3 looks like dates"},
		{"a,b,1\nb,c,2\nc,d,3\nd,e,4\n", "a–b 1", "column 3 looks like line numbers"},
		{"a,b,3\nb,c,2\nc,d,3\nd,e,4\n", "a–b 3", ""},
		{"1,190,501\n2,106,234\n3,252,296\n", "190–501 1", ""},
		{"0,ann,bob\n1,bob,cid\n2,cid,ann\n", "ann–bob 1", ""},
		{"0,1,0.5\n1,2,0.5\n2,3,0.5\n", "0–1 0.5", ""},
		// advice is right or absent
		{"order_id,customer_id,product_id,quantity\n1,190,501,2\n2,106,234,1\n3,252,296,2\n", "which two of customer_id, product_id are source and target?; pass option fields=SOURCE,TARGET", ""},
		{"customer_id,name,segment,referred_by\nC1,Ann,gold,C2\nC2,Bob,gold,C3\nC3,Cid,basic,C1\n", "pass option fields=customer_id,referred_by (or option fields=1,4)", ""},
		{"A pp B\nB pp C\nC pd D\n", "pass option fields=1,3", ""},
		{"6,2,4,1289241911.7\n6,5,2,1289241941.5\n", "which two of the columns 1 to 4", ""},
		// files of spreadsheets
		{"sep=;\nsource;target;weight\na;b;1\nb;c;2\n", "a–b 1", ""},
		{"sep=|\r\nsource|target\r\na|b\r\n", "a–b 1", ""},
		{"Report 2024,,\n,,\nsource,target,weight\na,b,5\n", "a–b 5", "is skipped as a title of the table"},
		{"source,target\nann\u00a0,bob\nbob,\u00a0cid\n", "ann–bob 1", "blanks around ids (2"},
		{"employee,manager\nann,\nbob,ann\ncid,ann\n", "bob–ann 1", header},
	} {
		in := file{"e.csv", test.text}
		if strings.HasPrefix(test.text, "A pp") {
			in.name = "e.txt"
		}
		dir, report, err := ingestInto(t, nil, write(t, in)...)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v, want %s", test.text, err, test.want)
			}
			continue
		}
		g := load(t, dir)
		ends, weight, _ := strings.Cut(test.want, " ")
		source, target, _ := strings.Cut(ends, "–")
		if w := g.out[[2]string{source, target}]; strconv.FormatFloat(w, 'g', -1, 64) != weight {
			t.Errorf("%q: %v, want %s", test.text, g.out, test.want)
		}
		isWarned := slices.ContainsFunc(report.Warnings, func(w string) bool { return strings.Contains(w, test.warning) })
		if test.warning == "" && len(report.Warnings) > 0 || test.warning != "" && !isWarned {
			t.Errorf("%q: warnings %q, want %q", test.text, report.Warnings, test.warning)
		}
		if report.Files[0].Columns == nil {
			t.Errorf("%q: no columns are reported", test.text)
		}
	}
}

// TestBlankEnds counts lines with a blank end, whose other end is a node.
func TestBlankEnds(t *testing.T) {
	for text, want := range map[string]string{
		"from,to\nann,\nbob,ann\n":     "ann bob",
		"1,2\n2,\n,3\n":                "1 2 3",
		"a\tb\n\tc\n":                  "a b c",
		"from,to,weight\na,,\nb,a,2\n": "a b",
	} {
		g, report := read(t, nil, file{"e.csv", text})
		if ids := strings.Join(g.ids, " "); ids != want || report.Edges != 1 || report.MissingIDs == 0 {
			t.Errorf("%q: ids %s, %d edges, %d missing", text, ids, report.Edges, report.MissingIDs)
		}
	}
}
