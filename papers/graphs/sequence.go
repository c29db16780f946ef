package graphs

import (
	"context"
	"math"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/param"
)

// labelSequence counts pairs of walks in two graphs with the same sequence of labels of vertices and, if there are any, of
// edges:
//
//	K(g, h) = 1ᵀ(Σ λᵢA×ⁱ)1
//
// over the direct product of the graphs (Gärtner, Flach and Wrobel 2003). λᵢ = cⁱ needs c < 1/ρ(A×), which holds for all pairs
// if it holds for the product of each graph with itself, since ρ(A_g×h)² ≤ ρ(A_g×g)·ρ(A_h×h). Cost: for each pair a few sweeps
// over the arcs of each graph times the equally labelled vertices of the other graph.
var labelSequence = Kernel{
	Spec: param.Spec{
		Name:  "label-sequence",
		Title: "1ᵀ(Σ λᵢA×ⁱ)1, walks with equal sequences of labels",
		Works: param.Graphs, Params: weights(),
		Source: "Gärtner, Flach and Wrobel, On graph kernels: hardness results and efficient alternatives, COLT 2003",
	},
	New: func(ctx context.Context, c *graphfile.Collection, v param.Values, s *Settings) (Rows, error) {
		w := newWalks(c, s)
		limit := 1.0
		if c.Directed {
			limit = nearest
		}
		scheme, err := w.weigh(ctx, c, v, limit, w.self)
		if err != nil {
			return nil, err
		}
		return Pairs(func(worker, i, j int) (float64, error) {
			p := w.product(worker, i, j)
			if scheme.exponential {
				return finite(p.exponential(scheme.decay))
			}
			return p.geometric(scheme.decay,
				math.Sqrt(scheme.rate[i])*math.Sqrt(scheme.rate[j])), nil
		}), nil
	},
	Radius: func(ctx context.Context, c *graphfile.Collection, s *Settings) (float64, error) {
		w := newWalks(c, s)
		return w.largest(ctx, w.self)
	},
	Memory: func(s *graphfile.Shape, _ param.Values, workers int) int64 {
		// A product has at most as many vertices as the larger of the products of the two graphs with themselves.
		return orderedBytes(s) + int64(workers)*3*8*s.Alike
	},
}

// walks holds the graphs of a collection, and a direct product for each worker.
type walks struct {
	graph   []*labelOrder
	point   *labelOrder // see newPlainWalks
	space   []product
	workers int
}

func newWalks(c *graphfile.Collection, s *Settings) *walks {
	w := &walks{workers: sched.Workers(s.Workers)}
	w.space = make([]product, w.workers)
	for i := range c.Graphs {
		w.graph = append(w.graph, newOrdered(&c.Graphs[i], c.Directed))
	}
	return w
}

func orderedBytes(s *graphfile.Shape) int64 {
	return 300*int64(s.Graphs) + 8*s.Arcs + 24*int64(s.Vertices)
}

// product returns the direct product of graphs i and j. It is valid until the worker's next call.
func (w *walks) product(worker, i, j int) *product {
	p := &w.space[worker]
	p.reset(w.graph[i], w.graph[j])
	return p
}

func (w *walks) self(worker, i int) *product {
	return w.product(worker, i, i)
}

const (
	// radiusSteps and radiusError end the iteration for the radius on which default weights depend.
	radiusSteps, radiusError = 300, 1e-3

	// divergenceSteps is the number of steps after which a weight is refused if neither convergence nor divergence is proved.
	divergenceSteps = 2000
)

// largest returns the largest spectral radius in the collection.
func (w *walks) largest(ctx context.Context,
	productOf func(worker, i int) *product) (float64, error) {
	radius := make([]float64, len(w.graph))
	err := sched.Run(ctx, w.workers, len(radius), func(worker, i int) error {
		radius[i] = productOf(worker,
			i).radius(func(lo, hi float64, steps int) bool {
			return hi-lo <= radiusError*hi || steps == radiusSteps ||
				ctx.Err() != nil
		})
		return nil
	})
	largest := 0.0
	for _, r := range radius {
		largest = max(largest, r)
	}
	return largest, err
}

// weighing holds the weights λᵢ of walks: decayⁱ, or decayⁱ/i! if exponential is set.
type weighing struct {
	decay       float64
	exponential bool
	rate        []float64 // upper bound of c·ρ of each graph, for geometric weights
}

// weigh returns the weights given by v. productOf returns the product whose radius bounds the weights of graph i. The error is
// a [*param.ParameterError] if c·ρ of some graph is not proved to be below limit.
func (w *walks) weigh(ctx context.Context, c *graphfile.Collection, v param.Values,
	limit float64, productOf func(worker, i int) *product) (*weighing, error) {
	decay := v.Number("decay")
	if v.Word("weights") == "exponential" {
		return &weighing{decay: decay, exponential: true}, nil
	}
	rate := make([]float64, len(w.graph))
	err := sched.Run(ctx, w.workers, len(rate), func(worker, i int) error {
		hi := productOf(worker, i).radius(func(lo, hi float64, steps int) bool {
			// Tighten upper bounds below 1/decay until they are closer to the lower bound.
			return decay*hi < limit &&
				(hi-lo <= (1-decay*hi)/decay || steps > 20) ||
				decay*lo >= 1 || steps == divergenceSteps || ctx.Err() != nil
		})
		rate[i] = decay * hi
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, r := range rate {
		if r >= limit {
			largest, err := w.largest(ctx, productOf)
			if err != nil {
				return nil, err
			}
			return nil, param.Refuse("graphs", "decay",
				"%g: the sum over the walks of graph %s diverges, or nearly so; for this collection it is to be below %.6g", decay, c.IDs[i], limit/largest)
		}
	}
	return &weighing{decay: decay, rate: rate}, nil
}

func finite(value float64) (float64, error) {
	if math.IsInf(value, 0) || math.IsNaN(value) {
		return value, errOverflow
	}
	return value, nil
}
