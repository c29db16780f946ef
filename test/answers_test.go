package test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/sparse"
)

// answer is the result of a job: named lists of numbers, or an error.
type answer struct {
	names   []string
	numbers [][]float64
	size    float64 // size of numbers that rounding errors are compared with, even if the numbers of a list are smaller
	problem string
}

func (a *answer) add(name string, numbers ...float64) {
	a.names = append(a.names, name)
	a.numbers = append(a.numbers, numbers)
}

type job struct {
	name string
	ask  func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error)

	chooses   bool // the job chooses parameters by held-out labels, so that rounding may change the answer
	global    bool // nodes without edges change the answer
	scaleFree bool // all weights times a factor do not change the answer
}

func (j *job) answer(ctx context.Context, g *heatwalk.Graph, c *Graph) *answer {
	a, err := j.ask(ctx, g, c)
	if err != nil {
		return &answer{problem: err.Error()}
	}
	return a
}

// row returns the row of a node by its position in the graph that was drawn.
func row(g *heatwalk.Graph, c *Graph, v int) int {
	r, ok := g.Nodes.Lookup(c.IDs[v])
	if !ok {
		panic(fmt.Sprintf("no node %q", c.IDs[v]))
	}
	return r
}

func labels(c *Graph) map[string]string {
	out := map[string]string{}
	for v, label := range c.Labels {
		out[c.IDs[v]] = label
	}
	return out
}

func predict(ctx context.Context, g *heatwalk.Graph, c *Graph, name, grid string, change func(s *engine.Settings), o *heatwalk.PredictOptions) (*heatwalk.Prediction, error) {
	p, err := g.Problem(labels(c))
	if err != nil {
		return nil, err
	}
	entries, err := method.Parse(name)
	if err != nil {
		return nil, err
	}
	if _, err = method.Settle(ctx, entries, grid); err != nil {
		return nil, err
	}
	if change != nil {
		change(entries[0].Settings)
	}
	return heatwalk.Predict(ctx, g, p, entries[0].Method, entries[0].Settings, o)
}

var classes = []string{"a", "b", "c"}

func describe(g *heatwalk.Graph, c *Graph, p *heatwalk.Prediction, held bool) *answer {
	out := new(answer)
	var scores, raw, reached []float64
	for v := range c.IDs {
		r := row(g, c, v)
		by := p.Scores(c.IDs[v])
		for _, name := range classes {
			if score, ok := by[name]; ok {
				scores = append(scores, score)
			}
			if k := slices.Index(p.Classes, name); k >= 0 && p.Raw != nil {
				raw = append(raw, p.Raw.At(r, k))
			}
		}
		reached = append(reached, 0)
		if p.Reached.Contains(uint32(r)) {
			reached[v] = 1
		}
	}
	out.add("probabilities", scores...)
	if raw != nil {
		out.add("raw scores", raw...)
	}
	out.add("reached", reached...)
	out.add("unreached components", float64(p.UnreachedComponents))
	if held {
		out.add("accuracy", p.Accuracy, p.Stderr, float64(p.Tested))
		if p.Shift != nil {
			out.add("shift", p.Shift.Hops.Labelled, p.Shift.Hops.Others, p.Shift.Degree.Labelled, p.Shift.Degree.Others)
		}
	}
	return out
}

func classifyBy(name, grid, weights string) job {
	j := job{name: "classify " + name + " " + weights, chooses: grid != "none"}
	j.scaleFree = weights == engine.GivenWeights
	j.ask = func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		p, err := predict(ctx, g, c, name, grid, func(s *engine.Settings) {
			s.Weights, s.Raw = weights, true
		}, nil)
		if err != nil {
			return nil, err
		}
		return describe(g, c, p, true), nil
	}
	return j
}

// defaults returns the job of a method as users of the library ask it.
func defaults(name string) job {
	return job{name: "Classify " + name, chooses: true, ask: func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		p, err := g.Classify(ctx, labels(c), &heatwalk.ClassifyOptions{Method: name})
		if err != nil {
			return nil, err
		}
		return describe(g, c, p, true), nil
	}}
}

func regress(name string) job {
	return job{name: "regress " + name, ask: func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		values := map[string]float64{}
		for v, x := range c.Values {
			values[c.IDs[v]] = x
		}
		p, err := g.Regress(ctx, values, name)
		if err != nil {
			return nil, err
		}
		out := new(answer)
		var numbers []float64
		for v := range c.IDs {
			numbers = append(numbers, p.Value[row(g, c, v)])
		}
		out.add("values", numbers...)
		out.add("RMSE", p.Contest.RMSE, p.Contest.Mean.RMSE, p.Contest.Neighbours.RMSE)
		return out, nil
	}}
}

func ranking(name string) job {
	return job{name: "rank " + name, ask: func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		var seeds []string
		for _, v := range c.Seeds {
			seeds = append(seeds, c.IDs[v])
		}
		r, err := g.Rank(ctx, seeds, name, 0)
		if err != nil {
			return nil, err
		}
		out := new(answer)
		var numbers []float64
		for v := range c.IDs {
			numbers = append(numbers, r.Score[row(g, c, v)])
		}
		out.add("scores", numbers...)
		return out, nil
	}}
}

func gram(name string) job {
	return job{name: "kernel " + name, ask: func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		var rows, cols []string
		for v := range min(len(c.IDs), 40) {
			rows = append(rows, c.IDs[v])
		}
		for _, v := range c.Seeds {
			cols = append(cols, c.IDs[v])
		}
		k, _, err := g.Kernel(ctx, name, rows, cols, 0)
		if err != nil {
			return nil, err
		}
		out := new(answer)
		out.add("block", mat.DenseCopyOf(k.T()).RawMatrix().Data...)
		return out, nil
	}}
}

func application(name string) job {
	return job{name: "apply " + name, ask: func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		y, _, err := apply(ctx, g, c, name)
		return y, err
	}}
}

// apply returns a function of a matrix times some columns, and the bound of its error.
func apply(ctx context.Context, g *heatwalk.Graph, c *Graph, name string) (*answer, float64, error) {
	named, err := kernel.ParseFunction(name)
	if err != nil {
		return nil, 0, err
	}
	set := &kernel.Settings{Tolerance: 1e-8, Lenient: true}
	f, err := heatwalk.OpenFunction(ctx, g, named, columns, set)
	if err != nil {
		return nil, 0, err
	}
	b := sparse.NewBlock[float64](g.Nodes.Len(), columns)
	for v := range c.IDs {
		target := b.Row(row(g, c, v))
		for j := range target {
			target[j] = column(v, j, len(c.IDs))
		}
	}
	b = f.Job.Part(b)
	y := sparse.NewBlock[float64](b.Rows, b.Cols)
	report, err := f.ApplyTo(ctx, y, b, set)
	if err != nil {
		return nil, 0, err
	}
	if y = f.Job.Gather(y); y == nil {
		return nil, 0, heatwalk.ErrFollower
	}
	out := new(answer)
	for j := range columns {
		var numbers []float64
		for v := range c.IDs {
			x := y.At(row(g, c, v), j)
			numbers = append(numbers, x)
			out.size = max(out.size, rounding*math.Abs(x))
		}
		out.add(fmt.Sprintf("column %d", j), numbers...)
	}
	return out, report.ErrorBound, nil
}

const columns = 6

// rounding is the size of numbers of a column that rounding errors of other columns may hide, relative to their largest
// number.
const rounding = 1e-6

// column returns an element of the block that functions of graphs of n nodes are applied to: a unit vector, a wave, a
// column with both signs of each size, and columns that many functions map to zero: ones, zeros, and the unit vector of
// a node that is isolated in many graphs.
func column(v, j, n int) float64 {
	switch {
	case j == 0 && v == 0, j == 3, j == 5 && v == n-1:
		return 1
	case j == 1:
		return math.Sin(float64(3*v + 1))
	case j == 2:
		return float64(v%7) - 3
	}
	return 0
}

func eigenvalues(matrix string) job {
	return job{name: "eigen " + matrix, global: true, ask: func(ctx context.Context, g *heatwalk.Graph, _ *Graph) (*answer, error) {
		out := new(answer)
		var follower error // error of all processes but one, which take part in both ends
		for _, which := range []lanczos.Which{lanczos.Largest, lanczos.Smallest} {
			pairs, err := heatwalk.Eigenpairs(ctx, g, &lanczos.GraphProblem{Matrix: sparse.Kind(matrix), Which: which, Resolution: 1}, 4, new(lanczos.Settings))
			switch {
			case errors.Is(err, heatwalk.ErrFollower):
				follower = err
			case err != nil:
				return nil, err
			default:
				out.add(string("LSI"[which]), pairs.Values...)
			}
		}
		return out, follower
	}}
}

// negligible is the size of shares and importances whose digits are not compared.
const negligible = 1e-6

func reasons(name string) job {
	return job{name: "explain " + name, ask: func(ctx context.Context, g *heatwalk.Graph, c *Graph) (*answer, error) {
		nodes := []int{0, 1, 2, 3, 4, 5}
		var rows []int
		for _, v := range nodes {
			rows = append(rows, row(g, c, v))
		}
		p, err := predict(ctx, g, c, name, "none", func(s *engine.Settings) {
			s.Weights, s.Raw = engine.GivenWeights, true
		}, &heatwalk.PredictOptions{Explain: rows, Reasons: 400})
		if err != nil {
			return nil, err
		}
		out := new(answer)
		for i, e := range p.Reasons {
			of := fmt.Sprintf(" of node %d", nodes[i])
			out.add("score, rest, covered"+of, e.Score, e.Rest, e.Covered, e.OtherShare)
			shares := map[string]float64{}
			for _, s := range e.Labels {
				shares[s.Node] += s.Share
			}
			links := map[[2]int]float64{}
			for _, l := range e.Links {
				pair := [2]int{min(l.Rows[0], l.Rows[1]), max(l.Rows[0], l.Rows[1])}
				links[pair] += l.Importance
			}
			var numbers, importance []float64
			for v := range c.IDs {
				numbers = append(numbers, shares[c.IDs[v]])
			}
			if len(e.Links) < 400 {
				for v := range min(60, len(c.IDs)) {
					for u := range v {
						r, s := row(g, c, v), row(g, c, u)
						importance = append(importance, links[[2]int{min(r, s), max(r, s)}])
					}
				}
				out.add("links"+of, append(importance, negligible)...)
			}
			out.add("shares"+of, append(numbers, negligible)...)
		}
		return out, nil
	}}
}

// isSlow reports whether the answer for a thousand nodes takes at least ten seconds.
func (j *job) isSlow() bool {
	return j.chooses || strings.HasPrefix(j.name, "classify gp-transduction")
}

func jobs() []job {
	var list []job
	scaleFree := func(j job) job {
		j.scaleFree = true
		return j
	}
	global := func(j job) job {
		j.global = true
		return j
	}
	for _, name := range []string{
		"lp:center=false", "lp:center=true", "lgc:alpha=0.9", "poisson", "wvrn", "cwk:alpha=0.9:steps=10+density", "cwk:alpha=0.5:steps=5+rls:lambda=0.1",
		"diffusion:beta=2+rls:lambda=0.1", "pagerank:alpha=0.85+centroid", "regularized-laplacian:alpha=2+gp", "majority", "rl",
	} {
		list = append(list, classifyBy(name, "none", engine.GivenWeights))
	}
	for _, name := range []string{"beliefs:ratios=walks:evidence=1:rounds=15", "gp-transduction:alpha=10:variance=100", "spectral+logistic:dimension=5"} {
		list = append(list, global(classifyBy(name, "none", engine.GivenWeights)))
	}
	for _, name := range []string{"lp:center=false", "lgc:alpha=0.9", "beliefs:ratios=walks:evidence=1:rounds=15"} {
		list = append(list, global(classifyBy(name, "none", "none")), global(classifyBy(name, "none", "log")))
	}
	for _, name := range []string{"auto", "lp", "lgc", "beliefs", "diffusion+rls", "cwk+svm"} {
		list = append(list, global(defaults(name)))
	}
	list = append(list, regress("harmonic"), global(regress("hops")), regress("diffusion:beta=2+rls:lambda=0.1"), global(regress("")))
	list[len(list)-1].chooses = true
	for _, name := range []string{"pagerank:alpha=0.85", "diffusion:beta=2", "heat-pagerank:beta=3"} {
		list = append(list, scaleFree(ranking(name)))
	}
	list = append(list, ranking("regularized-laplacian:alpha=2:laplacian=combinatorial"))
	for _, name := range []string{
		"diffusion:beta=2", "von-neumann:alpha=0.9", "regularized-laplacian:alpha=2", "pseudo-inverse", "commute-time",
		"p-step:steps=5", "matern:nu=1.5:kappa=2", "pagerank:alpha=0.85", "heat-pagerank:beta=3", "vertex:beta=0.3",
		"regularized-laplacian:alpha=2:laplacian=random-walk", "diffusion:beta=2:laplacian=random-walk",
	} {
		list = append(list, scaleFree(gram(name)))
		list[len(list)-1].scaleFree = !strings.HasPrefix(name, "vertex")
	}
	for _, name := range []string{
		"diffusion:beta=2:laplacian=combinatorial", "exponential:beta=0.1", "exponential:beta=-0.1", "von-neumann:matrix=adjacency",
		"regularized-laplacian:alpha=2:laplacian=combinatorial", "pseudo-inverse:laplacian=combinatorial", "regularized-commute-time:alpha=0.8",
		"matern:nu=1.5:kappa=2:laplacian=combinatorial",
	} {
		list = append(list, gram(name))
	}
	list = append(list, global(gram("modularity:rank=4")))
	for _, name := range []string{"normalized-adjacency", "transition", "normalized-laplacian", "exp:t=-2:matrix=normalized-laplacian", "exp:t=1:matrix=normalized-adjacency",
		"solve:shift=1:matrix=normalized-laplacian", "solve:shift=0.001:matrix=normalized-laplacian", "solve:shift=0:matrix=normalized-laplacian"} {
		list = append(list, scaleFree(application(name)))
	}
	for _, name := range []string{"adjacency", "laplacian", "exp:t=-1:matrix=laplacian", "exp:t=0.1:matrix=adjacency", "exp:t=-0.1:matrix=adjacency", "exp:t=0.05:matrix=laplacian",
		"solve:shift=1:matrix=laplacian", "solve:shift=0.001:matrix=laplacian", "solve:shift=0:matrix=laplacian"} {
		list = append(list, application(name))
	}
	for _, name := range []string{"adjacency", "normalized-adjacency", "laplacian", "normalized-laplacian", "modularity", "transition"} {
		j := eigenvalues(name)
		j.scaleFree = name == "normalized-adjacency" || name == "normalized-laplacian" || name == "transition"
		list = append(list, j)
	}
	for _, name := range []string{"lp:center=false", "lgc:alpha=0.9", "diffusion:beta=2+rls:lambda=0.1", "diffusion:laplacian=combinatorial+rls:lambda=0.1",
		"regularized-commute-time:alpha=0.8+rls:lambda=0.1", "cwk:alpha=0.9:steps=10+density"} {
		list = append(list, scaleFree(reasons(name)))
	}
	return list
}
