package ingest

import (
	"slices"
	"strings"
	"testing"
)

func TestBipartite(t *testing.T) {
	const movies = "user_id,movie_id,rating\n1,1,5\n1,2,3\n2,1,3\n"
	for _, test := range []struct {
		text   string
		fields []string
		ids    string
		warned bool // a warning without Bipartite
	}{
		{movies, []string{"user_id", "movie_id", "rating"}, "user_id:1 movie_id:1 movie_id:2 user_id:2", true},
		{"user_id,item_id\n1,1\n1,2\n2,1\n", nil, "user_id:1 item_id:1 item_id:2 user_id:2", true},
		{"customer;product\nann;x\nbob;x\nx;bob\n", []string{"customer", "product"}, "customer:ann product:x customer:bob customer:x product:bob", false},
		{"Author ID\tPaper ID\n7\t7\n7\t8\n", nil, "Author ID:7 Paper ID:7 Paper ID:8", true},
		{"% bip unweighted\n1 1\n1 2\n", nil, "source:1 target:1 target:2", true},
		{"user,item\nann,tea\nbob,mate\n", []string{"user", "item"}, "user:ann item:tea user:bob item:mate", false},
		{"1,1\n1,2\n2,1\n", nil, "source:1 target:1 target:2 source:2", false},
		{"source,target\n1,2\n2,3\n", nil, "source:1 target:2 source:2 target:3", false},
		{"user_id,friend_id\n1,2\n2,3\n", nil, "user_id:1 friend_id:2 user_id:2 friend_id:3", false},
		{"protein_a,protein_b\n1,2\n2,3\n", nil, "protein_a:1 protein_b:2 protein_a:2 protein_b:3", false},
		{"from_user,to_user\n1,2\n2,3\n", nil, "from_user:1 to_user:2 from_user:2 to_user:3", false},
		{"Quelle,Ziel\n1,2\n2,3\n", nil, "Quelle:1 Ziel:2 Quelle:2 Ziel:3", false},
		{"1 2 {'weight': 3}\n2 3 {}\n", nil, "source:1 target:2 source:2 target:3", false},
	} {
		in := file{"e.txt", test.text}
		for _, workers := range []int{1, 4} {
			g, report := read(t, &Config{Fields: test.fields, Bipartite: true, Workers: workers}, in)
			if ids := strings.Join(g.ids, " "); ids != test.ids || report.SelfLoops > 0 || report.Edges != int64(len(g.out)/2) {
				t.Errorf("%q: ids %s, want %s", test.text, ids, test.ids)
			}
		}
		_, report := read(t, &Config{Fields: test.fields}, in)
		warned := slices.ContainsFunc(report.Warnings, func(w string) bool {
			return strings.HasSuffix(w, ", and equal ids are one node; option bipartite keeps them apart")
		})
		if warned != test.warned {
			t.Errorf("%q: warnings %q", test.text, report.Warnings)
		}
	}
	wantError(t, &Config{Bipartite: true}, []file{{"g.graphml", graphMLText("undirected", "1 2")}}, "option bipartite: is for tables of edges; g.graphml is a GraphML file; leave it out")
}
