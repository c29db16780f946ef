package method

import (
	"context"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// Kernels keeps values of kernels for predictions from many sets of labels on one graph,
// which then take their blocks out of them: those between all nodes and every node that
// may have a label. It may be used by several predictions at the same time.
type Kernels struct {
	all     *Problem
	place   []int // of a node among the labelled ones of all, −1
	workers int
	memory  int64 // for the values, 0: no limit

	mu   sync.Mutex
	kept []*keptKernel // the one that was used last at the end
}

// maxKept bounds the values of a kernel that are kept. It decides about last digits, so
// it does not depend on memory.
const maxKept = 64 << 20

// keptBytes is what the values of one kernel take that [Kernels] keeps, 0 if it keeps
// none of a graph with so many nodes, as many of which may have a label.
func keptBytes(nodes, labelled int) int64 {
	if bytes := 8 * int64(padded(nodes)) * int64(labelled); bytes <= maxKept {
		return bytes
	}
	return 0
}

// padded returns n rounded up to a multiple of four.
func padded(n int) int { return (n + 3) &^ 3 }

// NewKernels returns a place for the values of kernels on a graph, with the labels that
// any of the predictions may have, or nil if they are too large to keep. Of a memory that
// is smaller than what they take, values that were not used for long are given back, but
// for one kernel.
func NewKernels(all *Problem, memory int64, workers int) *Kernels {
	n := len(all.Degrees)
	if keptBytes(n, len(all.Row)) == 0 {
		return nil
	}
	k := &Kernels{all: all, place: make([]int, n), workers: workers, memory: memory}
	for i := range k.place {
		k.place[i] = -1
	}
	for l, row := range all.Row {
		k.place[row] = l
	}
	return k
}

// keptKernel are the values of one kernel.
type keptKernel struct {
	name   string
	place  []int
	stride int
	value  []float64 // of labelled node l with node i at l·stride + i
}

// of returns the values of a kernel, computed if they are not there.
func (k *Kernels) of(ctx context.Context, f *kernel.Family, v spec.Values) (*keptKernel, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name := f.Name + " " + f.Text(v)
	if i := slices.IndexFunc(k.kept, func(b *keptKernel) bool { return b.name == name }); i >= 0 {
		b := k.kept[i]
		k.kept = append(slices.Delete(k.kept, i, i+1), b)
		return b, nil
	}
	one := keptBytes(len(k.place), len(k.all.Row))
	for len(k.kept) > 0 && k.memory > 0 && int64(len(k.kept)+1)*one > k.memory {
		k.kept = slices.Delete(k.kept, 0, 1)
	}
	b, err := k.compute(ctx, f, v)
	if err == nil {
		b.name = name
		k.kept = append(k.kept, b)
	}
	return b, err
}

// compute returns the values of a kernel.
func (k *Kernels) compute(ctx context.Context, f *kernel.Family, v spec.Values) (*keptKernel, error) {
	g, err := graph.New(ctx, k.all.A, k.workers)
	if err != nil {
		return nil, err
	}
	ks, err := f.NewAll(ctx, g, []spec.Values{v})
	if err != nil {
		return nil, err
	}
	n, labelled := len(k.place), k.all.Row
	var others []int
	for i, l := range k.place {
		if l < 0 {
			others = append(others, i)
		}
	}
	grams, _, err := kernel.GramsBeside(ctx, ks, labelled, others, nil)
	if err != nil {
		return nil, err
	}
	b := &keptKernel{place: k.place, stride: padded(n)}
	b.value = make([]float64, len(labelled)*b.stride)
	for a, i := range slices.Concat(labelled, others) {
		for l, x := range grams[0].Row(a) {
			b.value[l*b.stride+i] = x
		}
	}
	return b, nil
}

// row returns the values of a node that may have a label with all nodes, and zeros behind
// them up to a multiple of four.
func (b *keptKernel) row(node int) []float64 {
	return b.value[b.place[node]*b.stride:][:b.stride]
}

// between returns the values between some nodes and some that may have a label.
func (b *keptKernel) between(nodes, labelled []int) *sparse.Block[float64] {
	block := sparse.BlockOf(len(nodes), len(labelled), make([]float64, len(nodes)*len(labelled)))
	for j, l := range labelled {
		row := b.row(l)
		for i, node := range nodes {
			block.Row(i)[j] = row[node]
		}
	}
	return block
}

// imagesTo stores in y what the machines from number first on give for all nodes, without
// their bias, where item i of the model is the node rows[i].
func (b *keptKernel) imagesTo(ctx context.Context, y *sparse.Block[float64], first int, m *classify.KernelModel, rows []int, scale float64, workers int) error {
	return sched.Run(ctx, workers, (y.Rows+nodesAtATime-1)/nodesAtATime, func(_, i int) error {
		var sum [nodesAtATime]float64
		lo, hi := i*nodesAtATime, min((i+1)*nodesAtATime, b.stride)
		for j := range y.Cols {
			imageTo(sum[:hi-lo], &m.Machines[first+j], scale, func(item int) []float64 { return b.row(rows[item])[lo:hi] })
			for r := lo; r < min(hi, y.Rows); r++ {
				y.Row(r)[j] = sum[r-lo]
			}
		}
		return nil
	})
}

// nodesAtATime is the number of nodes that a machine decides on at a time, a multiple of
// four.
const nodesAtATime = 256

// imageTo stores in dst, of at most nodesAtATime numbers, a multiple of four, the kernel
// applied to the scaled coefficients of a machine, given the values of its items.
func imageTo(dst []float64, m *classify.Machine, scale float64, values func(item int) []float64) {
	var unread [nodesAtATime]float64
	clear(dst)
	for at := 0; at < len(m.Index); at += 4 {
		var factor [8]float64
		var part [4][]float64
		for q := range part {
			s := min(at+q, len(m.Index)-1)
			part[q] = values(m.Index[s])
			if at+q == s {
				factor[q] = scale * m.Coef[s]
			}
		}
		simd.AddPanels(dst, unread[:len(dst)], part[0], part[1], part[2], part[3], &factor)
	}
}

// KernelMemory lists the values of a method's kernel that [Kernels] keeps, and then what
// computing them takes beside: nothing if the method takes none from there, as where it
// chooses its kernel inside each training set and not, as tuned says, for all of them.
func KernelMemory(m Method, all *Problem, tuned bool, s *Settings) (list []spec.Bytes, err error) {
	if within := Within(m); within != nil {
		m = within
	}
	of, ok := m.(kernelMethod)
	if l, learns := m.(learnerMethod); learns && !l.by.Whole {
		of, ok = l.kernelMethod, true
	}
	n, labelled := len(all.Degrees), len(all.Row)
	kept := keptBytes(n, labelled)
	if !ok || kept == 0 {
		return nil, nil
	}
	set := s.WithDefaults()
	grid, err := kernelGrid(of.kernel, &set, kernel.OnDegrees(all.Degrees))
	if err != nil || !tuned && len(grid) > 1 {
		return nil, err
	}
	making, _, err := reckoned(all, s, func(a *account) error {
		rows := spec.Bytes{What: "rows of other nodes", Bytes: 8 * int64(n-labelled) * int64(labelled)}
		return a.PhaseOf(append(a.oneOf(of.kernel, grid, all.Row), rows), "values of kernels")
	})
	return append([]spec.Bytes{{What: "values of kernels that are kept", Bytes: kept}}, making...), err
}
