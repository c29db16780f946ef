package heatwalk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/regression"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

const karateEdges = "testdata/golden/karate/edges.tsv"

func openKarate(t *testing.T, o *Options) *Graph {
	t.Helper()
	g, err := Open(t.Context(), karateEdges, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // only reads
	return g
}

func TestPlannedUsesGraph(t *testing.T) {
	var g *Graph
	calls := 0
	g = openKarate(t, &Options{Memory: 1 << 30, Jobs: 1, Planned: func(p *Plan) error {
		calls++
		if calls > 1 {
			return nil
		}
		if room := g.Leave(1<<20, "a table").Plan().Room(); room >= g.Plan().Room() || p.Required() == 0 {
			t.Errorf("%d bytes are left beside a table", room)
		}
		_, _, err := g.Kernel(t.Context(), "diffusion:beta=2", []string{"1"}, nil, 0)
		return err
	}})
	job, err := g.Begin(t.Context(), &Needs{Structure: true, Workspace: func(*Job, *Plan) (budget.Workspace, error) {
		return budget.Held(g.Plan().Room() / 2), nil
	}})
	if err != nil || calls != 2 || len(job.Components.Sizes) != 1 {
		t.Errorf("%d plans, %v", calls, err)
	}
}

func TestBeginEndsWithContext(t *testing.T) {
	g := openKarate(t, nil)
	g.resources.turn <- struct{}{}
	cause := errors.New("enough")
	for _, n := range []*Needs{{}, {Structure: true}, {Components: true}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		if _, err := g.Begin(ctx, n); !errors.Is(err, cause) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	<-g.resources.turn
	if _, err := g.Begin(t.Context(), &Needs{Structure: true}); err != nil {
		t.Error(err)
	}
}

// A job that shares properties of the graph leaves the memory of its handle, too.
func TestMemoryOfEachJob(t *testing.T) {
	matrix := mat.NewSymDense(3, []float64{0, 1, 0, 1, 0, 1, 0, 1, 0})
	fromMat, err := FromMat(t.Context(), matrix, &Options{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*Graph{openKarate(t, &Options{Memory: 1 << 30}), fromMat} {
		var jobs []*Job
		for _, bytes := range []int64{1 << 29, 0, 1 << 28} {
			job, err := g.Leave(bytes, "a table").Begin(t.Context(), &Needs{Structure: true})
			if err != nil {
				t.Fatal(err)
			}
			defer job.End()
			if job.Memory == 0 || job.Graph.Memory != job.Memory {
				t.Errorf("the graph has a limit of %d bytes, the job of %d", job.Graph.Memory, job.Memory)
			}
			jobs = append(jobs, job)
		}
		if jobs[0].Memory >= jobs[1].Memory || jobs[0].Radius != jobs[1].Radius || jobs[0].NullSpace(true) != jobs[2].NullSpace(true) {
			t.Error("jobs share their limits, or nothing")
		}
	}
}

// usesOfGraph returns the jobs of a graph like karate, by methods and by functions with nil settings.
func usesOfGraph(t *testing.T) map[string]func(ctx context.Context, g *Graph) error {
	labels, values := map[string]string{}, map[string]float64{}
	for node := range 34 {
		labels[strconv.Itoa(node+1)] = []string{"a", "b"}[node/17]
		values[strconv.Itoa(node+1)] = float64(node)
	}
	p, err := openKarate(t, nil).Problem(labels)
	classes, failure := method.Parse("lp:alpha=1")
	numbers, third := method.ParseList("harmonic", engine.Numbers)
	if err := errors.Join(err, failure, third); err != nil {
		t.Fatal(err)
	}
	b := mat.NewDense(34, 1, nil)
	b.Set(0, 0, 1)
	o := &ClassifyOptions{Method: "lp:alpha=1"}
	compared := &ClassifyOptions{Method: o.Method, Train: []float64{0.5}, Splits: 1}
	end := func(j *Job, err error) error {
		if err == nil {
			j.End()
		}
		return err
	}
	features := filepath.Join(t.TempDir(), "features.csv")
	if err := os.WriteFile(features, []byte("node,age\n1,30\n34,50\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return map[string]func(ctx context.Context, g *Graph) error{
		"ReadAttributes": func(ctx context.Context, g *Graph) error { _, err := g.ReadAttributes(ctx, features, nil); return err },
		"ReadLabels": func(ctx context.Context, g *Graph) error {
			_, err := g.ReadLabels(ctx, "testdata/golden/karate/labels.tsv", nil)
			return err
		},
		"Begin": func(ctx context.Context, g *Graph) error { return end(g.Begin(ctx, nil)) },
		"LabelledSide": func(ctx context.Context, g *Graph) error {
			_, err := g.LabelledSide(ctx, slices.Repeat([]int{0}, 2*oneSided))
			return err
		},
		"EachEdge": func(ctx context.Context, g *Graph) error { return g.EachEdge(ctx, func(Edge) error { return nil }) },
		"Problem":  func(ctx context.Context, g *Graph) error { _, err := g.Problem(labels); return err },
		"Classify": func(ctx context.Context, g *Graph) error { _, err := g.Classify(ctx, labels, o); return err },
		"Evaluate": func(ctx context.Context, g *Graph) error { _, err := g.Evaluate(ctx, labels, compared); return err },
		"Explain": func(ctx context.Context, g *Graph) error {
			_, err := g.Explain(ctx, labels, []string{"1"}, o)
			return err
		},
		"Regress": func(ctx context.Context, g *Graph) error { _, err := g.Regress(ctx, values, "harmonic"); return err },
		"Rank":    func(ctx context.Context, g *Graph) error { _, err := g.Rank(ctx, []string{"1"}, "", 0); return err },
		"Kernel": func(ctx context.Context, g *Graph) error {
			_, _, err := g.Kernel(ctx, "diffusion", nil, nil, 0)
			return err
		},
		"Eigen": func(ctx context.Context, g *Graph) error {
			_, _, err := g.Eigen(ctx, Laplacian, lanczos.Smallest, 1, 0)
			return err
		},
		"Expm": func(ctx context.Context, g *Graph) error { _, _, err := g.Expm(ctx, -1, Laplacian, b, 0); return err },
		"Solve": func(ctx context.Context, g *Graph) error {
			_, _, err := g.Solve(ctx, Laplacian, 1, 1, b, 0)
			return err
		},
		"Predict": func(ctx context.Context, g *Graph) error {
			_, err := Predict(ctx, g, p, classes[0].Method, nil, nil)
			return err
		},
		"Predict of sets": func(ctx context.Context, g *Graph) error {
			_, err := Predict(ctx, g, p, regression.Spectral, nil, nil)
			return err
		},
		"Predict of values": func(ctx context.Context, g *Graph) error {
			q := &engine.Problem{Row: p.Row, Value: slices.Clone(b.RawMatrix().Data)}
			_, err := Predict(ctx, g, q, method.Best(numbers), nil, nil)
			return err
		},
		"Compare": func(ctx context.Context, g *Graph) error {
			_, err := Compare(ctx, g, p, &evaluate.Plan{Methods: classes, Fractions: compared.Train, Splits: 1})
			return err
		},
		"RankNodes": func(ctx context.Context, g *Graph) error {
			_, _, err := RankNodes(ctx, g, &method.RankProblem{Seeds: []int{0, 4}}, "diffusion", nil, nil)
			return err
		},
		"OpenKernel": func(ctx context.Context, g *Graph) error {
			k, err := OpenKernel(ctx, g, "diffusion", nil, []int{0}, []int{1, 2}, nil)
			if err == nil {
				_, _, err = kernel.Matrix(ctx, k.Kernel, k.Rows, k.Cols, nil)
				k.Job.End()
			}
			return err
		},
		"OpenFunction": func(ctx context.Context, g *Graph) error {
			n := &kernel.NamedFunction{Name: kernel.ExpFunction, Given: param.Values{"t": param.Of(-1.0)}}
			f, err := OpenFunction(ctx, g, n, 1, nil)
			if err == nil {
				x := g.toRows(b)
				_, err = f.ApplyTo(ctx, sparse.NewBlock[float64](34, 1), x, nil)
				f.Job.End()
			}
			return err
		},
		"Eigenpairs": func(ctx context.Context, g *Graph) error {
			_, err := Eigenpairs(ctx, g, &lanczos.GraphProblem{Matrix: Laplacian, Which: lanczos.Smallest}, 2, nil)
			return err
		},
	}
}

func TestClosedGraph(t *testing.T) {
	closed := openKarate(t, &Options{Stream: true})
	p, err := closed.Classify(t.Context(), map[string]string{"1": "a", "34": "b"}, &ClassifyOptions{Method: "lgc:alpha=0.9"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(closed.Close(), closed.Close()); err != nil {
		t.Fatal(err)
	}
	for name, use := range usesOfGraph(t) {
		for _, g := range []*Graph{closed, new(Graph)} {
			if err := use(t.Context(), g); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if ids := closed.With(1, nil).Leave(1, "a table").IDs(); len(ids) != 34 || closed.Plan().Required() == 0 || closed.Origin().Directed {
		t.Errorf("%d ids", len(ids))
	}
	if label := p.Label("33"); label != "b" || len(p.Scores("2")) != 2 {
		t.Errorf("label %q, scores %v", label, p.Scores("2"))
	}
	for what, err := range map[string]error{"reasons": p.AddReasons(t.Context(), []int{1}), "a sweep": sparse.Sweep(t.Context(), closed.A, 1, nil)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// countdown is a context that ends after a number of calls of Err.
type countdown struct {
	context.Context
	left atomic.Int64
	end  func()
}

func newCountdown(t *testing.T, questions int, cause error) *countdown {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &countdown{Context: ctx, end: func() { cancel(cause) }}
	c.left.Store(int64(questions))
	t.Cleanup(c.end)
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) == 0 {
		c.end()
	}
	return c.Context.Err()
}

// The error is both the error and the cause of the context.
func TestEndsWithCause(t *testing.T) {
	uses := usesOfGraph(t)
	uses["Open"] = func(ctx context.Context, _ *Graph) error {
		g, err := Open(ctx, karateEdges, nil)
		if err == nil {
			err = g.Close()
		}
		return err
	}
	uses["FromMat"] = func(ctx context.Context, _ *Graph) error {
		_, err := FromMat(ctx, mat.NewDense(3, 3, []float64{0, 1, 0, 0, 0, 1, 1, 0, 0}), nil)
		return err
	}
	uses["FromGraph"] = func(ctx context.Context, _ *Graph) error {
		g := simple.NewUndirectedGraph()
		g.SetEdge(simple.Edge{F: simple.Node(1), T: simple.Node(2)})
		_, err := FromGraph(ctx, g, nil)
		return err
	}
	cause := errors.New("enough")
	for name, use := range uses {
		g := openKarate(t, &Options{Stream: true})
		for questions := 1; ; questions += 1 + questions/4 {
			ctx := newCountdown(t, questions, cause)
			err := use(ctx, g)
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
				t.Fatalf("%s after %d questions: %v", name, questions, err)
			}
		}
	}
}

// greedy is a kernel that takes all memory of its settings.
type greedy struct {
	nodes int
	heap  uint64 // heap when the kernel has taken the memory
}

func (k *greedy) Len() int { return k.nodes }

func (k *greedy) Block(_ context.Context, _, _ []int, _ kernel.Sink, s *kernel.Settings) (*kernel.Report, error) {
	taken := make([]byte, s.Memory)
	k.heap = heapInUse()
	runtime.KeepAlive(taken)
	return new(kernel.Report), nil
}

func (k *greedy) ApplyTo(context.Context, *sparse.Block[float64], *sparse.Block[float64], *kernel.Settings) (*kernel.Report, error) {
	return nil, errors.ErrUnsupported
}

// heapInUse collects twice, because pools keep objects until the second collection.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// The layout of the graph is chosen after the estimate.
func TestKernelWithinLimit(t *testing.T) {
	const n = 1 << 16
	path := filepath.Join(t.TempDir(), "edges.tsv")
	rng := rand.New(rand.NewPCG(1, 1))
	var text []byte
	for range 16 * n { // hubs are few, so that most entries are in the first columns
		text = fmt.Appendln(text, int(n*math.Pow(rng.Float64(), 3)), int(n*math.Pow(rng.Float64(), 3)))
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var opened *greedy
	family := &kernel.Family{Spec: param.Spec{Name: "greedy", Works: param.Undirected},
		New: func(_ context.Context, g *graph.Graph, _ param.Values) (kernel.Kernel, error) {
			opened = &greedy{nodes: len(g.Degrees)}
			return opened, nil
		}}
	kernel.Register(family)
	const limit = 128 << 20
	cache := sched.CacheBytes
	sched.CacheBytes = func() int { return 1 << 20 } // the layout depends on it
	defer func() { sched.CacheBytes = cache }()
	before := heapInUse()
	g, err := Open(t.Context(), path, &Options{Memory: limit, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }() // only reads
	if _, _, err := g.Kernel(t.Context(), "greedy", []string{"0"}, []string{"1"}, 0); err != nil {
		t.Fatal(err)
	}
	peak := int64(opened.heap - before)
	if !g.Store.Copy.Tiled || peak > limit || peak < limit*9/10 {
		t.Errorf("%d bytes in use, of a limit of %d; layout %+v", peak, limit, g.Store.Copy)
	}
}
