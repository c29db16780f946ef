package ingest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func codedEdges(t *testing.T, dir string) string {
	t.Helper()
	if err := verify(dir); err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b strings.Builder
	err = sparse.Sweep(context.Background(), s, 1, func(_ int, p sparse.Panel) error {
		for i := range p.Hi - p.Lo {
			col, val := p.Row(i)
			codes := p.AppendCodes(nil, i)
			for e, c := range col {
				w, kind := 1.0, ""
				if val != nil {
					w = val[e]
				}
				if s.Manifest.Kinds != nil {
					kind = s.Manifest.Kinds[codes[e]%256].Name
				}
				if int(c) >= p.Lo+i || s.Manifest.Directed {
					fmt.Fprintf(&b, "%s-%s %s %d %v\n", s.Nodes.ID(p.Lo+i), s.Nodes.ID(int(c)), kind, codes[e]/256, w)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestKindsAndTimes(t *testing.T) {
	const calls = "from,to,kind,when\na,b,pays,2024-01-02\na,b,calls,2024-01-02\nb,a,calls,2024-01-02T10:00\na,b,calls,2024-01-03\nb,c,pays,2024-01-05\nc,c,pays,2024-01-02\n"
	for _, c := range []struct {
		text   string
		config Config
		want   string
	}{
		{calls, Config{Kind: "kind"}, "a-b calls 0 1\na-b pays 0 1\nb-c pays 0 1\n"},
		{calls, Config{Kind: "3", Time: "when"}, "a-b calls 45291 1\na-b pays 45291 1\na-b calls 45292 1\nb-c pays 45294 1\n"},
		{calls, Config{Time: "4", KeepLoops: true}, "a-b  45291 1\na-b  45292 1\nb-c  45294 1\nc-c  45291 1\n"},
		{calls, Config{Kind: "kind", Duplicates: SumDuplicates, Directed: true}, "a-b calls 0 2\na-b pays 0 1\nb-a calls 0 1\nb-c pays 0 1\n"},
		{"a b x 2\na b x 3\nb a y 7\na c y 0\n", Config{Kind: "3", Fields: []string{"1", "2", "4"}}, "a-b x 0 5\na-b y 0 7\n"},
		{"a b x 2\na b x 3\nb a y 7\n", Config{Kind: "3", Fields: []string{"1", "2", "4"}, Duplicates: MaxDuplicates}, "a-b x 0 3\na-b y 0 7\n"},
	} {
		dir, report, err := ingestInto(t, &c.config, write(t, file{"e.txt", c.text})...)
		if err != nil {
			t.Errorf("%+v: %v", c.config, err)
			continue
		}
		if got := codedEdges(t, dir); got != c.want || c.config.KeepLoops && report.SelfLoops != 1 {
			t.Errorf("kind %q, time %q, fields %q: entries\n%swant\n%s", c.config.Kind, c.config.Time, c.config.Fields, got, c.want)
		}
	}
}

func TestKindsInAnyMemory(t *testing.T) {
	var b strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&b, "%d\t%d\tkind %d\t%d\t%d.25\n", i%3*(i%5000), i%7*(i%4000)+1, i*i%11, i%13, i%4)
	}
	in := write(t, file{"e.tsv", b.String()})
	for _, policy := range testgraph.Sample(t, 1, []Duplicates{DefaultDuplicates, MaxDuplicates, FirstDuplicates}) {
		want := ""
		var files map[string]string
		for _, c := range []Config{{Workers: 1}, {Workers: 3}, {Workers: 2, Memory: 2*workerBytes + pageBytes + 1<<20}} {
			c.Directed, c.Kind, c.Time, c.Fields, c.Duplicates = true, "3", "4", []string{"1", "2", "5"}, policy
			dir, report, err := ingestInto(t, fixed(c), in...)
			if err != nil {
				t.Fatal(err)
			}
			if files == nil {
				want, files = codedEdges(t, dir), contents(t, dir)
			} else if (c.Memory > 0) != (report.SpilledBytes > 0) || !maps.Equal(files, contents(t, dir)) || codedEdges(t, dir) != want {
				t.Errorf("policy %d: another store with %d workers and %d bytes", policy, c.Workers, c.Memory)
			}
		}
	}
}

func TestKindsAreCountedByDirection(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	lines := map[[4]int]int64{}
	var b strings.Builder
	b.WriteString("payer,payee,kind,day,amount\n")
	for range 60000 {
		l := [4]int{rng.IntN(100), rng.IntN(100), rng.IntN(5), rng.IntN(3)}
		if l[0] != l[1] {
			lines[l]++
			fmt.Fprintf(&b, "p%d,p%d,kind %d,%d,%d\n", l[0], l[1], l[2], l[3], 1+rng.IntN(20))
		}
	}
	var reciprocal, duplicates int64
	for l, n := range lines {
		duplicates += n - 1
		if l[0] < l[1] && lines[[4]int{l[1], l[0], l[2], l[3]}] > 0 {
			reciprocal++
		}
	}
	in := write(t, file{"e.csv", b.String()})
	for _, c := range []Config{{}, {Duplicates: SumDuplicates, Memory: 2*workerBytes + pageBytes + 1<<20}, {Duplicates: MaxDuplicates}} {
		c.Kind, c.Time = "kind", "day"
		if _, r, err := ingestInto(t, fixed(c), in...); err != nil || r.Reciprocal != reciprocal || r.Duplicates != duplicates {
			t.Errorf("policy %d: %+v, %v, want %d duplicates, %d in both directions", c.Duplicates, r, err, duplicates, reciprocal)
		}
	}
}

func TestWrongKindsAndTimes(t *testing.T) {
	var many strings.Builder
	for i := range 300 {
		fmt.Fprintf(&many, "a b %d\n", i)
	}
	const header = "source,target,kind,time\n"
	for _, c := range []struct{ text, want string }{
		{header + "a,b,x,1899-12-31\n", `e.txt:2:7: time "1899-12-31" is before 1900-01-01 or after 2079-06-06; leave out option time, or write times as 2024-01-31`},
		{header + "a,b,x,NaN\n", `e.txt:2: time "NaN" of the edge is missing; leave out option time, or add a time`},
		{header + "a,b,x,3\na,c,x,2024-01-01\n", `e.txt:3:7: time "2024-01-01" is a day, and other times are steps; pass option time-format=time:iso or option time-format=time:ymd, or pass option skip-bad-lines`},
		{header + "a,b,x,0.2\n", `e.txt:2:7: time "0.2" is no whole number; multiply all times, for example hours by 60; pass option time-format=time:unix or option time-format=time:unixms or option time-format=time:seconds`},
		{header + "a,b,x,01/02/2024\n", `e.txt:2:7: time "01/02/2024" is not a time; times are dates such as 2024-01-31, 11:26, or whole numbers from 0 to 65535; pass option time-format=time:dmy or option time-format=time:mdy`},
		{header + "a,b,x,2024\na,c,x,1706700000\n", `e.txt:3:7: time "1706700000" is not a time; times are dates such as 2024-01-31, 11:26, or whole numbers from 0 to 65535; pass option time-format=time:unix or option time-format=time:unixms, or pass option skip-bad-lines`},
		{header + "a,b,x,\n", `e.txt:2: time "" of the edge is missing; leave out option time, or add a time`},
	} {
		wantError(t, &Config{Kind: "kind", Time: "time"}, []file{{"e.txt", c.text}}, c.want)
	}
	wantError(t, &Config{Kind: "3"}, []file{{"e.txt", many.String()}},
		`e.txt: 300 kinds of edges in the column "3"; a store has at most 255; join rare kinds in the column of option kind, or leave option kind out`)
	for _, weight := range []string{"1e+39", "1e-46"} {
		wantError(t, &Config{Kind: "kind"}, []file{{"e.csv", "source,target,weight,kind\na,b," + weight + ",x\n"}},
			"e.csv:2:5: weight "+weight+" is too large or too small for edges with kinds or times; fix the line")
		wantError(t, &Config{Kind: "kind"}, []file{{"g.graphml", strings.Replace(graphMLText("undirected", "1 2 "+weight), "</edge>", `<data key="kind">x</data></edge>`, 1)}},
			"g.graphml: weight "+weight+" is too large or too small for edges with kinds or times; multiply all weights by a number")
	}
	wantError(t, &Config{Kind: "sort"}, []file{{"g.graphml", graphMLText("undirected", "1 2")}},
		`g.graphml:2: an edge without the attribute "sort"; choose another attribute with option kind`)
	wantError(t, &Config{Kind: "relation"}, []file{{"e.txt", header + "a,b,x,3\n"}}, `e.txt:1: the header "source,target,kind,time" has no column "relation"; correct option kind`)
	wantError(t, &Config{Kind: "kind"}, []file{{"g.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n"}},
		"option kind: names a column or an attribute; g.mtx is a Matrix Market file; write its edges as a table with a header")
}

func TestBlankKinds(t *testing.T) {
	type row struct {
		Source string  `parquet:"source"`
		Target string  `parquet:"target"`
		Kind   *string `parquet:"kind,optional"`
	}
	card := "card"
	paths := write(t, file{"e.parquet", tableFile(t, row{"a", "b", &card}, row{"b", "c", nil})}, file{"e.csv", "source,target,kind\na,b,card\nb,c,\n"}, file{"e.json",
		`[{"source":{"id":"a"},"target":"b","kind":"card"},{"source":"b","target":"c"}]`})
	for _, path := range paths {
		dir, _, err := ingestInto(t, &Config{Kind: "kind"}, path)
		if err != nil {
			t.Fatal(path, err)
		}
		if got := codedEdges(t, dir); !strings.Contains(got, "b-c (blank) 0 1") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

func TestTimesOfFormats(t *testing.T) {
	for _, test := range []struct {
		times  [2]string
		want   [2]int
		format string
	}{
		{[2]string{"2024-01-31", "2024-03-01T10:00:00Z"}, [2]int{45320, 45350}, ""},
		{[2]string{"20240131", "2024-03-01 10:00:00.5"}, [2]int{45320, 45350}, ""},
		{[2]string{"2024-01", "2024-03-01T10:00+01:00"}, [2]int{45290, 45350}, ""},
		{[2]string{"31/01/2024", "1.3.24 11:26"}, [2]int{45320, 45350}, ":dmy"},
		{[2]string{"1/31/24", "3/1/2024 11:26"}, [2]int{45320, 45350}, ":mdy"},
		{[2]string{"2024/01/31", "24.3.1"}, [2]int{45320, 45350}, ":ymd"},
		{[2]string{"1706700000", "1709251200.5"}, [2]int{45320, 45350}, ":unix"},
		{[2]string{"1706700000000", "1709251200000"}, [2]int{45320, 45350}, ":unixms"},
		{[2]string{"20", "347640"}, [2]int{0, 5794}, ":seconds"},
		{[2]string{"11:26", "23:59:59"}, [2]int{686, 1439}, ""},
		{[2]string{"2001", "2024.0"}, [2]int{2001, 2024}, ""},
	} {
		want := fmt.Sprintf("a-b  %d 2\nb-c  %d 3\n", test.want[0], test.want[1])
		for name, form := range map[string]string{
			"e.csv":     "source,target,at,weight\na,b,%s,2\nb,c,%s,3\n",
			"e.jsonl":   `{"source": "a", "target": "b", "at": "%s", "weight": 2}` + "\n" + `{"source": "b", "target": "c", "at": "%s", "weight": 3}`,
			"e.graphml": `<graphml><key id="t" for="edge" attr.name="at" attr.type="string"/><key id="w" for="edge" attr.name="weight" attr.type="double"/><graph><node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"><data key="t">%s</data><data key="w">2</data></edge><edge source="b" target="c"><data key="t">%s</data><data key="w">3</data></edge></graph></graphml>`,
		} {
			dir, _, err := ingestInto(t, &Config{Time: "at" + test.format}, write(t, file{name, fmt.Sprintf(form, test.times[0], test.times[1])})...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got := codedEdges(t, dir); got != want {
				t.Errorf("%s, %q: entries\n%swant\n%s", name, test.times, got, want)
			}
		}
	}
}

// A column with both signs is not ignored.
func TestTimesOfParquet(t *testing.T) {
	type row struct {
		Source string    `parquet:"source"`
		Target string    `parquet:"target"`
		Vote   int64     `parquet:"vote"`
		Day    int32     `parquet:"day,date"`
		Millis time.Time `parquet:"millis,timestamp(millisecond)"`
		Nanos  time.Time `parquet:"nanos,timestamp(nanosecond)"`
		Text   string    `parquet:"text"`
		Number float64   `parquet:"number"`
	}
	first := time.Date(2024, 1, 31, 23, 0, 0, 0, time.UTC)
	second := time.Date(2024, 3, 1, 1, 0, 0, 0, time.UTC)
	content := tableFile(t,
		row{"a", "b", 1, int32(first.Unix() / 86400), first, first, "31/01/2024", 1706700000},
		row{"b", "c", -1, int32(second.Unix() / 86400), second, second, "01/03/2024", 1709251200})
	for _, column := range []string{"day", "millis", "nanos", "text", "number"} {
		format := map[string]string{"text": ":dmy", "number": ":unix"}[column]
		dir, _, err := ingestInto(t, &Config{Time: column + format}, write(t, file{"e.parquet", content})...)
		if err != nil {
			t.Errorf("%s: %v", column, err)
		} else if got := codedEdges(t, dir); got != "a-b  45320 1\nb-c  45350 1\n" {
			t.Errorf("%s: %s", column, got)
		}
	}
	wantError(t, &Config{Signed: true}, []file{{"e.parquet", content}}, `e.parquet: edges have no weight; the numbers of the column "vote" are ignored; option weight=vote makes it the weight`)
	wantError(t, &Config{Signed: true}, []file{{"g.graphml", `<graphml><key id="v" for="edge" attr.name="vote"/><graph><node id="a"/><node id="b"/><edge source="a" target="b"><data key="v">-1</data></edge></graph></graphml>`}},
		`g.graphml: edges have no weight, and the attribute "vote" has both signs; pass option weight=vote`)
}
