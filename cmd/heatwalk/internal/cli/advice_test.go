package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// advice holds files, the message of their first reading, and the flags that the message names with the right
// edges.
type advice struct {
	files   string // name and text of a file; further files follow a line "-- NAME"
	flags   string // flags of the first reading
	message string // end of the message
	follow  string // flags as the message names them, see named; "": no flags
	edges   string // source,target,weight of each edge, sorted as converted
}

var named = strings.NewReplacer("=NAME", "=gain", "--nodes=FILE", "--nodes=all.ids", "' '", "␣")

var advices = []advice{
	// Known columns without titles.
	{"x.csv\nfirm,buys_from,name\na,b,x\nb,c,y\nd,a,x\n", "", "pass --fields=firm,buys_from", "--fields=firm,buys_from", "a,b a,d b,c"},
	{"x.csv\nday,firm,buys_from,amount\nx,a,b,1.5\ny,b,c,2\nz,d,a,0.5\n", "", "pass --fields=firm,buys_from,amount or", "--fields=firm,buys_from,amount", "a,b,1.5 a,d,0.5 b,c,2"},
	{"x.csv\niata,name,city,state\nA1,Oslo_Field,Oslo,IT\nB2,Oslo,Oslo,NO\nC3,Bonn,Bonn,DE\n", "", "or --fields=iata,name or", "--fields=iata,name", "A1,Oslo_Field B2,Oslo C3,Bonn"},
	{"x.csv\nfrom_zone,to_zone,amount,when\na,b,1.5,2024-01-02\nc,d,2,2024-01-03\n", "", "pass --fields=from_zone,to_zone,amount", "--fields=from_zone,to_zone,amount", "a,b,1.5 c,d,2"},
	{"x.csv\nid;from_zone;to_zone;amount\n1;D1;D2;5,71\n2;D2;D3;1.620,16\n", "", "pass --fields=from_zone,to_zone,amount --thousands=. --decimal=,", "--fields=from_zone,to_zone,amount --thousands=. --decimal=,", "D1,D2,5.71 D2,D3,1620.16"},
	{"x.csv\npackage,needs,version\na,b,1.2.3\nb,c,2.0.1\nc,d,1.0.0\n", "", "pass --fields=package,needs or --fields=package,version or --fields=needs,version if the first line holds titles, else --fields=1,2 or --fields=1,3 or --fields=2,3", "--fields=package,needs", "a,b b,c c,d"},
	{"x.csv\nsubject,predicate,object\nann,knows,bob\nbob,likes,cid\n", "", "pass --fields=subject,object or --fields=subject,predicate or --fields=predicate,object if the first line holds titles, else --fields=1,3 or --fields=1,2 or --fields=2,3", "--fields=subject,object", "ann,bob bob,cid"},
	{"x.txt\n2024-01-05 a b 7\n2024-01-06 b c 9\n2024-01-07 d b 2\n", "", "pass --fields=2,3", "--fields=2,3", "a,b b,c b,d"},
	{"x.csv\nu,v,weight,value\na,b,1,2\nb,c,3,4\n", "", "pass --fields=u,v,weight or --fields=u,v,value", "--fields=u,v,weight", "a,b,1 b,c,3"},
	{"x.csv\nu,v,weight,value\na,b,1,2\nb,c,3,4\n", "", "pass --fields=u,v,weight or --fields=u,v,value", "--fields=u,v,value", "a,b,2 b,c,4"},
	{"x.csv\nsource,target,from,to\na,b,c,d\nb,c,d,e\n", "", "pass --fields=source,target or --fields=source,to", "--fields=source,to", "a,d b,e"},

	// Weights.
	{"x.csv\nsource,target,gain\na,b,2\nb,c,3\n", "", "the numbers of the column \"gain\" are ignored; --weight=gain makes it the weight", "--weight=gain", "a,b,2 b,c,3"},
	{"x.csv\nsource;target;weight\na;b;1,500\nb;c;2\n", "", "pass --decimal=, or --thousands=,", "--decimal=,", "a,b,1.5 b,c,2"},
	{"x.csv\nsource;target;weight\na;b;1,500\nb;c;2\n", "", "pass --decimal=, or --thousands=,", "--thousands=,", "a,b,1500 b,c,2"},
	{"x.csv\nsource;target;weight\na;b;1,500\nb;c;2.5\nc;d;2,5\n", "", "pass --decimal=, or --thousands=, or leave the column out with --fields=source,target", "--fields=source,target", "a,b b,c c,d"},
	{"x.csv\nsource;target;weight\na;b;1,5\nb;c;1.620,16\n", "", "pass --thousands=. --decimal=, or leave the column out", "--thousands=. --decimal=,", "a,b,1.5 b,c,1620.16"},
	{"x.csv\nsource;target;weight\na;b;1,5\nb;c;2.5\n", "", "pass --decimal=, or leave the column out with --fields=source,target", "--fields=source,target", "a,b b,c"},
	{"x.csv\nfrom;to;amount\na;M\xfc;1.5\nM\xfc;c;8\n", "", "pass the encoding of the file, as in --encoding=windows-1252", "--encoding=windows-1252", "a,Mü,1.5 Mü,c,8"},
	{"x.csv\nsource,target,weight\na,b,-1.5\nb,c,2\n", "", "pass --weights=signed for edges between opponents, or take absolute values", "--weights=signed", "a,b,-1.5 b,c,2"},
	{"x.csv\none,other,count\nA,B,41\nA,C,2\nB,A,39\n", "", "pass --duplicates=sum to add them, max, min or first to keep one, or --directed to keep both", "--directed", "A,B,41 A,C,2 B,A,39"},
	{"x.csv\none,other,count\nA,B,41\nA,C,2\nB,A,39\n", "", "pass --duplicates=sum to add them, max, min or first to keep one, or --directed to keep both", "--duplicates=sum", "A,B,80 A,C,2"},
	{"x.mtx\n%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 5\n", "--undirected", "pass --duplicates=max, min or first to keep one, or --directed to keep both", "--duplicates=max", "1,2,5"},
	{"x.mtx\n%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 0\n3 2 5\n", "", "x.mtx:3: 1 entry with weight 0 or none left out; --edge-weights=none of classify counts every entry as 1", "", "2,3,5"},
	{"x.csv\nsource,target,w,amount\nx,y,0,7\ny,z,2,7\n", "--weight=w", "--fields=source,target in place of --weight", "--fields=source,target", "x,y y,z"},
	{"x.csv\nsource,target\na,b\na,b\n", "--duplicates=error", "choose --duplicates=sum, max, min or first", "--duplicates=sum", "a,b,2"},
	{"x.csv\nsource,target,weight\na,b,1.7e308\na,b,1.7e308\n", "", "choose --duplicates=max, min or first", "--duplicates=max", "a,b,1.7e+308"},
	{"x.mtx\n%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n2 1 3.0000000000001\n", "", "keep directions with --directed", "--directed", "1,2,3 2,1,3.0000000000001"},

	{"x.mtx\n%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", "--fields 1,2", "give it alone, without --fields and --weight", "", "1,2"},

	{"x.csv\nsource,target,day\na,b,2026-02-01\nb,c,\n", "--time=day", "time \"\" of the edge is missing; leave out --time, or add a time, or pass --skip-bad-lines to leave such edges out", "", "a,b b,c"},

	// Headers, lines and directions.
	{"x.txt\nhello world\na1 a2\na2 a3\n", "", "read as data: hello, world; pass --header=yes if the line holds titles", "--header=yes", "a1,a2 a2,a3"},
	{"x.csv\nu,v\nann,bob\nbob,cid\n", "", "pass --header=yes if the line holds titles, else --header=no", "--header=no", "u,v ann,bob bob,cid"},
	{"x.txt\nfoo bar\nbob cid\ncid dan\n", "", "read as data: foo, bar; pass --header=yes if the line holds titles", "--header=yes", "bob,cid cid,dan"},
	{"x.csv\nsource,target,length\na,b,2\nb,c,4\n", "", "the numbers of the column \"length\" are ignored; --weight=1/length makes the reciprocal the weight, which is large for strong edges", "--weight=1/length", "a,b,0.5 b,c,0.25"},
	{"x.csv\nsource,target,distance\na,b,2\nb,c,4\n", "--weight=distance", "pass --weight=1/distance", "--weight=1/distance", "a,b,0.5 b,c,0.25"},
	{"x.csv\nsource,target,length_m,lanes\na,b,2,1\nb,c,4,2\n", "", "columns of numbers are ignored: length_m (2 to 4), lanes (1 to 2); --weight=COLUMN makes one the weight, and --weight=1/COLUMN the reciprocal of distances such as length_m", "", "a,b b,c"},
	{"x.txt\n4 3\n0 1\n1 2\n2 3\n", "", "\"4 3\" is taken as the numbers of nodes and edges and skipped; pass --header=no if it is an edge", "--header=no", "0,1 1,2 2,3 3,4"},
	{"x.csv\nsource,target\n", "", "check that this is the right file; if the first line is an edge, pass --header=no", "--header=no", "source,target"},
	{"x.txt\na\tb\nb c\n", "", "the separator of this file is TAB (line 1); if blanks separate fields too, pass --delimiter=' '", "--delimiter=' '", "a,b b,c"},
	{"x.txt\nx\na b\nb c\n", "", "fix the line or pass --skip-bad-lines", "--skip-bad-lines", "a,b b,c"},
	{"x.csv\nuser_id,item_id\n1,2\n3,4\n", "", "equal ids are one node; --bipartite keeps them apart", "--bipartite", "user_id:1,item_id:2 user_id:3,item_id:4"},
	{"x.csv\nSource,Target,Type\na,b,Directed\nb,c,Undirected\n", "", "the column Type has directed and undirected edges, and all are read as undirected; pass --directed or --undirected", "--undirected", "a,b b,c"},
	{"x.txt\na b\nb c\n-- all.ids\na\nb\n", "--nodes all.ids --unknown-ids error", "pass --unknown-ids=skip to leave such edges out", "--unknown-ids=skip", "a,b"},
	{"x.cites\na\tb\nb\tc\n-- x.content\na\t1\tx\nb\t0\ty\n", "", "to leave them out pass --unknown-ids=skip", "--unknown-ids=skip", "a,b"},
	{"x.graphml\n<graphml><key id=\"k\" for=\"edge\" attr.name=\"gain\" attr.type=\"double\"/><key id=\"m\" for=\"edge\" attr.name=\"hits\" attr.type=\"double\"/><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/><edge source=\"a\" target=\"b\"><data key=\"k\">2</data><data key=\"m\">3</data></edge></graph></graphml>\n", "", "--weight=NAME", "--weight=NAME", "a,b,2"},
}

func TestAdvice(t *testing.T) {
	wanted := remedies(t, "file/table/header.go", "ingest/disagree.go", "ingest/read.go", "ingest/load.go", "ingest/numbers.go", "ingest/task.go", "ingest/internal/lines")
	var messages strings.Builder
	for _, a := range advices {
		t.Chdir(t.TempDir())
		name := ""
		for i, part := range strings.Split(a.files, "-- ") {
			file, text, _ := strings.Cut(part, "\n")
			if i == 0 {
				name = file
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		read := func(flags string) (edges, problems string) {
			var stdout, stderr bytes.Buffer
			args := strings.Fields("convert " + name + " -o - --to csv " + flags)
			for i, arg := range args {
				args[i] = strings.ReplaceAll(arg, "␣", " ")
			}
			Main(args, nil, &stdout, &stderr)
			lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
			return strings.Join(lines[1:], " "), stderr.String()
		}
		_, problems := read(a.flags)
		messages.WriteString(problems)
		if !strings.Contains(problems, a.message) || !strings.Contains(a.message, a.follow) {
			t.Errorf("%q %s: no advice %q in %s", a.files, a.flags, a.message, problems)
			continue
		}
		flags := a.flags + " " + strings.ReplaceAll(named.Replace(a.follow), " with ", " ")
		if a.follow == "" || strings.HasSuffix(a.follow, "directed") || strings.Contains(a.message, "in place of") { // the flags replace the first flags
			flags = named.Replace(a.follow)
		}
		if edges, problems := read(flags); edges != a.edges {
			t.Errorf("%q with %s gives %q, want %q: %s", a.files, flags, edges, a.edges, problems)
		}
	}
	for _, remedy := range wanted {
		if !remedy.MatchString(messages.String()) {
			t.Errorf("no file of this test has the advice %s", remedy)
		}
	}
}

var option = regexp.MustCompile(`\{([a-z-]+(=[^}]*)?)\}`)

// remedies returns patterns of the texts in sources that name an option.
func remedies(t *testing.T, places ...string) (list []*regexp.Regexp) {
	for _, place := range places {
		err := filepath.WalkDir(filepath.Join("../../../..", place), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				literal, isLiteral := n.(*ast.BasicLit)
				if !isLiteral || literal.Kind != token.STRING {
					return true
				}
				text, err := strconv.Unquote(literal.Value)
				if err == nil && option.MatchString(text) && !strings.Contains(text, "{copy}") && !strings.Contains(text, "{file}") && text != "correct {fields}" { // commands, and a wrong value
					pattern := regexp.QuoteMeta(strings.ReplaceAll(option.ReplaceAllString(text, "--$1"), "= ", "=' '"))
					list = append(list, regexp.MustCompile(regexp.MustCompile(`%[sd]`).ReplaceAllString(pattern, `\S*`)))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}
