package tablefile

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func TestMappedRows(t *testing.T) {
	const rows, cols = 40, 3
	half := make([]byte, 0, 2*rows*cols)
	for i := range rows * cols {
		half = binary.LittleEndian.AppendUint16(half, 0x3c00+uint16(i)) // 1 + i/1024
	}
	spoiled := slices.Clone(half)
	binary.LittleEndian.PutUint16(spoiled[2*(7*cols+1):], 0x7e00)
	double := make([]byte, 0, 8*rows*cols)
	for i := range rows * cols {
		double = binary.LittleEndian.AppendUint64(double, math.Float64bits(1+float64(i)/1024))
	}
	var ids []string
	for i := range rows {
		ids = append(ids, strconv.Itoa(i))
	}
	reversed := slices.Clone(ids)
	slices.Reverse(reversed)
	fewer := append([]string{"x"}, ids[1:]...)
	for _, c := range []struct {
		name, head string
		body       []byte
		nodes, ids []string // nil ids: none
		err        string
	}{
		{name: "float16", head: "<f2", body: half, nodes: ids},
		{name: "float64", head: "<f8", body: double, nodes: ids},
		{name: "other order", head: "<f2", body: half, nodes: ids, ids: reversed},
		{name: "unknown node", head: "<f2", body: half, nodes: fewer, ids: ids, err: `"0" is not in the graph`},
		{name: "other nodes", head: "<f2", body: half, nodes: ids[1:], err: "is missing; write there the ids"},
		{name: "more rows", head: "<f2", body: half, nodes: ids[:39], err: "40 rows, but the graph has 39 nodes; give each node a row"},
		{name: "no number", head: "<f2", body: spoiled, nodes: ids, err: "element [7, 1] = NaN is not a number; replace it"},
		{name: "complex", head: "<c8", body: double, nodes: ids, err: "save"},
		{name: "truncated", head: "<f2", body: half[:100], nodes: ids, err: "its header requires"},
		{name: "by columns", head: "<f2", body: half, nodes: ids, err: "stored by columns; save numpy.ascontiguousarray of it"},
	} {
		path := filepath.Join(t.TempDir(), "x.npy")
		head := npy.Header(c.head, rows, cols)
		if c.name == "by columns" {
			head = []byte(strings.Replace(string(head), "False", "True ", 1))
		}
		if err := os.WriteFile(path, append(head, c.body...), 0o666); err != nil {
			t.Fatal(err)
		}
		if c.ids != nil {
			if err := os.WriteFile(strings.TrimSuffix(path, "npy")+"rows.ids", []byte(strings.Join(c.ids, "\n")), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		nodes, err := shard.StringNodes(slices.Values(c.nodes))
		if err != nil {
			t.Fatal(err)
		}
		f, err := ReadFeatures(t.Context(), path, nodes, &FeatureConfig{Memory: 3000})
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.name, err, c.err)
			}
			continue
		}
		if f.Table.Source == nil || f.Table.Entries != rows*cols || f.Table.Present != rows {
			t.Errorf("%s: %+v", c.name, f.Table)
		}
		r := f.Table.Reader()
		for _, i := range []int{5, 6, 7, 8, 39, 0, 1, 2} {
			row := i
			if c.ids != nil {
				row = rows - 1 - i
			}
			if _, values := r.Row(row); !slices.Equal(values, []float32{1 + float32(3*i)/1024, 1 + float32(3*i+1)/1024, 1 + float32(3*i+2)/1024}) {
				t.Errorf("%s: row %d is %v", c.name, row, values)
			}
		}
		if err := os.Truncate(path, 130); err != nil {
			t.Fatal(err)
		}
		if _, values := r.Row(20); slices.Max(values) != 0 || f.Table.Err() == nil {
			t.Errorf("%s: a row of a truncated file is %v", c.name, values)
		}
	}
}
