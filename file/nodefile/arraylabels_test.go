package nodefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

func arrayFile(t *testing.T, descr string, values any, shape ...int) string {
	t.Helper()
	var b bytes.Buffer
	b.Write(npy.Header(descr, shape...))
	if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "y.npy")
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestArrayOfLabels(t *testing.T) {
	nodes := shard.NewNumericNodes(5)
	for _, path := range []string{
		arrayFile(t, "<i8", []int64{10, -1, 2, 10, -1}, 5),
		arrayFile(t, "|i1", []int8{10, -1, 2, 10, -1}, 5),
	} {
		l, err := ReadLabels(context.Background(), path, nodes, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Row, []int{0, 2, 3}) || !slices.Equal(l.Class, []int{0, 1, 0}) || !slices.Equal(l.Names, []string{"10", "2"}) || l.Unlabelled != 2 {
			t.Errorf("%+v", l)
		}
	}
	for _, c := range []struct{ path, want string }{
		{arrayFile(t, "<i8", []int64{1, 2}, 2), "an array of shape [2], and the graph has 5 nodes"},
		{arrayFile(t, "<i8", []int64{1, 2, 3, 4, 5}, 5, 1), "elements that are no integers, or several for a node"},
		{arrayFile(t, "<f8", []float64{1, 2, 3, 4, 5}, 5), "elements that are no integers"},
		{arrayFile(t, "<i8", []int64{1, 2, -3, 4, 5}, 5), "element 2 is -3; number the classes from 0"},
		{arrayFile(t, "<i8", []int64{-1, -1, -1, -1, -1}, 5), "no labels"},
		{arrayFile(t, "<i8", []int64{1, 2, 3, 4}, 5), "ends after"},
	} {
		if _, err := ReadLabels(context.Background(), c.path, nodes, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestArrays(t *testing.T) {
	ctx, nodes := context.Background(), shard.NewNumericNodes(4)
	rows, err := ReadIDs(ctx, arrayFile(t, "<i8", []int64{3, 0, 2}, 3), nodes, nil)
	if err != nil || !slices.Equal(rows, []int{3, 0, 2}) {
		t.Errorf("%v, %v", rows, err)
	}
	for _, positions := range [][]int64{{1, 1}, {-1, 2}, {4, 2}} {
		if _, err := ReadIDs(ctx, arrayFile(t, "<i8", positions, 2), nodes, nil); err == nil || !strings.Contains(err.Error(), "is repeated or no position of a node") {
			t.Error(err)
		}
	}
	v, err := ReadValues(ctx, arrayFile(t, "<f8", []float64{0.1, math.NaN(), -1, 0.1}, 4), nodes, nil)
	if err != nil || !slices.Equal(v.Row, []int{0, 2, 3}) || !slices.Equal(v.Value, []float64{0.1, -1, 0.1}) {
		t.Errorf("%+v, %v", v, err)
	}
	l, err := ReadLabels(ctx, arrayFile(t, "|i1", []int8{1, 0, 0, 0, 1, 1, 0, 1}, 4, 2), nodes, &LabelConfig{Several: true})
	if err != nil || !slices.Equal(l.Row, []int{0, 2, 2, 3}) || !slices.Equal(l.Names, []string{"0", "1"}) || !slices.Equal(l.Class, []int{0, 0, 1, 1}) {
		t.Errorf("%+v, %v", l, err)
	}
}
