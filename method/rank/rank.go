package rank

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// Problem is a kernel on the nodes of a graph with some seeds.
type Problem struct {
	Kernel  kernel.Kernel
	Degrees []float64
	Nodes   []int // nodes to rank, in the order that breaks ties
	Seeds   []int // some of Nodes, each once

	// Walk means that the kernel is a function of T = D⁻¹A, whose rows are walks that start at the node. The scores are
	// those of walks that start at the seeds: Kᵀ = D·K·D⁻¹ is applied.
	Walk bool

	// Division numbers the rows of the kernel's blocks if several processes share the nodes; all of them have the
	// seeds, as named rows. nil: the row of a node is its number.
	Division *sparse.Division
}

// row returns the row of blocks for a node. ok is false if only another process has it.
func (p *Problem) row(node int) (row int, ok bool) {
	if p.Division == nil {
		return node, true
	}
	return p.Division.Local(node)
}

// team returns the processes that share the nodes.
func (p *Problem) team() *sparse.Team {
	if p.Division == nil {
		return nil
	}
	return &p.Division.Team
}

// scale returns the factor of a node's row in Kᵀ = D·K·D⁻¹, the degree or 1 for a node without edges.
func (p *Problem) scale(node int) float64 {
	if !p.Walk || p.Degrees[node] == 0 {
		return 1
	}
	return p.Degrees[node]
}

// Settings are the settings of [Run].
type Settings struct {
	// Sets is the number of sets of random seeds; 0: no z-scores and p-values.
	Sets int

	RNGSeed uint64 // of folds and sets
	Memory  int64  // limit of the kernel in bytes; 0: no limit; never changes a result

	// Progress, if not nil, is called with the finished columns and all of them.
	Progress func(done, total int)
}

// DefaultSets is the usual number of sets of random seeds: the least p-value is 0.001.
const DefaultSets = 999

// Ranking is the result of [Run]. All lists but Order are by node; nodes that are not ranked have zeros. Of several
// processes, only process 0 has the lists.
type Ranking struct {
	Score []float64
	Z, P  []float64 // nil without sets
	Order []int     // the nodes by falling score

	AUC    float64 // probability that a seed that is left out has a higher score than another node; NaN for one seed
	Stderr float64 // standard error of AUC over the seeds; NaN for one seed
	Folds  int     // 0 for one seed
	Sweeps int     // over all entries
}

// ErrSeeds is returned unless there is a seed and a node that is none.
var ErrSeeds = errors.New("rank: at least one seed and one other node are needed")

// Columns returns the number of columns that the kernel is applied to at a time: as many as 256 MiB
// hold, at most 64. It depends on the graph alone, so that results do not depend on the memory limit.
func Columns(nodes int) int {
	const widest, bytes = 64, 256 << 20
	return min(widest, max(1, bytes/8/max(1, nodes)))
}

// Run ranks nodes. The error is [ErrSeeds], the context's, or that of the kernel. Cost: the kernel times
// a block of 1 + |folds| + Sets columns, in slabs of up to 64.
func Run(ctx context.Context, p *Problem, s *Settings) (*Ranking, error) {
	if s == nil {
		s = &Settings{Sets: DefaultSets}
	}
	if len(p.Seeds) == 0 || len(p.Nodes) <= len(p.Seeds) {
		return nil, ErrSeeds
	}
	sorted := *p
	sorted.Seeds = inOrder(p) // folds do not depend on the order of seeds
	p = &sorted
	n := p.Kernel.Len()
	r := &ranker{Problem: p, set: s, out: &Ranking{Score: make([]float64, n)}}
	for _, v := range p.Nodes {
		if row, ok := p.row(v); ok {
			r.rows, r.scales = append(r.rows, row), append(r.scales, p.scale(v))
		}
	}
	width := Columns(len(p.Degrees))
	r.x, r.y = sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	if err := r.score(ctx); err != nil {
		return nil, err
	}
	if s.Sets > 0 {
		if err := r.compare(ctx); err != nil {
			return nil, err
		}
	}
	if r.gather(); r.out.Score == nil {
		return r.out, nil
	}
	r.out.Order = slices.Clone(p.Nodes)
	slices.SortStableFunc(r.out.Order, func(a, b int) int { return cmp.Compare(r.out.Score[b], r.out.Score[a]) })
	return r.out, nil
}

// Bytes returns the memory of [Run] on a graph with the given number of nodes without that of the
// kernel, which is that of [kernel.Family.ApplyBytes] for [Columns] columns.
func Bytes(nodes int) int64 {
	const vectors = 13 // of the result, its order, sums, scales, groups of degrees, and sorted scores
	return vectors * 8 * int64(nodes)
}

// inOrder returns the seeds in the order of the nodes.
func inOrder(p *Problem) []int {
	isSeed := make([]bool, len(p.Degrees))
	for _, s := range p.Seeds {
		isSeed[s] = true
	}
	return slices.DeleteFunc(slices.Clone(p.Nodes), func(v int) bool { return !isSeed[v] })
}

// ranker is one call of [Run].
type ranker struct {
	*Problem
	set  *Settings
	out  *Ranking
	rows []int // of Nodes that this process has, in their order
	x, y *sparse.Block[float64]
	done int // columns

	scales []float64 // by element of rows
}

// gather completes the lists to those of all nodes in process 0, and removes them in others.
func (r *ranker) gather() {
	if r.Division == nil {
		return
	}
	for _, list := range []*[]float64{&r.out.Score, &r.out.Z, &r.out.P} {
		if *list == nil {
			continue
		}
		full := sparse.Gather(r.Division, sparse.BlockOf(len(*list), 1, *list))
		if *list = nil; full == nil {
			continue
		}
		for v := range full.Rows {
			*list = append(*list, full.Row(v)[0])
		}
	}
}

// apply computes the mean kernel value with each of several sets of nodes and calls visit with a block
// that has a column for each.
func (r *ranker) apply(ctx context.Context, sets [][]int, visit func(first int, b *sparse.Block[float64])) error {
	for lo := 0; lo < len(sets); lo += r.x.Cols {
		batch := sets[lo:min(len(sets), lo+r.x.Cols)]
		x, y := r.x.Columns(0, len(batch)), r.y.Columns(0, len(batch))
		for j, set := range batch {
			for _, v := range set {
				if row, ok := r.row(v); ok {
					x.Row(row)[j] = 1 / float64(len(set)) / r.scale(v)
				}
			}
		}
		report, err := r.Kernel.ApplyTo(ctx, y, x, &kernel.Settings{Memory: r.set.Memory})
		for _, set := range batch {
			for _, v := range set {
				if row, ok := r.row(v); ok {
					clear(x.Row(row))
				}
			}
		}
		if err != nil {
			return err
		}
		for i, row := range r.rows {
			for j, factor := 0, r.scales[i]; r.Walk && j < y.Cols; j++ {
				y.Row(row)[j] *= factor
			}
		}
		r.out.Sweeps += report.Sweeps
		r.done += len(batch)
		if r.set.Progress != nil {
			r.set.Progress(r.done, 1+r.out.Folds+r.set.Sets)
		}
		visit(lo, y)
	}
	return nil
}

// score computes the scores and the AUC.
func (r *ranker) score(ctx context.Context) error {
	m := len(r.Seeds)
	folds := 0
	if m > 1 {
		folds = split.FoldCount(m)
	}
	r.out.Folds = folds
	fold := split.Folds(make([]int, m), max(1, folds), r.set.RNGSeed, 0)
	sets := [][]int{r.Seeds}
	for f := range folds {
		var remainder []int
		for _, i := range split.OfFold(fold, f).Train {
			remainder = append(remainder, r.Seeds[i])
		}
		sets = append(sets, remainder)
	}
	isSeed, seeds := make([]bool, r.x.Rows), make([]int, m) // by row, and rows
	for i, s := range r.Seeds {
		row, ok := r.row(s)
		if !ok {
			panic(badSeed)
		}
		isSeed[row], seeds[i] = true, row
	}
	shares := make([]float64, m) // of the other nodes that a seed is above
	err := r.apply(ctx, sets, func(first int, b *sparse.Block[float64]) {
		for j := range b.Cols {
			f := first + j - 1
			if f < 0 {
				for _, v := range r.rows {
					r.out.Score[v] = b.Row(v)[j]
				}
				continue
			}
			var values []float64
			for _, v := range r.rows {
				if !isSeed[v] && r.team().Counts(v) {
					values = append(values, b.Row(v)[j])
				}
			}
			slices.Sort(values)
			for i, s := range seeds {
				if fold[i] == f {
					r.out.Score[s] = b.Row(s)[j]
					shares[i] = halvesBelow(values, b.Row(s)[j])
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if folds == 0 {
		r.out.AUC, r.out.Stderr = math.NaN(), math.NaN()
		return nil
	}
	r.team().Sum(shares)
	sum, squares := 0.0, 0.0
	for i := range shares {
		shares[i] = shares[i] / 2 / float64(len(r.Nodes)-m)
		sum += shares[i]
	}
	r.out.AUC = sum / float64(m)
	for _, x := range shares {
		squares += float64((x - r.out.AUC) * (x - r.out.AUC))
	}
	r.out.Stderr = math.Sqrt(squares / float64(m) / float64(m-1))
	return nil
}

const badSeed = "rank: a process does not have a seed"

// halvesBelow returns twice the number of rising values that are below x, and the number of those equal to it.
func halvesBelow(values []float64, x float64) float64 {
	lower, _ := slices.BinarySearch(values, x)
	through, _ := slices.BinarySearchFunc(values, x, func(v, x float64) int {
		if v > x {
			return 1
		}
		return -1
	})
	return float64(lower + through)
}

// compare computes z-scores and p-values. Sums are relative to the score of a node, to keep digits.
func (r *ranker) compare(ctx context.Context) error {
	n := r.x.Rows
	r.out.Z, r.out.P = make([]float64, n), make([]float64, n)
	count, exceedances := make([]float64, n), make([]float64, n)
	sum, squares := make([]float64, n), make([]float64, n)
	draw := newDraws(r.Problem, r.set.RNGSeed)
	sets := make([][]int, r.x.Cols)
	for lo := 0; lo < r.set.Sets; lo += len(sets) {
		batch := sets[:min(len(sets), r.set.Sets-lo)]
		for j := range batch {
			batch[j] = draw.set(lo + j)
		}
		err := r.apply(ctx, batch, func(_ int, b *sparse.Block[float64]) {
			for j, set := range batch {
				for _, v := range set {
					if row, ok := r.row(v); ok {
						b.Row(row)[j] = math.NaN() // a set says nothing of its own nodes
					}
				}
			}
			for _, v := range r.rows {
				for _, x := range b.Row(v) {
					if math.IsNaN(x) {
						continue
					}
					d := r.out.Score[v] - x
					count[v]++
					sum[v] += d
					squares[v] += float64(d * d)
					if d <= 0 {
						exceedances[v]++
					}
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for _, v := range r.rows {
		r.out.P[v] = (exceedances[v] + 1) / (count[v] + 1)
		if count[v] < 2 {
			continue
		}
		mean := sum[v] / count[v]
		variance := max(0, squares[v]-float64(mean*sum[v])) / (count[v] - 1)
		if mean != 0 {
			r.out.Z[v] = mean / math.Sqrt(variance)
		}
	}
	return nil
}
