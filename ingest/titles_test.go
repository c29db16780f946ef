package ingest

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/nodefile"
)

func TestColumns(t *testing.T) {
	const isData, question = "read as data", "pass option header=yes if the line holds titles, else option header=no"
	for _, test := range []struct {
		text, want, warning string // want: the first edge, or part of the error
	}{
		// two pairs of ends, two weights
		{"source,target,from,to\na,b,c,d\nb,c,d,e\n", "pass option fields=source,target or option fields=source,to", ""},
		{"src,dst,to\na,b,c\n", "pass option fields=src,dst or option fields=src,to", ""},
		{"u,v,weight,value\na,b,1,2\nb,c,3,4\n", "pass option fields=u,v,weight or option fields=u,v,value", ""},
		// times and dates are no ends
		{"caller,callee,start,end,duration\nann,bob,1300,1310,10\nbob,cid,1400,1405,5\n", "ann–bob 1", "edges have no weight"},
		{"u,v,start,end\nann,bob,1,3\nbob,cid,2,5\n", "ann–bob 1", ""},
		{"name,start,end\nann,1300,1310\nbob,1400,1405\n", "1 name (ann, bob), 2 start", ""},
		{"customer,date\nC1,2020-01-01\nC2,2020-01-02\n", "2 date (2020-01-01, 2020-01-02)", ""},
		{"employee,manager,from,to\na,b,2020-01-01,2021-01-01\nb,c,2020-02-01,2021-02-01\n", "pass option fields=employee,manager", ""},
		// weights by title, or in a third column
		{"from,to,correlation,p.value\na,b,0.9,0.001\nb,c,0.1,0.5\n", "a–b 1", "columns of numbers are ignored: correlation (0.1 to 0.9), p.value (0.001 to 0.5); option weight=COLUMN makes one the weight"},
		{"source,target,distance\na,b,3\nb,c,1\n", "a–b 1", "option weight=1/distance makes the reciprocal the weight"},
		{"source,target,length\na,b,3\nb,c,1\n", "a–b 1", "option weight=1/length makes the reciprocal the weight"},
		{"fonte,meta,totale\na,b,3\nb,c,1\n", "a–b 3", ""},
		{"h,r,t\n1,0,3\n1,1,4\n3,0,4\n", "1–3 1", "edges have no weight"},
		{"a,b,1\nb,c,2\nc,d,3\nd,e,4\n", "a–b 1", ""},
		{"0,1,0.5\n1,2,0.5\n2,3,0.5\n", "0–1 0.5", ""},
		// titles that may be ids, and first lines without titles of the list
		{"Gene1,Gene2\nTP53,MDM2\nMDM2,AKT1\n", question, ""},
		{"u,v\nann,bob\nbob,cid\n", question, ""},
		{"u,v\n1,2\n2,3\n", "1–2 1", ""},
		{"u,v\nu,w\n", "u–v 1", ""},
		{"n2,n1,1.0\nn0,n3,1.0\n", "n2–n1 1", ""},
		{"v1,v2\nv3,v4\nv4,v5\n", question, ""},
		{"to,from\nfrom,at\n", question, ""},
		{"customer,merchant\nC1,M1\nC2,M1\nC3,M2\n", "customer–merchant 1", isData},
		{"0,1\n5,7\n7,9\n9,5\n", question, ""},
		{"0,1,2\na,b,0.5\nb,c,0.25\nc,d,1\n", question, ""},
		{"0,1\n1,2\n", "0–1 1", ""},
		{"hans,otto\nanna,bob\nbob,carla\n", "hans–otto 1", isData},
		{"hans,otto\notto,bob\n", "hans–otto 1", ""},
		// ids that cannot be ids
		{"[ann, bob]\n[bob, cid]\n", "the first lines are no rows of a table: 1 ([ann, [bob), 2 (bob], cid])", ""},
		{"('a', 'b')\n('b', 'c')\n", "the first lines are no rows of a table", ""},
		{"{'a': ['b', 'c'], 'b': ['c']}\n", "write source and target on each line", ""},
		{"1,2,3\n2,1\n3,1\n", "is this an edge list?", ""},
		{" source | target\n--------+--------\n a      | b\n(1 row)\n", "a–b 1", "blanks around ids"},
		{"<li>a</li>,b\n<li>b</li>,c\n", "the first lines are no rows of a table", ""},
		{"e 1 2\ne 2 3\n", "cannot determine source and target: 1 (e, e), 2 (1, 2), 3 (2, 3); pass option fields=2,3", ""},
		{"hub,a\nhub,b\nhub,c\n", "hub–a 1", ""},
		{"1 {2,3}\n2 {3}\n", "if lines are a node and its neighbours: awk", ""},
		{"1: 2\n2: 3\n", "if lines are a node and its neighbours: awk", ""},
		{",a,b,c\na,0,1,0\nb,1,0,1\n", "a matrix of 0 and 1; write its entries as rows: python3 ", ""},
		{"C[1],C(2)\nC(2),O'Brien\n", "C[1]–C(2) 1", ""},
		// three columns of numbers, and other tables
		{"1,190,501\n2,106,234\n3,252,296\n", "1–190 501", ""},
		{"nr,from_acct,dest,fee\n1,10,20,5\n2,20,30,7\n3,30,10,7\n", "pass option fields=from_acct,dest or", ""},
		{"0,ann,bob\n1,bob,cid\n2,cid,ann\n", "pass option fields=2,3 or option fields=1,2 or option fields=1,3", ""},
		{"order_id,customer_id,product_id,quantity\n1,190,501,2\n2,106,234,1\n3,252,296,2\n", "pass option fields=customer_id,product_id,quantity option bipartite or", ""},
		{"customer_id,name,segment,referred_by\nC1,Ann,gold,C2\nC2,Bob,gold,C3\nC3,Cid,basic,C1\n", "pass option fields=customer_id,referred_by or", ""},
		{"t_id,customer_id,merchant_id,amount\nT0,C1,M5,3\nT1,C1,M4,2\nT2,C9,M4,1\n", "or option fields=customer_id,merchant_id,amount", ""},
		{"A pp B\nB pp C\nC pd D\n", "pass option fields=1,3 or option fields=1,2 or option fields=2,3", ""},
		{"6,2,4,1289241911.7\n6,5,2,1289241941.5\n", "pass option fields=1,2,3", ""},
		{"Card Number,Merchant ID,Date\n4000000000000693,M37,2024-01-01\n4000000000003003,M15,2024-01-02\n", "pass option fields=1,2", ""}, // no microseconds
		// exports of banks
		{"payer,payee,amount,currency\na,b,1,EUR\nb,c,2,USD\n", "a–b 1", "in several currencies: EUR, USD; option fields=payer,payee leaves them out"},
		{"payer,payee,amount,currency\na,b,1,EUR\nb,c,2,EUR\n", "a–b 1", ""},
		{"Transfers;;\n;;\npayer;payee;amount\na;b;1\nb;c;2\nc;a;1\n", "the titles of a table stand further below; remove the lines above them: tail -n +3 ", ""},
		// titles in a comment right above the data
		{"#node1\tnode2\tnode1_id\tnode2_id\tcombined_score\nA\tB\t9606.1\t9606.2\t0.9\nB\tC\t9606.2\t9606.3\t0.4\n", "A–B 1", "combined_score"},
		{"% made by x\n# source target weight\n1 2 3\n2 3 4\n", "1–2 3", ""},
		{"# a b c\n1 2 3\n2 3 4\n", "1–2 3", ""},
		{"# a,b\n1,2\n2,3\n", "1–2 1", ""},
		// files of spreadsheets
		{"sep=;\nsource;target;weight\na;b;1\nb;c;2\n", "a–b 1", ""},
		{"sep=|\r\nsource|target\r\na|b\r\n", "a–b 1", ""},
		{"source,target\nann\u00a0,bob\nbob,\u00a0cid\n", "ann–bob 1", "blanks around ids (2"},
	} {
		in := file{"e.csv", test.text}
		if strings.HasPrefix(test.text, "A pp") || strings.HasPrefix(test.text, "e 1") || strings.HasPrefix(test.text, "1 {") || strings.HasPrefix(test.text, "1: ") {
			in.name = "e.txt"
		}
		dir, report, err := ingestInto(t, nil, write(t, in)...)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q: %v, want %s", test.text, err, test.want)
			}
			if test.want == question {
				for _, h := range []nodefile.Header{nodefile.HasHeader, nodefile.NoHeader} {
					if _, _, err := ingestInto(t, &Config{Header: h}, write(t, in)...); err != nil {
						t.Errorf("%q, header %d: %v", test.text, h, err)
					}
				}
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
