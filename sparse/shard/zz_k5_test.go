package shard

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
)

func packed[T sparse.Float](rows, cols, stride int) *sparse.Block[T] {
	b := sparse.NewBlock[T]((rows*stride+63)/8, 8)
	x := &sparse.Block[T]{Rows: rows, Cols: cols, Stride: stride, Data: b.Data[:rows*stride]}
	for i := range rows {
		for j := range cols {
			x.Row(i)[j] = T((i+j)%17 + 1)
		}
	}
	return x
}

func k5[T sparse.Float](a sparse.Matrix, cols int, strides ...int) {
	n, _ := a.Dims()
	var ops []func()
	for _, s := range strides {
		x, y := packed[T](n, cols, s), packed[T](n, cols, s)
		op := &sparse.Operator[T]{A: a, Workers: 1}
		ops = append(ops, func() { must(0, op.ApplyTo(bg, y, x)) })
	}
	best := make([]float64, len(ops))
	reps := 10
	if n < 500000 {
		reps = 200
	}
	for r := range reps {
		for i, op := range ops {
			s := cpu()
			op()
			d := cpu() - s
			if r > 0 && (best[i] == 0 || d < best[i]) {
				best[i] = d
			}
		}
	}
	var t T
	fmt.Printf("%T k=%d strides %v: %.2f ms\n", t, cols, strides, best)
}

func TestK5(t *testing.T) {
	dir := os.Getenv("AB")
	if dir == "" {
		t.Skip()
	}
	runtime.LockOSThread()
	mem := must(Open(bg, dir, &Options{Workers: 1}))
	raw := must(sparse.Load(bg, mem, 1))
	for _, k := range []int{5, 6} {
		k5[float32](raw, k, k, sparse.Stride[float32](k))
		k5[float64](raw, k, k, sparse.Stride[float64](k))
	}
	for _, k := range []int{} {
		k5[float32](raw, k, k, sparse.Stride[float32](k))
	}
}
