package ingest

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func matrixFile(t *testing.T, name string, arrays map[string]any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var archive *npy.ArchiveWriter
	var file bytes.Buffer
	if filepath.Ext(name) == ".npz" {
		archive = npy.NewArchive(&file)
	} else if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	for member, values := range arrays {
		var b bytes.Buffer
		descr := map[reflect.Kind]string{
			reflect.Int32: "<i4", reflect.Int64: "<i8", reflect.Float32: "<f4", reflect.Float64: "<f8", reflect.Bool: "|b1",
		}[reflect.TypeOf(values).Elem().Kind()]
		b.Write(npy.Header(descr, reflect.ValueOf(values).Len()))
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
		if archive == nil {
			if err := os.WriteFile(filepath.Join(path, member+".npy"), b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		w, err := archive.Member(member)
		if err == nil {
			_, err = w.Write(b.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if archive != nil {
		if err := archive.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestLoad(t *testing.T) {
	ctx := context.Background()
	// The path 0 – 1 – 2 and the isolated node 3.
	ptr, col := []int32{0, 1, 3, 4, 4}, []int32{1, 0, 2, 1}
	for _, c := range []struct {
		name   string
		arrays map[string]any
		config Config
		loaded bool
	}{
		{"pattern", map[string]any{"indptr": ptr, "indices": col}, Config{}, true},
		{"ones", map[string]any{"indptr": ptr, "indices": col, "data": []float64{1, 1, 1, 1}}, Config{}, true},
		{"wide", map[string]any{"indptr": []int64{0, 1, 3, 4, 4}, "indices": []int64{1, 0, 2, 1}, "data": []int64{1, 1, 5, 5}}, Config{Order: AutoOrder}, true},
		{"bool", map[string]any{"indptr": ptr, "indices": col, "data": []bool{true, true, true, true}}, Config{}, true},
		{"single", map[string]any{"indptr": ptr, "indices": col, "data": []float32{1.5, 1.5, 1, 1}}, Config{Undirected: true}, true},
		{"double", map[string]any{"indptr": ptr, "indices": col, "data": []float64{1, 1, 0.1, 0.1}}, Config{}, true},
		{"rounded", map[string]any{"indptr": ptr, "indices": col, "data": []float64{1, 1, 0.1, 0.1 + 1e-16}}, Config{}, true},
		{"loop kept", map[string]any{"indptr": []int32{0, 2, 3}, "indices": []int32{0, 1, 0}}, Config{KeepLoops: true}, true},
		{"loop dropped", map[string]any{"indptr": []int32{0, 2, 3}, "indices": []int32{0, 1, 0}}, Config{}, false},
		{"unsorted", map[string]any{"indptr": ptr, "indices": []int32{1, 2, 0, 1}}, Config{}, false},
		{"directed", map[string]any{"indptr": ptr, "indices": []int32{1, 0, 2, 0}}, Config{}, false},
		{"to be directed", map[string]any{"indptr": ptr, "indices": col}, Config{Directed: true}, false},
		{"other order", map[string]any{"indptr": ptr, "indices": col}, Config{Order: DegreeOrder}, false},
		{"zero", map[string]any{"indptr": ptr, "indices": col, "data": []float64{1, 1, 0, 0}}, Config{}, false},
		{"large", map[string]any{"indptr": ptr, "indices": col, "data": []int64{1, 1, 1<<53 + 1, 1<<53 + 1}}, Config{}, false},
		{"small memory", map[string]any{"indptr": ptr, "indices": col}, Config{Memory: 400}, false},
		{"negative column", map[string]any{"indptr": ptr, "indices": []int32{1, -4, 2, 1}}, Config{}, false},
		{"short", map[string]any{"indptr": ptr, "indices": col[:3]}, Config{}, false},
	} {
		for _, name := range []string{"a.npz", "a.csr"} {
			path := matrixFile(t, name, c.arrays)
			config := c.config
			s, report, err := Load(ctx, path, &config)
			if err != nil || (s != nil) != c.loaded {
				t.Errorf("%s, %s: loaded %t, %v", c.name, name, s != nil, err)
				continue
			}
			if IsStore(path) || !Loads(path) {
				t.Errorf("%s, %s: not recognized", c.name, name)
			}
			config.Memory = 0
			dir := filepath.Join(t.TempDir(), "graph")
			want, err := Run(ctx, dir, []string{path}, &config)
			if !c.loaded {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			store, err := shard.Open(ctx, dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := triplets(t, s), triplets(t, store); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %v, want %v", c.name, name, got, want)
			}
			if !reflect.DeepEqual(s.Degrees, store.Degrees) || s.Manifest.Edges() != store.Manifest.Edges() || s.Manifest.Weighted != store.Manifest.Weighted ||
				!reflect.DeepEqual(s.Manifest.Options, store.Manifest.Options) || s.Manifest.SelfLoops != store.Manifest.SelfLoops {
				t.Errorf("%s, %s: %+v, want %+v", c.name, name, s.Manifest, store.Manifest)
			}
			for _, r := range []*Report{report, want} {
				r.Seconds, r.SecondsRead, r.SecondsSync, r.PeakBytes, r.Store, r.Bytes, r.Files[0].Bytes = 0, 0, 0, 0, nil, 0, 0
			}
			if !reflect.DeepEqual(report, want) {
				t.Errorf("%s, %s: %+v, want %+v", c.name, name, report, want)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func triplets(t *testing.T, a sparse.Matrix) (all []sparse.Triplet) {
	t.Helper()
	err := sparse.Sweep(context.Background(), a, 1, func(_ int, p sparse.Panel) error {
		for i := p.Lo; i < p.Hi; i++ {
			col, val := p.Row(i - p.Lo)
			for e, c := range col {
				v := 1.0
				if val != nil {
					v = val[e]
				}
				all = append(all, sparse.Triplet{Row: uint32(i), Col: c, Val: v})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
