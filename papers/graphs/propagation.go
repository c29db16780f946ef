package graphs

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// propagation counts pairs of vertices with similar distributions of labels, at every step of a
// walk that starts from the labels:
//
//	K(g, h) = Σ_t ⟨φ_t(g), φ_t(h)⟩,  t = 0 … steps,  P_t = TᵗP_0,  T = D⁻¹A
//
// where φ_t(g) counts the rows of P_t in each bin of a hash that puts near rows together,
// ⌊(⟨x, v⟩ + b)/w⌋ with a random v and 0 ≤ b < w drawn for each step: Cauchy's for the
// distance of total variation, Gauss's on the roots of x for Hellinger's (Neumann et al.
// 2016, algorithm 2). A vertex without edges keeps its label. Attributes, if wanted, are
// standardized and propagated together with the labels, and hashed in bins that are one
// deviation wide; then rows are similar if both bins agree.
// Cost: a sweep over all arcs for each step and label.
var propagation = Kernel{
	Spec: param.Spec{
		Name: "propagation", Title: "Σ_t ⟨φ_t, φ_t⟩, vertices with like distributions of labels after t steps", Works: param.Graphs,
		Source: "Neumann, Garnett, Bauckhage and Kersting, Propagation kernels, Machine Learning 102, 2016, algorithm 2",
		Params: []param.Param{
			{Name: "steps", Symbol: "steps", Meaning: "steps of the walk", Kind: param.Whole, Range: param.Range{Least: 0, Most: 1000}, Default: param.Of(4),
				Grid: param.Grid(0, 1, 2, 4, 8)},
			{Name: "width", Symbol: "w",
				Meaning: "width of the bins of distributions",
				Range:   param.Above(0), Default: param.Of(1e-4)},
			{Name: "distance", Meaning: "that the bins keep", Kind: param.Choice,
				Words:   []string{"total-variation", "hellinger"},
				Default: param.Of("total-variation")},
			{Name: "attributes", Meaning: "vertices are alike if their attributes are too", Kind: param.Switch, Default: param.Of(false)},
		},
	},
	New: func(ctx context.Context, c *graphfile.Collection, v param.Values, s *Settings) (Rows, error) {
		p := &propagator{c: c, v: v, labels: max(1, len(c.Labels))}
		if v.On("attributes") {
			if c.Attributes == 0 {
				return nil, param.Refuse("propagation", "attributes", "the vertices have none; leave it out")
			}
			p.attributes = c.Attributes
			p.mean, p.deviation = moments(c)
		}
		steps := v.Int("steps") + 1
		bins := make([][]bin, len(c.Graphs)) // of each vertex at each step
		draws := p.draw(steps, s.RNGSeed)
		err := sched.Run(ctx, s.Workers, len(bins), func(_, i int) error {
			bins[i] = p.bins(&c.Graphs[i], draws)
			return nil
		})
		if err != nil {
			return nil, err
		}
		count := 0 // of features
		for t := range steps {
			n, err := p.number(ctx, bins, t, count, s.Workers)
			if err != nil {
				return nil, err
			}
			count += n
		}
		graph := make([]entries, len(bins))
		err = sched.Run(ctx, s.Workers, len(bins), func(_, i int) error {
			graph[i], bins[i] = counts(bins[i]), nil
			return nil
		})
		if err != nil {
			return nil, err
		}
		return newFeatures(graph, count), nil
	},
	Memory: func(s *graphfile.Shape, v param.Values, workers int) int64 {
		const binBytes = 16
		cols := int64(max(1, s.Labels) + s.Attributes)
		bins := int64(s.Vertices) * int64(v.Int("steps")+1)
		// Every vertex may have features of its own; bins of the present step are kept twice.
		return binBytes*int64(s.Vertices) + featureBytes*bins +
			int64(workers)*2*8*int64(s.Largest)*cols
	},
}

// bin is the pair of hashes that similar rows of a step share, or in label the number of the
// feature.
type bin struct{ label, attributes int64 }

// propagator makes bins.
type propagator struct {
	c                  *graphfile.Collection
	v                  param.Values
	labels, attributes int       // columns
	mean, deviation    []float64 // of attributes
}

// hashing has the random numbers of a step: a direction and an offset for each kind of column.
type hashing struct {
	direction       []float64 // of labels, then of attributes
	offset, further float64   // in widths
}

// draw draws the hashing of all steps. That of a step does not depend on how many steps
// there are.
func (p *propagator) draw(steps int, seed uint64) []hashing {
	list := make([]hashing, steps)
	for t := range list {
		rng := rand.New(rand.NewPCG(seed, uint64(t)))
		h := &list[t]
		h.offset, h.further = rng.Float64(), rng.Float64()
		for range p.labels {
			x := rng.NormFloat64()
			if p.v.Word("distance") == "total-variation" {
				x = math.Tan(math.Pi * (rng.Float64() - 0.5)) // Cauchy's
			}
			h.direction = append(h.direction, x)
		}
		for range p.attributes {
			h.direction = append(h.direction, rng.NormFloat64())
		}
	}
	return list
}

// moments returns mean and standard deviation of the attributes of all vertices, of one
// that does not vary 1.
func moments(c *graphfile.Collection) (mean, deviation []float64) {
	mean = make([]float64, c.Attributes)
	deviation = make([]float64, c.Attributes)
	n := 0.0
	visitAll := func(visit func(j int, x float64)) {
		for i := range c.Graphs {
			for dimension, x := range c.Graphs[i].Attributes {
				visit(dimension%c.Attributes, x)
			}
		}
	}
	visitAll(func(j int, x float64) { mean[j] += x; n++ })
	n /= float64(c.Attributes)
	for j := range mean {
		mean[j] /= n
	}
	visitAll(func(j int, x float64) { deviation[j] += float64((x - mean[j]) * (x - mean[j])) })
	for j, d := range deviation {
		deviation[j] = math.Sqrt(d / n)
		if !(deviation[j] > 0) {
			deviation[j] = 1
		}
	}
	return mean, deviation
}

// bins returns the bin of every vertex at every step, one step after the other.
func (p *propagator) bins(m *graphfile.Member, draws []hashing) []bin {
	n := m.Len()
	cols := p.labels + p.attributes
	x := make([]float64, n*cols)
	next := make([]float64, n*cols)
	for v := range n {
		row := x[v*cols:][:cols]
		row[numberOf(m.Label, int32(v))] = 1
		for j := range p.attributes {
			row[p.labels+j] = (m.Attributes[v*p.attributes+j] -
				p.mean[j]) / p.deviation[j]
		}
	}
	list := make([]bin, 0, n*len(draws))
	for t, h := range draws {
		if t > 0 {
			step(next, x, m, cols)
			x, next = next, x
		}
		for v := range n {
			list = append(list, p.hash(x[v*cols:][:cols], &h))
		}
	}
	return list
}

// number puts the numbers of features, from first on, in place of the bins of a step, and
// returns how many there are.
func (p *propagator) number(ctx context.Context, bins [][]bin,
	t, first, workers int) (int, error) {
	binsOf := func(i int) []bin {
		n := p.c.Graphs[i].Len()
		return bins[i][t*n:][:n]
	}
	n := 0
	for i := range bins {
		n += len(binsOf(i))
	}
	joined := make([]bin, 0, n)
	for i := range bins {
		joined = append(joined, binsOf(i)...)
	}
	slices.SortFunc(joined, bin.compare)
	joined = slices.Compact(joined)
	return len(joined), sched.Run(ctx, workers, len(bins), func(_, i int) error {
		list := binsOf(i)
		for v, b := range list {
			index, _ := slices.BinarySearchFunc(joined, b, bin.compare)
			list[v].label = int64(first + index)
		}
		return nil
	})
}

func (b bin) compare(o bin) int {
	return cmp.Or(cmp.Compare(b.label, o.label),
		cmp.Compare(b.attributes, o.attributes))
}

// counts returns how often a graph has each feature.
func counts(bins []bin) (e entries) {
	slices.SortFunc(bins,
		func(a, b bin) int { return cmp.Compare(a.label, b.label) })
	kinds := 0
	for i := range bins {
		if i == 0 || bins[i].label != bins[i-1].label {
			kinds++
		}
	}
	e = entries{make([]int32, 0, kinds), make([]float64, 0, kinds)}
	for lo := 0; lo < len(bins); {
		hi := lo + 1
		for hi < len(bins) && bins[hi].label == bins[lo].label {
			hi++
		}
		e.add(int32(bins[lo].label), float64(hi-lo))
		lo = hi
	}
	return e
}

// step stores TX in dst.
func step(dst, x []float64, m *graphfile.Member, cols int) {
	for v := range m.Len() {
		row := dst[v*cols:][:cols]
		arcs := arcsOf(m, v)
		if len(arcs) == 0 {
			copy(row, x[v*cols:])
			continue
		}
		clear(row)
		for _, w := range arcs {
			for j, value := range x[int(w)*cols:][:cols] {
				row[j] += value
			}
		}
		for j := range row {
			row[j] /= float64(len(arcs))
		}
	}
}

// hash returns the bin of a row.
func (p *propagator) hash(row []float64, h *hashing) bin {
	roots := p.v.Word("distance") == "hellinger"
	sum := 0.0
	norm := 0.0
	for j, value := range row[:p.labels] {
		if roots {
			value = math.Sqrt(value)
		}
		sum += float64(value * h.direction[j])
	}
	for j, value := range row[p.labels:] {
		norm += float64(value * h.direction[p.labels+j])
	}
	b := bin{label: place(sum/p.v.Number("width") + h.offset)}
	if p.attributes > 0 {
		b.attributes = place(norm + h.further)
	}
	return b
}

// place returns ⌊x⌋ as an integer, or the nearest integer if x is out of range.
func place(x float64) int64 {
	return int64(math.Floor(min(max(x, -1<<62), 1<<62)))
}
