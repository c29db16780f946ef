package ingest

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/input"
)

func TestFilesOfTools(t *testing.T) {
	for _, test := range []struct {
		file    string
		c       Config
		nodes   int
		edges   int64
		weight  float64 // sum of the weights
		ids     string  // the first ids, joined by |
		columns string
		warning string
		err     string // instead of all other fields
	}{
		{file: "pandas-default.csv", nodes: 34, edges: 78, weight: 78, columns: "source → source, target → target; skipped the index column"},
		{file: "pandas-default.csv", c: Config{Fields: []string{"target", "source"}}, nodes: 34, edges: 78, weight: 78, columns: "target → source, source → target; skipped the index column"},
		{file: "pandas-index-false.csv", nodes: 3, edges: 3, weight: 3.5, ids: "ann|bob|cid", columns: "source → source, target → target, weight → weight"},
		{file: "pandas-no-names.csv", nodes: 3, edges: 3, weight: 3.5, ids: "ann|bob|cid", columns: "0 → source, 1 → target, 2 → weight; skipped the index column"},
		{file: "pandas-saved-twice.csv", nodes: 3, edges: 3, weight: 3.5, ids: "1|2|3", columns: "src → source, dst → target, w → weight; skipped the index column"},
		{file: "pandas-sep-tab.tsv", nodes: 3, edges: 3, weight: 3, ids: "ann |bob|cid", columns: "source → source, target → target", warning: "pandas-sep-tab.tsv:2: blanks around ids (2, this is the first) were kept, but for those around integers"},
		{file: "pandas-named-oddly.csv", err: `pandas-named-oddly.csv:1: cannot determine source and target: 1 (0, 1), 2 a (1, 2), 3 b (2, 3), 4 kind (x, y); pass option fields=a,b`},
		{file: "pandas-named-oddly.csv", c: Config{Fields: []string{"a", "b"}}, nodes: 3, edges: 2, weight: 2, ids: "1|2|3", columns: "a → source, b → target; skipped the index column; ignored: kind"},
		{file: "networkx-edgelist.txt", nodes: 3, edges: 3, weight: 3, ids: "1|2|3", columns: "column 1 → source, column 2 → target"},
		{file: "networkx-weights.edgelist", nodes: 3, edges: 3, weight: 4.5, ids: "1|2|3", columns: "column 1 → source, column 2 → target, attribute weight → weight"},
		{file: "networkx-weights.edgelist", c: Config{Fields: []string{"1", "2"}}, nodes: 3, edges: 3, weight: 3, ids: "1|2|3", columns: "column 1 → source, column 2 → target"},
		{file: "networkx-attributes.edgelist", nodes: 3, edges: 3, weight: 6, ids: "1|2|3", columns: "column 1 → source, column 2 → target, attribute weight → weight",
			warning: "networkx-attributes.edgelist:3: the weight is missing on 1 edge and taken as 1; write a weight for every edge"},
		{file: "networkx-comma.csv", nodes: 3, edges: 2, weight: 5, ids: "ann|bob|cid", columns: "column 1 → source, column 2 → target, attribute weight → weight"},
		{file: "networkx-weighted.txt", nodes: 3, edges: 3, weight: 4.5, ids: "0|1|2", columns: "column 1 → source, column 2 → target, column 3 → weight"},
		{file: "snap.txt", nodes: 4, edges: 3, weight: 3, ids: "0|11342|309564|824020", columns: "column 1 → source, column 2 → target"},
		{file: "snap-temporal.txt", err: "snap-temporal.txt:1: column 3 may have times; pass option fields=1,2 option time-format=3:unix to keep the times, or option fields=1,2 to leave them out, or option fields=1,2,3 for weights"},
		{file: "snap-temporal.txt", c: Config{Fields: []string{"1", "2", "3"}}, nodes: 5, edges: 3, weight: 1217567877 + 1217606247 + 1217617639, columns: "column 1 → source, column 2 → target, column 3 → weight"},
		{file: "snap-reddit.tsv", c: Config{Fields: []string{"SOURCE_SUBREDDIT", "TARGET_SUBREDDIT"}}, nodes: 4, edges: 2, weight: 2, ids: "leagueoflegends|teamredditteams|theredlion|soccer",
			columns: "SOURCE_SUBREDDIT → source, TARGET_SUBREDDIT → target; ignored: POST_ID, TIMESTAMP (times), LINK_SENTIMENT, PROPERTIES"},
		{file: "snap-bitcoin.csv", err: "snap-bitcoin.csv:1: cannot determine source and target: 1 (6, 6), 2 (2, 5), 3 (4, 2), 4 (1289241911.72836, 1289241941.53378); pass option fields=1,2,3"},
		{file: "snap-bitcoin.csv", c: Config{Fields: []string{"1", "2", "3"}}, nodes: 3, edges: 2, weight: 6, ids: "2|5|6", columns: "column 1 → source, column 2 → target, column 3 → weight; ignored: column 4 (times)"},
		{file: "snap-musae.csv", nodes: 5, edges: 3, weight: 3, ids: "0|1|2370", columns: "id_1 → source, id_2 → target"},
		{file: "konect-out.txt", nodes: 3, edges: 3, weight: 7, ids: "1|2|3", columns: "column 1 → source, column 2 → target, column 3 → weight; ignored: column 4 (times)"},
		{file: "neo4j-admin.csv", nodes: 3, edges: 2, weight: 2.5, ids: "p1|p2|p3", columns: ":START_ID(Person) → source, :END_ID(Person) → target, weight:float → weight; ignored: since:int, :TYPE"},
		{file: "neo4j-apoc.csv", c: Config{Fields: []string{"_start", "_end"}}, nodes: 2, edges: 1, weight: 1, ids: "0|1", columns: "_start → source, _end → target; ignored: _id, _labels, name, _type",
			warning: "neo4j-apoc.csv:2: 2 lines left out for a missing end; fix such lines, and remove lines of totals, whose other ends are nodes too"},
		{file: "gephi-edges.csv", nodes: 3, edges: 2, weight: 3.5, ids: "ann|bob|cid", columns: "Source → source, Target → target, Weight → weight; ignored: Type, Id, Label, timeset"},
		{file: "igraph.ncol", nodes: 3, edges: 2, weight: 3.5, ids: "ann|bob|cid", columns: "column 1 → source, column 2 → target, column 3 → weight"},
		{file: "igraph-edgelist.txt", nodes: 3, edges: 3, weight: 3, ids: "0|1|2", columns: "column 1 → source, column 2 → target"},
		{file: "r-write-csv.csv", nodes: 3, edges: 2, weight: 2.5, ids: "Ann Lee|Bob|Cid ", columns: "from → source, to → target, weight → weight; skipped the index column"},
		{file: "r-write-table.txt", nodes: 3, edges: 2, weight: 2.5, ids: "Ann Lee|Bob|Cid", columns: "from → source, to → target, weight → weight; skipped the index column"},
		{file: "r-matrix.csv", c: Config{Header: 1}, nodes: 3, edges: 2, weight: 2, ids: "ann|bob|cid", columns: "V1 → source, V2 → target"},
		{file: "sheet-english.csv", nodes: 3, edges: 2, weight: 3.5, ids: "Lee, Ann|Bob|Cid", columns: "From → source, To → target, Amount → weight",
			warning: "sheet-english.csv:3: blanks around ids (1, this is the first) were taken off; quote an id to keep them"},
		{file: "sheet-german.csv", c: Config{Text: input.Text{Decimal: ","}}, nodes: 3, edges: 2, weight: 3.5, ids: "Ann|Bob|Cid", columns: "Source → source, Target → target, Weight → weight"},
		{file: "sheet-dates.csv", nodes: 3, edges: 2, weight: 2, ids: "1|2|3", columns: "from → source, to → target; ignored: date (times)"},
		{file: "bank.csv", nodes: 3, edges: 3, weight: 20.5, ids: "a1|a2|a3", columns: "payer → source, payee → target, amount → weight; ignored: time (times), channel, note"},
		{file: "unnamed.csv", err: `unnamed.csv:1: cannot determine source and target: 1 a (1, 2), 2 b (2, 3), 3 kind (friend, foe); pass option fields=a,b`},
		{file: "unnamed.csv", c: Config{Fields: []string{"a", "c"}}, err: `unnamed.csv:1: the header "a,b,kind" has no column "c"; correct option fields`},
		{file: "correlation.csv", nodes: 3, edges: 2, weight: 1.6, ids: "7|8|9", columns: "gene1_id → source, gene2_id → target, corr → weight"},
		{file: "alone.graph", err: "alone.graph: no text; a BVGraph needs alone.properties; put that file next to it"},
		{file: "webgraph.graph", nodes: 3, edges: 3, weight: 1.5, ids: "0|1|2"},
	} {
		t.Run(test.file+strings.Join(test.c.Fields, ","), func(t *testing.T) {
			folder := filepath.Join("testdata", "tools") + string(filepath.Separator)
			dir, report, err := ingestInto(t, &test.c, folder+test.file)
			if err != nil || test.err != "" {
				if err == nil || strings.ReplaceAll(err.Error(), folder, "") != test.err {
					t.Errorf("\n got %v\nwant %s", err, test.err)
				}
				return
			}
			g := load(t, dir)
			total := 0.0
			for _, w := range g.out {
				total += w / 2
			}
			if len(g.ids) != test.nodes || report.Edges != test.edges || math.Abs(total-test.weight) > 1e-9 {
				t.Errorf("%d nodes, %d edges of weight %v, want %d, %d, %v", len(g.ids), report.Edges, total, test.nodes, test.edges, test.weight)
			}
			if ids := strings.Join(g.ids, "|"); !strings.HasPrefix(ids, test.ids) {
				t.Errorf("ids %s, want %s", ids, test.ids)
			}
			if got := report.Files[0].Columns.String(); got != test.columns {
				t.Errorf("columns: %s, want %s", got, test.columns)
			}
			var want []string
			if test.warning != "" {
				want = append(want, folder+test.warning)
			}
			if !slices.Equal(report.Warnings, want) {
				t.Errorf("warnings %q, want %q", report.Warnings, want)
			}
		})
	}
}
