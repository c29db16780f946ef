package graphs

import (
	"context"
	"maps"
	"slices"
)

// features holds a sparse vector for each graph; the kernel is their inner product.
type features struct {
	graph  []entries // features of each graph
	ptr    []int     // the entries of feature x in having are ptr[x] to ptr[x+1]
	having entries   // graphs with each feature
}

type entries struct {
	index []int32
	value []float64
}

func entriesOf(sums map[int32]float64) entries {
	e := entries{make([]int32, 0, len(sums)), make([]float64, 0, len(sums))}
	for _, index := range slices.Sorted(maps.Keys(sums)) {
		e.index = append(e.index, index)
		e.value = append(e.value, sums[index])
	}
	return e
}

// dot returns Σ_x μ(x)e(x)f(x) over the features x. μ is the measure, or 1 if measure is nil.
func (e *entries) dot(f *entries, measure []float64) (sum float64) {
	a := 0
	for b, x := range f.index {
		for a < len(e.index) && e.index[a] < x {
			a++
		}
		if a == len(e.index) {
			break
		}
		if e.index[a] == x {
			product := e.value[a] * f.value[b]
			if measure != nil {
				product *= measure[x]
			}
			sum += float64(product)
		}
	}
	return sum
}

func newFeatures(graph []entries, count int) *features {
	f := &features{graph: graph, ptr: make([]int, count+1)}
	for _, e := range graph {
		for _, x := range e.index {
			f.ptr[x+1]++
		}
	}
	for x := range count {
		f.ptr[x+1] += f.ptr[x]
	}
	f.having = entries{make([]int32, f.ptr[count]), make([]float64, f.ptr[count])}
	for i, e := range graph {
		for a, x := range e.index {
			slot := f.ptr[x]
			f.having.index[slot], f.having.value[slot] = int32(i), e.value[a]
			f.ptr[x]++
		}
	}
	copy(f.ptr[1:], f.ptr) // ptr[x+1] is now the begin of row x
	f.ptr[0] = 0
	return f
}

// RowTo implements [Rows]. It adds products in the order of features.
func (f *features) RowTo(_ context.Context, _ int, dst []float64,
	i, lo, hi int) error {
	clear(dst)
	sums := f.graph[i]
	for a, x := range sums.index {
		value := sums.value[a]
		graphs := f.having.index[f.ptr[x]:f.ptr[x+1]]
		values := f.having.value[f.ptr[x]:f.ptr[x+1]]
		start, _ := slices.BinarySearch(graphs, int32(lo))
		for b := start; b < len(graphs) && int(graphs[b]) < hi; b++ {
			dst[int(graphs[b])-lo] += float64(value * values[b])
		}
	}
	return nil
}

const featureBytes = 2*12 + 8

type interner[K comparable] map[K]int32

func (in interner[K]) of(key K) int32 {
	n, ok := in[key]
	if !ok {
		n = int32(len(in))
		in[key] = n
	}
	return n
}
