package graphfile

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// fuzz checks that batches are valid, and that a multiple of the file size bounds memory and edges.
func fuzz(f *testing.F, format *Format, name string, seeds ...[]byte) {
	files, err := filepath.Glob(filepath.Join("testdata", "*"+filepath.Ext(name)))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) > 1500 {
			data = data[:1000] // short ones are mutated and minimised faster
		}
		f.Add(data)
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, o := range []Input{{}, {Directed: true}, {Undirected: true}} {
			o.Name, o.Text, o.File, o.Size = name, bytes.NewReader(data), bytes.NewReader(data), int64(len(data))
			numbers := uint64(0)
			g, err := Read(format, &o, func(b *Batch) error {
				if b.Edges && b.len()%2 != 0 || len(b.Weight) > 0 && len(b.Weight) != b.len()/2 || len(b.Number) > 0 && len(b.End) > 0 {
					t.Fatalf("%d ids, %d weights", b.len(), len(b.Weight))
				}
				for _, w := range b.Weight {
					if math.IsNaN(w) || math.IsInf(w, 0) || w < 0 || math.Signbit(w) {
						t.Fatalf("weight %g", w)
					}
				}
				for i := range b.End {
					if id := b.text(i); len(id) == 0 || bytes.ContainsAny(id, "\t\r\n\x00") {
						t.Fatalf("id %q", id)
					}
				}
				if b.Numbered {
					for _, n := range b.Number {
						numbers = max(numbers, n+1)
					}
				}
				return nil
			})
			if err == nil && g.Numbered && numbers > g.Nodes {
				t.Fatalf("position %d of %d", numbers-1, g.Nodes)
			}
		}
	})
}

func FuzzSciPy(f *testing.F) {
	fuzz(f, SciPy, "e.npz",
		csrFile(2, []int32{0, 1, 2}, []int32{1, 0}, []float64{1, 1}),
		csrFile(2, []int32{0, 1, -5}, []int32{1, 0}, []float64{1, 1}),
		npzFile("shape", npyFile(">i2", "(2,)", []int16{0, 512}), "row", npyFile("|u1", "(1,)", []byte{1}), "col", npyFile("|i1", "(1,)", []int8{0}), "data", npyFile("<f2", "(1,)", []uint16{0x3c00})))
}

func FuzzGraphML(f *testing.F) {
	fuzz(f, GraphML, "e.graphml", []byte(`<graphml><key id="w" for="edge" attr.name="weight"><default>2</default></key><graph edgedefault="directed"><node id="a"/><edge source="a" target="a" directed="false"/></graph></graphml>`))
}

func FuzzJSONLines(f *testing.F) {
	fuzz(f, JSONLines, "e.json", []byte(`{"type": "node", "id": "a", "x": [[{}]]} {"source": {"id": "a"}, "target": 7, "properties": {"weight": 2.5}}`))
}

func FuzzParquet(f *testing.F) {
	type edge struct {
		Source string  `parquet:"source,dict"`
		Target string  `parquet:"target"`
		Weight float64 `parquet:"weight"`
	}
	type numbered struct{ A, B int64 }
	fuzz(f, Parquet, "e.parquet", parquetFile(f, edge{"a", "b", 1}, edge{"c", "a", 2}), parquetFile(f, numbered{1, 2}))
}

func FuzzRecognize(f *testing.F) {
	f.Add([]byte("Creator \"x\" graph ["))
	f.Add([]byte("%\n*Vertices 1"))
	f.Add([]byte("\u00a0"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if got := Recognize("e", head); got == BVGraph {
			t.Errorf("%v by content", got)
		}
		_ = CheckRead("e", head)
	})
}
