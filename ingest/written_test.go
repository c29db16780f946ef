package ingest

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/heatwalk/heatwalk/file/npy"
	_ "github.com/heatwalk/heatwalk/file/parquetfile"
)

func graphMLFile(name, first, second string) string {
	return `<graphml><key id="k" for="node" attr.name="` + name + `" attr.type="string"/><key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="directed">` +
		`<node id="n0"><data key="k">` + first + `</data></node><node id="n1"><data key="k">` + second + `</data></node>` +
		`<edge source="n0" target="n1"><data key="w">1.5</data></edge><edge source="n0" target="n1"/></graph></graphml>`
}

func archiveFile(t *testing.T, ending string, arrays map[string]any) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, values := range arrays {
		w, err := z.Create(name + ending)
		if err != nil {
			t.Fatal(err)
		}
		switch values := values.(type) {
		case string:
			_, err = w.Write(append(npy.Header(fmt.Sprintf("|S%d", len(values))), values...))
		case []byte: // small integers
			_, err = w.Write(append(npy.Header("|u1", len(values)), values...))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tableFile[T any](t *testing.T, rows ...T) string {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWhatOtherToolsWrite(t *testing.T) {
	type doubles struct {
		Source *float64 `parquet:"source,optional"`
		Target *float64 `parquet:"target,optional"`
		Weight *float64 `parquet:"weight,optional"`
	}
	one, two, huge := 1.0, 2.0, 1e5
	coo := map[string]any{"format": "coo", "shape": []byte{3, 3}, "row": []byte{0, 0, 1}, "col": []byte{1, 1, 2}, "data": []byte{3, 4, 5}}
	gcxs := map[string]any{"shape": []byte{3, 3}, "indptr": []byte{0, 1, 2, 2}, "indices": []byte{1, 2}, "data": []byte{3, 4}, "fill_value": []byte{0}, "compressed_axes": []byte{1}}
	const directed = "directed "
	tests := map[string]struct {
		name, content string
		want          string // edges with their weights, or the beginning of the error
	}{
		"igraph 0.10.2 (Python), 1.3.5 (R), GraphML":   {"g.graphml", graphMLFile("id", "ann", "bob"), directed + "ann-bob 2.5"},
		"igraph, edge list":                            {"g.txt", "0 1\n1 2\n", "0-1 1 1-2 1"},
		"igraph, ncol and LGL":                         {"g.ncol", "ann bob 1.5\n", "ann-bob 1.5"},
		"R 4.2.2, `write.csv`":                         {"g.csv", "\"\",\"from\",\"to\"\n\"1\",1e+05,3\n\"2\",3,100000\n", "3-100000 1"},
		"R Matrix 1.5.3, `writeMM`":                    {"g.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 .3333\n3 2 1e308\n", "1-2 0.3333 2-3 1e+308"},
		"NumPy 1.24, `savetxt`":                        {"g.txt", "0.000000000000000000e+00 1.000000000000000000e+00\n1.000000000000000000e+00 1.000000000000000000e+01\n", "0-1 1 1-10 1"},
		"SciPy 1.10.1, `save_npz`":                     {"g.npz", archiveFile(t, ".npy", coo), directed + "0-1 7 1-2 5"},
		"sparse 0.13 (pydata), `save_npz`":             {"g.npz", archiveFile(t, ".npy", gcxs), "a matrix of the package sparse (pydata)"},
		"Octave 7.3, `save` of a sparse matrix":        {"g.txt", "# Created by Octave 7.3.0\n# name: D\n# type: sparse matrix\n# nnz: 2\n# rows: 6\n# columns: 6\n1 2 1\n2 3 1\n", "1-2 1 2-3 1"},
		"Octave 7.3, `save -ascii`":                    {"g.txt", " 1.00000000e+00 2.00000000e+00 5.00000000e-01\n 2.00000000e+00 1.00000000e+01 3.00000000e+00\n", "1-2 0.5 2-10 3"},
		"PETSc, Matrix Market":                         {"g.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 2.\n2 3 0.\n3 1 1.5\n", directed + "1-2 2 3-1 1.5"},
		"graph-tool 2.45, GraphML":                     {"g.graphml", graphMLFile("_graphml_vertex_id", "ann", "bob"), directed + "ann-bob 2.5"},
		"Neo4j, `apoc.export.json`":                    {"g.json", `{"type":"node","id":"0","labels":["P"],"properties":{"name":"Ann"}}` + "\n" + `{"type":"relationship","id":"0","label":"pays","properties":{"weight":4},"start":{"id":"0","labels":["P"]},"end":{"id":"1"}}` + "\n", "0-1 4"},
		"DuckDB 1.5.6, Parquet":                        {"g.parquet", tableFile(t, doubles{&one, &huge, &two}, doubles{&two, nil, nil}), "1-100000 2"},
		"nodejs-polars 0.25.2, Parquet":                {"g.parquet", tableFile(t, doubles{&one, &two, &one}), "1-2 1"},
		"npyio 0.14.0, `.npz`":                         {"g.npz", archiveFile(t, "", coo), directed + "0-1 7 1-2 5"},
		"METIS of Debian 12, Scotch 7.0.3 (`gcv -oc`)": {"g.graph", " 3 2 000\n2\n1 3\n2", "a METIS graph, which is not read"},
	}
	page, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## What other tools write")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, " | "); len(cells) == 6 && cells[0] != "| tool and file" {
			rows = append(rows, strings.TrimPrefix(cells[0], "| "))
		}
	}
	if len(rows) != len(tests) {
		t.Errorf("%d rows, want %d", len(rows), len(tests))
	}
	for _, row := range rows {
		test, isTested := tests[row]
		if !isTested {
			t.Errorf("no file of %s", row)
			continue
		}
		dir, _, err := ingestInto(t, nil, write(t, file{test.name, test.content})...)
		got := ""
		if err != nil {
			got = strings.TrimSpace(strings.TrimPrefix(strings.SplitAfterN(err.Error(), test.name, 2)[1], ":"))
		} else {
			g := load(t, dir)
			var edges []string
			for ends, weight := range g.out {
				if g.directed || slices.Index(g.ids, ends[0]) <= slices.Index(g.ids, ends[1]) {
					edges = append(edges, fmt.Sprintf("%s-%s %v", ends[0], ends[1], weight))
				}
			}
			slices.Sort(edges)
			if got = strings.Join(edges, " "); g.directed {
				got = directed + got
			}
		}
		if err == nil && got != test.want || err != nil && !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s, want %s", row, got, test.want)
		}
	}
}
