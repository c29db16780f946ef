package unread

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRecognizeText checks the name of each form of text that is no edge list.
func TestRecognizeText(t *testing.T) {
	long := func(line string) string { return strings.Repeat(line, HeadBytes/len(line)+1)[:HeadBytes] }
	hb := func(kind string) string {
		return "a matrix of Harwell                                                     KEY\n 5 1 1 3 0\n" + kind + "   4 4 7 0\n(16I5)          (16I5)\n1 2 3\n"
	}
	var numbered, tails strings.Builder // of the second few entities are tails
	for i := range 200 {
		fmt.Fprintf(&tails, "%d %d %d\n", 7*i%40, i%3, 30+3*i%12)
	}
	for i := range 40 {
		fmt.Fprintf(&numbered, "%d %d %d\n", i, i%3, (7*i+3)%40)
	}
	for title, members := range map[string][]string{
		"a multi-line adjacency list of NetworkX": {
			"# made by NetworkX\n#\nann 2\nbob {}\ncid {}\nbob 0\ncid 0\n",
			"1 1\n2 {'weight': 3, 'kind': 'x'}\n2 0\n",
			"a 2\nb\nc\nb 1\nc\nc 0\n",
			long("0 1\n1 {}\n"),
		},
		"a TGF file, with nodes above edges": {
			"1 Ann\n2 Bob\n#\n1 2 knows\n",
			"a\nb\nc\n#\na b\nb c\n",
			"1\tfirst node\n2\tsecond node\n3\n # \n1\t2\n2\t3\t0.5\n",
		},
		"a list of edges in brackets": {
			"(1,2)\n(2,3)\n", "(ann,bob)\n(bob,cid)\n", "((1,2),0.5)\n((2,3),1)\n", "[1, 2],\n[2, 3],\n", "[(1, 2), (2, 3)]\n",
			"Edge(1,2,1)\nEdge(2,3,1)\n", "Row(src='a', dst='b')\nRow(src='b', dst='c')\n", "edges = [(1, 2),\n  (2, 3)]\n",
			"tensor([[0, 1],\n        [1, 2]])\n", "[[" + long("0, 1], [")[2:],
		},
		"a dictionary of Python": {
			"{1: [2, 3], 2: [3]}\n", "{'ann': {'bob': {}}}\n", "graph = {'a': ['b'],\n  'b': []}\n", "defaultdict(<class 'list'>, {0: [1]})\n", "{(0, 0): [(0, 1)]}\n",
		},
		"a list of edges between tuples": {
			"(0, 0) (0, 1) {}\n(0, 1) (1, 1) {}\n", "(0, 0)\t(0, 1)\n", "('a', 1),('b', 2)\n",
		},
		"a node and a list in brackets on each line": {
			"ann ['bob', 'cid']\nbob []\n", "1: [2, 3]\n2: [3]\n", "node,neighbours\na,\"['b', 'c']\"\nb,\"['c']\"\n", "a {'b': {}}\nb {}\n", "1\t(2, 3)\n2\t(1, 3)\n", "1 {2, 3}\n",
		},
		"a DIMACS file": {
			"a 1 2 803\na 2 1 803\n", "c a comment\nc\ne 1 2\ne 2 3\n", "n 1 s\nn 4 t\na 1 2 5\na 2 4 6\n", "a 1 2 0 4 2\na 2 3 0 5 1\n",
		},
		"triples of OpenKE, below their number":           {"3\n0 1 0\n1 2 0\n0 2 1\n"},
		"triples of numbers, or edges with a weight":      {numbered.String(), tails.String()},
		"a node and a list of its neighbours in one cell": {"node\tneighbors\na\tb,c\nb\ta\nc\ta\n", "a;b c\nb;a\nc;a b\n", "ann,\"bob,cy\"\nbob,\"cy,ann\"\ncy,ann\n"},
		"a matrix of the NOS format":                      {"1\n3 3\n1 1 1 1 1 1\n0 1 0\n0 0 2\n0 0 0\n"},
		"a Harwell-Boeing file":                           {hb("RUA"), hb("psa"), hb("ISA")},
		"a table of vectors of word2vec": {
			"2 2\n0 0.583 1.915\n1 -0.2 1\n", "3 4\nking 1 2 3 4\nqueen 0.1 0.2 0.3 0.4\nman 1 1 1 1\n", "70000 2\n" + long("w -0.5 0.5\n"),
		},
		"an edge index of two lines, sources above targets": {
			"0 1 1 2\n1 0 2 1\n", "0,1,1,2,3\n1,0,2,1,4\n", long("17 4 23 "),
		},
		"a SIF file or triples, with the kind of an edge between its ends": {
			"A pp B\nB pp C\nC pd D\n", "1 knows 2\n2 knows 3\n", "00010011\t_kind_of\t00020022\n00030033\t_related_form\t00040044\n00020022\t_kind_of\t00030033\n", "x\tinhibits\ty\nz\tinhibits\tw\n", "/m/1 /film/genre /m/2\n/m/3 /film/actor /m/1\n/m/2 /film/genre /m/4\n",
		},
		"a sparse matrix as SciPy, MATLAB or Octave prints it": {
			"  (0, 1)\t1.0\n  (1, 2)\t2.0\n", "<Compressed Sparse Row sparse matrix of dtype 'float64'\n\twith 1 stored elements and shape (3, 3)>\n  Coords\tValues\n  (0, 1)\t1.0\n", "   (2,1)        1\n   (3,1)        1\n", "(1, 2) -> 0.5\n(2, 1) -> 0.5\n",
		},
		"edges with an arrow between source and target": {
			"a->b\nb->c\n", "a--b;\nb--c;\n", "Ann Lee\t->\tBob\n",
			"a -> b\nb -> c\n", "a -- b\nb -- c;\n", "a,--,b,2\nb,--,c,1\n", "x\t→\ty z\n",
		},
		"an adjacency matrix with ids": {
			",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n", "id;Ann;Bob;Cid\nAnn;0;0.5;\nBob;0.5;0;1\nCid;;1;0\n", "\"a\",\"b\",\"c\"\n\"a\",0,1,0\n\"b\",1,0,1\n\"c\",0,1,0\n",
		},
		"an adjacency matrix without ids": {
			"0,1,0,0\n1,0,1,0\n0,1,0,1\n0,0,1,0\n", "0 1 1\n1 0 1\n1 1 0\n", "0,2.5,0,0\n0,0,1,0\n0,0,0,1\n0,0,0,0\n", "0.0 1e0 0 0\n0 0 2 0\n0 0 0 3\n7 0 0 1\n", long(strings.Repeat("0 ", 200) + "1\n"),
		},
		"a list of neighbours behind each node": {
			"a: b c\nb: a d\nc: a\n", "1: 2\n2:\n",
		},
		"an adjacency list": {
			"0 1 2 3\n1 2\n2 3\n3\n", "a,b\nb,c\nc\n", "ann\tbob\tcid\tdan\nbob\tann\ncid\tann\ndan\tann\n",
		},
	} {
		for _, member := range members {
			if f := RecognizeText([]byte(member)); f == nil || f.Title != title || f.Remedy == "" {
				t.Errorf("%.60q: %v, want %s", member, f, title)
			}
		}
	}
}

// TestEdgeListsAreRead checks that no edge list is taken for another form.
func TestEdgeListsAreRead(t *testing.T) {
	star := ""
	for i := range 50 {
		star += fmt.Sprintf("a %d 1\n", i)
	}
	for _, list := range []string{
		"", "\n", "1 2\n", "a b\nb c\n", "1 2 3\n2 3 1\n3 1 2\n", "5\t6\n6\t7\n", star, "e 1 2\n", "2 3\n1 0.5 7\n",
		"%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n", "% asym\n% 2 3 3\n1 2\n2 3\n",
		"1 2 {'weight': 3}\n2 3 {}\n", "1,2,{}\n2,3,{}\n", "0 1\n# \n1 2\n", "# a\n#\n# b\n1 2\n2 3\n",
		"(R)-lactate\t(S)-lactate\n(2,4-D)-acid\t(R)-lactate\n", "(a)\t(b)\n(b)\t(c)\n", "[x]\t[y]\n", "{6F9619FF-8B86}\t{12345678-1234}\n",
		"ATP (human)\nADP (mouse)\n", "Smith,J (1999)\n", "a [::1]\nb [fe80::1]\n",
		"source\trelation\ttarget\na\tknows\tb\nb\tknows\tc\n", "ann\tbob\tfriend\nbob\tcid\tfriend\n", "von;nach;wert\na;b;2,5\nb;c;1,0\n",
		"1 comedy 3\n2 drama 30\n", "1 0 5\n2 0 9\n3 1 2\n4 1 7\n", "New York Boston\nBoston Salt Lake City\nMiami New York\n", "a b\nb c 2\nc a\n", "6,2,4,1289241911.7\n6,5,2,1289241941.5\n",
		"user,item,time,score\n1,2,3,4\n", "\"Smith, J\",\"Lee, A\"\n\"Lee, A\",\"Wu, B\"\n", "Found,Lost\na,b\n", "Moved to\n",
	} {
		if f := cmp.Or(Recognize("x.txt", []byte(list)), RecognizeText([]byte(list))); f != nil {
			t.Errorf("%.60q is taken for %s", list, f.Title)
		}
	}
}

// TestRemedies runs the remedies that are commands of sed and awk on a file, and compares the lines that they
// write.
func TestRemedies(t *testing.T) {
	for text, want := range map[string]string{
		"c\nc SOURCE: x\np edge 3 2\ne 1 2\ne 2 3\n": "1 2;2 3",
		"c\np max 4 4\nn 1 s\na 1 2 5\na 2 4 6\n":    "1 2 5;2 4 6",
		"p tw 3 2\n1 2\n2 3\n":                       "1 2;2 3",
		"(tlp \"2.3\"\n(nb_nodes 5)\n(nodes 0..4)\n(edge 0 0 3)\n(edge 1 3 0)\n(property 0 int \"x\")\n)":                "0 3;3 0",
		"@nodes\nlabel\n0\n1\n@arcs\n\t\tlabel\tcapacity\n0\t1\t0\t3\n1\t0\t1\t2\n@attributes\nsource 0\n":               "0 1;1 0",
		"#by hand\n\n@nodes\nlabel\n1\n2\n\n@edges\n\t\t-\n1\t2\n":                                                       "1 2",
		"LEDA.GRAPH\nstring\ndouble\n-1\n2\n|{ann}|\n|{bob}|\n2\n1 2 0 |{1.5}|\n2 1 0 |{4}|\n":                           "1 2 1.5;2 1 4",
		"# Created by Octave\n# name: D\n# type: sparse matrix\n# nnz: 2\n# rows: 6\n# columns: 6\n1 2 1\n3 2 0.5\n\n\n": "%%MatrixMarket matrix coordinate real general;6 6 2;1 2 1;3 2 0.5",
		"1,2\n2,3,3\n3,3\n4,1\n5\n":                              "1,2;2,3;2,3;3,3;4,1",
		"0 1 2 3\n1 2\n2 3\n3\n":                                 "0 1;0 2;0 3;1 2;2 3",
		"ann lee\tbob\tcid\tdan\nbob\tann lee\ncid\tbob\ndan\n":  "ann lee\tbob;ann lee\tcid;ann lee\tdan;bob\tann lee;cid\tbob",
		"3\n0 1 0\n1 2 0\n0 2 1\n":                               "0 1 0;1 2 0;0 2 1",
		"a -> b;\nb -> c;\n":                                     "a -> b;b -> c",
		"who,friends\nann,\"bob,cy\"\nbob,\"cy, ann\"\ncy,ann\n": "who,friends;ann,bob;ann,cy;bob,cy;bob,ann;cy,ann",
		"a;b,c\nb;c,a\nc;a|b\nd;a\n":                             "a;b;a;c;b;c;b;a;c;a;c;b;d;a",
	} {
		file := filepath.Join(t.TempDir(), "x.txt")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f := Recognize(file, []byte(text))
		if f == nil {
			f = RecognizeText([]byte(text))
		}
		command := regexp.MustCompile(`((sed|awk) .* FILE) > [a-z]+\.(txt|mtx)`)
		if f == nil || !command.MatchString(f.Remedy) {
			t.Errorf("%q: %+v", text, f)
			continue
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(command.FindStringSubmatch(f.Remedy)[1], "FILE", file)).CombinedOutput()
		if got := strings.ReplaceAll(strings.TrimSpace(string(out)), "\n", ";"); err != nil || got != want {
			t.Errorf("%s: %s gives %q, want %q; %v", f.Title, f.Remedy, got, want, err)
		}
	}
}
