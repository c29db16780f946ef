package method

import (
	"context"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// kernelCache keeps the values of the kernel that was used last, for predictions from many sets of labels on one graph,
// which then take their blocks out of them: those between all nodes and every node that may have a label. It may be used
// by several predictions at the same time.
type kernelCache struct {
	union   *Problem
	place   []int // of a node among the labelled ones of all, −1
	workers int

	mu     sync.Mutex
	values *kernelValues
}

// maxKept bounds the values of a kernel that are kept. It decides about last digits, so
// it does not depend on memory.
const maxKept = 64 << 20

// cachedKernelBytes returns the memory of the values of one kernel in a [kernelCache], for a graph
// with the given numbers of nodes and of nodes that may have a label; 0 if they are too large.
func cachedKernelBytes(nodes, labelled int) int64 {
	if bytes := 8 * int64(padded(nodes)) * int64(labelled); bytes <= maxKept {
		return bytes
	}
	return 0
}

// padded returns n rounded up to a multiple of four.
func padded(n int) int { return (n + 3) &^ 3 }

// newKernelCache returns a cache of kernel values on a graph, where union has every label that a prediction may have, or
// nil if the values of one kernel are too large.
func newKernelCache(union *Problem, workers int) *kernelCache {
	n := len(union.Degrees)
	if cachedKernelBytes(n, len(union.Row)) == 0 {
		return nil
	}
	k := &kernelCache{union: union, place: slices.Repeat([]int{-1}, n), workers: workers}
	for l, row := range union.Row {
		k.place[row] = l
	}
	return k
}

// kernelValues are the values of one kernel.
type kernelValues struct {
	name   string
	place  []int
	stride int
	value  []float64 // of labelled node l with node i at l·stride + i
}

// Of returns the values of a kernel, computed if they are not there.
func (k *kernelCache) Of(ctx context.Context, f *kernel.Family, v param.Values) (*kernelValues, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := f.Name + " " + f.Text(v)
	if k.values != nil && k.values.name == name {
		return k.values, nil
	}
	k.values = nil
	b, err := k.compute(ctx, f, v)
	if err == nil {
		b.name, k.values = name, b
	}
	return b, err
}

// ShareKernels gives methods, each with its settings, one cache of the values of a kernel for predictions from many sets of
// labels on one graph; union has every label that a prediction may have. tuned reports that parameters are chosen once
// for all predictions: a method that chooses its kernel inside each training set keeps no values, because each set may
// choose another. The result is the memory of the cache and of computing its values, 0 if no method uses it.
func ShareKernels(union *Problem, methods []Method, settings []*Settings, tuned bool) (bytes int64, err error) {
	shared := newKernelCache(union, settings[0].Workers)
	if shared == nil {
		return 0, nil
	}
	for i, m := range methods {
		if smoothed, ok := m.(smoothedMethod); ok {
			m = smoothed.Method
		}
		k, isKernel := m.(kernelMethod)
		if !isKernel || k.learner.Whole { // which has a block of its own
			continue
		}
		set := settings[i].WithDefaults()
		grid, err := kernelGrid(k.kernel, &set, kernel.OnDegrees(union.Degrees))
		if err != nil {
			return 0, err
		}
		if tuned || len(grid) == 1 {
			settings[i].kernels = shared
			bytes = max(bytes, k.kernel.GramsBytes(grid[:1], union.Degrees, union.A.NNZ(), union.Row, set.Memory))
		}
	}
	if bytes == 0 {
		return 0, nil
	}
	cached := cachedKernelBytes(len(union.Degrees), len(union.Row))
	for _, s := range settings {
		s.Memory = budget.Remaining(s.Memory, cached)
	}
	return bytes + 2*cached, nil
}

// compute returns the values of a kernel.
func (k *kernelCache) compute(ctx context.Context, f *kernel.Family, v param.Values) (*kernelValues, error) {
	union := *k.union // which others may use meanwhile
	g, err := union.Whole(ctx, k.workers, new(problem.Work))
	if err != nil {
		return nil, err
	}
	ks, err := f.NewAll(ctx, g, []param.Values{v})
	if err != nil {
		return nil, err
	}
	n, labelled := len(k.place), k.union.Row
	var unlabelled []int
	for i, l := range k.place {
		if l < 0 {
			unlabelled = append(unlabelled, i)
		}
	}
	grams, _, err := kernel.Grams(ctx, ks, labelled, unlabelled, nil)
	if err != nil {
		return nil, err
	}
	b := &kernelValues{place: k.place, stride: padded(n)}
	b.value = make([]float64, len(labelled)*b.stride)
	for a, i := range slices.Concat(labelled, unlabelled) {
		for l, x := range grams[0].Row(a) {
			b.value[l*b.stride+i] = x
		}
	}
	return b, nil
}

// row returns the values of a node that may have a label with all nodes, and zeros behind
// them up to a multiple of four.
func (b *kernelValues) row(node int) []float64 {
	return b.value[b.place[node]*b.stride:][:b.stride]
}

// Between returns the values between some nodes and some that may have a label.
func (b *kernelValues) Between(nodes, labelled []int) *sparse.Block[float64] {
	block := sparse.BlockOf(len(nodes), len(labelled), make([]float64, len(nodes)*len(labelled)))
	for j, l := range labelled {
		row := b.row(l)
		for i, node := range nodes {
			block.Row(i)[j] = row[node]
		}
	}
	return block
}

// imagesTo stores in y the decisions of the classifiers from number first on for all nodes, without
// their bias. Item i of the model is the node rows[i].
func (b *kernelValues) imagesTo(ctx context.Context, y *sparse.Block[float64], first int, m *classify.Model, rows []int, scale float64, workers int) error {
	return sched.Run(ctx, workers, (y.Rows+choose.NodesAtATime-1)/choose.NodesAtATime, func(_, i int) error {
		var sum [choose.NodesAtATime]float64
		lo, hi := i*choose.NodesAtATime, min((i+1)*choose.NodesAtATime, b.stride)
		for j := range y.Cols {
			choose.ImageTo(sum[:hi-lo], &m.Machines[first+j], scale, func(item int) []float64 { return b.row(rows[item])[lo:hi] })
			for r := lo; r < min(hi, y.Rows); r++ {
				y.Row(r)[j] = sum[r-lo]
			}
		}
		return nil
	})
}
