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
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

const karateEdges = "testdata/golden/karate/edges.tsv"

// soon fails if do takes more than half a minute.
func soon(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("waits for ever")
	}
}

// openKarate opens the karate club.
func openKarate(t *testing.T, o *Options) *Graph {
	t.Helper()
	g, err := Open(t.Context(), karateEdges, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() }) // only reads
	return g
}

// The functions that a job calls while it plans may use the graph: plans, other handles, and jobs.
func TestPlannedUsesGraph(t *testing.T) {
	var g *Graph
	calls := 0
	g = openKarate(t, &Options{Memory: 1 << 30, Jobs: 1, Planned: func(p *Plan) error {
		calls++
		if calls > 1 {
			return nil
		}
		if room := g.Leave(1<<20, "a table").Plan().Room(); room >= g.Plan().Room() || p.Total() == 0 {
			t.Errorf("%d bytes are left beside a table", room)
		}
		_, _, err := g.Kernel(t.Context(), "diffusion:beta=2", []string{"1"}, nil, nil)
		return err
	}})
	soon(t, func() {
		job, err := g.Begin(t.Context(), &Needs{Structure: true, Bytes: func(*Job, *Plan) (int64, error) {
			return g.Plan().Room() / 2, nil
		}})
		if err != nil || calls != 2 || len(job.Components.Sizes) != 1 {
			t.Errorf("%d plans, %v", calls, err)
		}
	})
}

// A job that waits for another one, which puts the graph into memory, ends with its context.
func TestBeginEndsWithContext(t *testing.T) {
	g := openKarate(t, nil)
	g.resources.turn <- struct{}{}
	cause := errors.New("enough")
	for _, n := range []*Needs{{}, {Structure: true}, {Components: true}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
		soon(t, func() {
			if _, err := g.Begin(ctx, n); !errors.Is(err, cause) {
				t.Errorf("%+v: %v", n, err)
			}
		})
	}
	<-g.resources.turn
	if _, err := g.Begin(t.Context(), &Needs{Structure: true}); err != nil {
		t.Error(err)
	}
}

// Every job has the memory that its handle leaves, also where it shares properties of the graph with others.
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

// usesOfGraph returns calls of the methods of a graph, and of functions that take one, on karate.
func usesOfGraph(t *testing.T) map[string]func(g *Graph) {
	p := &method.Problem{}
	labels := map[string]string{"1": "a", "34": "b"}
	b := mat.NewDense(34, 1, nil)
	return map[string]func(g *Graph){
		"Plan":  func(g *Graph) { g.Plan() },
		"Leave": func(g *Graph) { g.Leave(1, "a table") },
		"With":  func(g *Graph) { g.With(1, nil) },
		"OpenFunction": func(g *Graph) {
			if f, err := OpenFunction(t.Context(), g, &kernel.NamedFunction{Name: kernel.ExpFunction}, 1, new(kernel.Settings)); err == nil {
				f.Job.End()
			}
		},
		"Begin": func(g *Graph) {
			if job, err := g.Begin(t.Context(), nil); err == nil {
				job.End()
			}
		},
		"Origin":     func(g *Graph) { g.Origin() },
		"IDs":        func(g *Graph) { g.IDs() },
		"EachEdge":   func(g *Graph) { _ = g.EachEdge(t.Context(), func(Edge) error { return nil }) },
		"Problem":    func(g *Graph) { _, _ = g.Problem(labels) },
		"NewProblem": func(g *Graph) { NewProblem(g, nil, nil, nil) },
		"Classify":   func(g *Graph) { _, _ = g.Classify(t.Context(), labels, nil) },
		"Evaluate":   func(g *Graph) { _, _ = g.Evaluate(t.Context(), labels, nil) },
		"Explain":    func(g *Graph) { _, _ = g.Explain(t.Context(), labels, []string{"1"}, nil) },
		"Regress":    func(g *Graph) { _, _ = g.Regress(t.Context(), map[string]float64{"1": 1}, "harmonic") },
		"Rank":       func(g *Graph) { _, _ = g.Rank(t.Context(), []string{"1"}, "diffusion", nil) },
		"Kernel":     func(g *Graph) { _, _, _ = g.Kernel(t.Context(), "diffusion", nil, nil, nil) },
		"Eigen":      func(g *Graph) { _, _, _ = g.Eigen(t.Context(), Laplacian, lanczos.Smallest, 1, nil) },
		"Expm":       func(g *Graph) { _, _, _ = g.Expm(t.Context(), -1, Laplacian, b, nil) },
		"Solve":      func(g *Graph) { _, _, _ = g.Solve(t.Context(), Laplacian, 1, 1, b, nil) },
		"Predict": func(g *Graph) {
			entries, err := method.Parse("lp")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = Predict(t.Context(), g, p, entries[0].Method, new(method.Settings), nil)
		},
	}
}

// A closed graph, and one that was never opened, panic with a constant of the package, whatever is asked of them.
func TestClosedGraph(t *testing.T) {
	for name, use := range usesOfGraph(t) {
		closed := openKarate(t, nil)
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		for _, g := range []*Graph{closed, new(Graph)} {
			if got := panicOf(func() { use(g) }); got != closedGraph {
				t.Errorf("%s: panic %v", name, got)
			}
		}
	}
}

// Predictions of a graph that was closed can be read, and matrices of it are not swept.
func TestAfterClose(t *testing.T) {
	g := openKarate(t, &Options{Stream: true})
	p, err := g.Classify(t.Context(), map[string]string{"1": "a", "34": "b"}, &ClassifyOptions{Method: "lgc:alpha=0.9"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if label := p.Label("33"); label != "b" || len(p.Scores("2")) != 2 {
		t.Errorf("label %q, scores %v", label, p.Scores("2"))
	}
	if got := panicOf(func() { _ = p.AddReasons(t.Context(), []int{1}) }); got != closedGraph {
		t.Errorf("reasons: panic %v", got)
	}
	if got := panicOf(func() { _ = sparse.Sweep(t.Context(), g.A, 1, nil) }); got != "shard: the store is closed" {
		t.Errorf("a sweep: panic %v", got)
	}
}

// panicOf returns the value of the panic of a function, nil of none.
func panicOf(do func()) (value any) {
	defer func() { value = recover() }()
	do()
	return nil
}

// greedy is a kernel that takes all memory of its settings.
type greedy struct {
	nodes int
	heap  uint64 // in use when it has taken the memory
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

// heapInUse returns the bytes of reachable objects.
func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A job and the layout of the graph, which is chosen after the estimate, together stay within the limit: a
// kernel that takes all memory of its settings reaches it, and no more.
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
	before := heapInUse()
	g, err := Open(t.Context(), path, &Options{Memory: limit, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = g.Close() }() // only reads
	if _, _, err := g.Kernel(t.Context(), "greedy", []string{"0"}, []string{"1"}, nil); err != nil {
		t.Fatal(err)
	}
	peak := int64(opened.heap - before)
	if !g.Store.Copy.Tiled || peak > limit || peak < limit*9/10 {
		t.Errorf("%d bytes in use, of a limit of %d; layout %+v", peak, limit, g.Store.Copy)
	}
}
