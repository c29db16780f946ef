package heatwalk

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Plan is the estimate of the memory and the sweeps of a job, see [Options.Planned].
type Plan = budget.Plan

// Plan returns a plan with the memory of the graph and the memory that [Graph.Leave] reserves. It waits while a job puts the
// graph into memory.
func (g *Graph) Plan() *Plan {
	held, _ := g.heldBytes(context.Background(), false) // the context does not end
	return g.plan(held)
}

func (g *Graph) plan(held int64) *Plan {
	p := &budget.Plan{Limit: g.options.Memory} // the next part that a job reserves reports an error
	_ = p.Reserve(held, budget.GraphPart)
	for _, item := range g.held {
		_ = p.Reserve(item.Bytes, item.What)
	}
	return p
}

// heldBytes returns the memory of the graph in bytes. If reweighs is set and no copy of the graph has been loaded, it counts
// no copy.
func (g *Graph) heldBytes(ctx context.Context, reweighs bool) (bytes int64, err error) {
	s := g.Store
	if s == nil {
		return 0, nil
	}
	err = g.resources.use(ctx, func() error {
		bytes = s.Held() + sparse.LongRowBytes(s.Store, g.options.Workers)
		if reweighs && g.resources.a == nil && s.Copy != nil {
			bytes -= s.Copy.Matrix
		}
		return nil
	})
	return bytes, err
}

// Leave returns a handle of the graph whose jobs leave the given bytes of memory to the caller, for
// example for a table. what names this memory in plans.
func (g *Graph) Leave(bytes int64, what string) *Graph {
	out := *g
	out.held = append(slices.Clip(g.held), budget.Item{What: what, Bytes: bytes})
	return &out
}

// Needs describes what a job needs of the graph.
type Needs struct {
	Named      [][]int // rows that every process must have
	Structure  bool    // components and what else [graph.New] finds
	Components bool    // components, before the memory is planned
	Transpose  bool    // Aᵀ of a directed graph whose rows several processes share
	Reweighs   bool    // the job changes the weights of edges, so that a copy of the matrix in memory is of no use

	// Labels is the number of labels or values that the job learns from or compares with, for the plan of the memory.
	Labels int

	// Workspace returns the memory of the job, which Part names in the plan, and sets the sweeps of the plan. If the job does
	// not fit while the graph is in memory, Workspace is called again, with a larger Job.Memory. Nil means that the job takes
	// no memory.
	Workspace func(j *Job, p *Plan) (budget.Workspace, error)
	Part      string
}

// Job is one computation on a graph. It has the rows of this process, possibly all rows, and the memory for the computation.
// It must be ended by [Job.End]. Many goroutines may use it.
type Job struct {
	*graph.Graph       // A and degrees, and with Needs.Structure the rest
	Memory       int64 // bytes for the computation, the same in all processes; 0: no limit

	g           *Graph
	division    *sparse.Division // division of the rows among processes; nil: this process has all
	data, bytes int64            // memory of the graph, and of the job
	isRunning   atomic.Bool      // the job has its bytes from the pool
}

// resources are what jobs have computed of the graph, shared by all its handles.
type resources struct {
	turn       chan struct{} // has an element while a job uses the fields below or the layout of the store
	pool       *budget.Pool  // memory of all jobs
	a          sparse.Matrix // matrix in memory, in the layout of the first job; nil: not yet
	components *sparse.Components
	structured *graph.Graph // graph with its components; nil: not yet
	isArranged bool
	isClosed   atomic.Bool
}

// use calls do when no other job uses the resources. If ctx ends first, it returns the cause. do must not call functions of
// the user, because these may use the resources too.
func (r *resources) use(ctx context.Context, do func() error) error {
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
		return do()
	case <-ctx.Done():
		return sched.Cause(ctx)
	}
}

// ErrClosed is the error of a job on a graph that was closed or never opened.
var ErrClosed = shard.ErrClosed

func (g *Graph) checkOpen() error {
	if g.resources == nil || g.resources.isClosed.Load() {
		return ErrClosed
	}
	return nil
}

// Begin begins a job: it plans the memory, calls [Options.Planned], and provides the rows. A nil n means the zero value. The
// first job decides which parts of the graph stay in memory, and in which layout. Methods of Graph begin their own jobs.
//
// Begin waits, at most until ctx ends, while another job puts the graph into memory, while other jobs leave too little of
// [Options.Memory], and while [Options.Jobs] jobs compute. Jobs begin in the order of the calls. A job that would not fit
// alone is refused at once.
//
// A goroutine must end its job before it begins another job; otherwise Begin may wait forever. [Options.Planned] and
// Needs.Workspace may begin jobs, because their job has not begun yet.
func (g *Graph) Begin(ctx context.Context, n *Needs) (*Job, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	if n == nil {
		n = new(Needs)
	}
	j := &Job{Graph: g.graph(), g: g}
	var err error
	switch {
	case g.options.Network != nil:
		err = j.divide(ctx, n)
	case n.Structure:
		err = blocks.CheckScale[float64](nil, g.Degrees)
	}
	if err == nil && n.Components && j.division == nil {
		err = g.resources.use(ctx, func() (err error) {
			r := g.resources
			if r.structured != nil {
				r.components = r.structured.Components
			}
			if r.components == nil {
				r.components, err = j.FindComponents(ctx)
			}
			j.Components = r.components
			return err
		})
	}
	if err == nil {
		err = j.load(ctx, n)
	}
	if err == nil {
		err = j.enter(ctx)
	}
	if err != nil {
		return nil, err
	}
	if j.division != nil {
		j.Memory = j.division.Team.LeastLimit(j.Memory)
		j.Graph.Memory = j.Memory
		return j, nil
	}
	if err := g.resources.use(ctx, func() error { return j.place(ctx, n) }); err != nil {
		j.End()
		return nil, err
	}
	return j, nil
}

// graph returns a copy of the graph for one job or problem, which may add its components.
func (g *Graph) graph() *graph.Graph {
	return &graph.Graph{A: g.A, Nodes: g.Nodes, Signed: g.Signed, Symmetric: !g.Directed,
		Degrees: g.Degrees, Hyperedges: g.Hyperedges, Workers: g.options.Workers,
		TempDir: g.tempParent()}
}

// enter waits for the memory of the job, and reserves it until [Job.End].
func (j *Job) enter(ctx context.Context) error {
	err := j.g.resources.pool.Enter(ctx, j.data, j.bytes)
	j.isRunning.Store(err == nil)
	return err
}

// End ends a job and releases its memory. The job, and values that compute with it such as an opened kernel, must not be used
// afterwards; results may be used. A second call does nothing.
func (j *Job) End() {
	if j.isRunning.Swap(false) {
		j.g.resources.pool.Leave(j.bytes)
	}
}

func (j *Job) plan(ctx context.Context, n *Needs) (p *Plan, err error) {
	if j.data, err = j.g.heldBytes(ctx, n.Reweighs); err != nil {
		return nil, err
	}
	p = j.g.plan(j.data)
	p.Sweeps = budget.UnknownSweeps
	if j.division != nil {
		_ = p.Reserve(j.dividedBytes(), "rows of this process") // the next part reports the error
	}
	if n.Labels > 0 {
		_ = p.Reserve(budget.LearnerBytes+budget.LabelBytes*int64(n.Labels), budget.LabelPart)
	}
	j.Memory = p.Room()
	if n.Workspace == nil {
		return p, nil
	}
	space, err := n.Workspace(j, p)
	return p, p.ReserveJob(space, err, n.Part)
}

// load plans the memory of the job with the needs n, decides whether entries stay in memory or on disk, and then calls
// [Options.Planned].
func (j *Job) load(ctx context.Context, n *Needs) error {
	s := j.g.Store
	r := j.g.resources
	p, err := j.plan(ctx, n)
	if err != nil && s != nil {
		isLess := false
		failure := r.use(ctx, func() (failure error) {
			if r.a == nil {
				isLess, failure = s.KeepOnDisk()
			}
			return failure
		})
		if failure != nil {
			return failure
		}
		if isLess {
			p, err = j.plan(ctx, n)
		}
	}
	if err == nil && s != nil && !n.Reweighs {
		err = r.use(ctx, func() error { return j.arrange(ctx, p) })
	}
	if err != nil {
		return err
	}
	j.bytes = p.Most() - j.data
	if j.g.options.Planned != nil {
		return j.g.options.Planned(p)
	}
	return nil
}

func (j *Job) arrange(ctx context.Context, p *Plan) error {
	s := j.g.Store
	r := j.g.resources
	if !r.isArranged && s.Copy != nil {
		spare, _ := p.Left()
		spare = max(0, spare-int64(max(1, j.g.options.Jobs)-1)*(p.Most()-j.data))
		o := sparse.LayoutOptions{RowBytes: p.RowBytes}
		if p.Sweeps != budget.UnknownSweeps {
			o.Sweeps = max(1, p.Sweeps)
		}
		if err := s.Arrange(ctx, o, spare); err != nil {
			return err
		}
		r.isArranged = true
	}
	now := s.Held() + sparse.LongRowBytes(s.Store, j.g.options.Workers)
	growth := max(0, now-j.data) // another job may have changed the layout since the plan
	j.Memory = budget.Subtract(j.Memory, growth)
	j.data += growth
	return p.Reserve(growth, budget.GraphPart)
}

// place puts the graph into memory, and computes degrees and other properties as [graph.New] does, once for all jobs.
func (j *Job) place(ctx context.Context, n *Needs) error {
	r := j.g.resources
	if s := j.g.Store; s != nil && r.a == nil && !n.Reweighs {
		if err := s.Load(ctx); err != nil {
			return err
		}
		r.a = s.A
	}
	if r.a != nil {
		j.A = r.a
	}
	if !n.Structure {
		return nil
	}
	if r.structured == nil {
		set := &graph.Settings{Nodes: j.Nodes, Symmetric: j.Symmetric,
			Components: j.Components, Workers: j.Workers}
		if m := j.g.Store.Manifest; !m.Weighted && m.SelfLoops == 0 && !m.HasCodes() {
			set.Degrees = j.Degrees
		}
		structured, err := graph.New(ctx, j.A, set)
		if err != nil {
			return err
		}
		structured.TempDir = j.TempDir
		structured.In = j.g.In
		structured.Hyperedges = j.Hyperedges
		r.structured = structured
	}
	j.Graph = r.structured.WithMemory(j.Memory)
	j.Graph.Workers = j.g.options.Workers
	return nil
}

// divide replaces the rows of the job by the rows of this process.
func (j *Job) divide(ctx context.Context, n *Needs) error {
	g := j.g
	full := &graph.Graph{A: g.A, Nodes: g.Nodes, Symmetric: !g.Directed, Hyperedges: g.Hyperedges,
		Workers: g.options.Workers}
	if n.Structure || n.Transpose {
		full.In = g.In
	}
	rows := slices.Concat(n.Named...)
	slices.Sort(rows)
	network := g.options.Network
	j.division = sparse.NewDivision(g.Nodes.Len(), network,
		partition.Divide(g.A, network.Size()), slices.Compact(rows))
	local, err := graph.Divide(ctx, full, j.division, g.Plan().Room())
	if err != nil {
		return err
	}
	local.TempDir = j.TempDir
	j.Graph = local
	return nil
}

func (j *Job) dividedBytes() int64 {
	bytes := []float64{0}
	for _, a := range []sparse.Matrix{j.A, j.In} {
		if a, ok := a.(*sparse.Divided); ok {
			bytes[0] += float64(a.Bytes())
		}
	}
	j.division.Team.Max(bytes) // plans are the same in all processes
	return int64(bytes[0])
}

// Problem returns a problem on the rows of the job. The job must have named the labelled nodes.
func (j *Job) Problem(p *engine.Problem) *engine.Problem {
	out := *p
	out.Graph = j.Graph
	out.Edges = j.g.edges
	if j.division == nil {
		return &out
	}
	out.Row = j.Rows(p.Row)
	if p.Attributes != nil {
		out.Attributes = p.Attributes.Part(j.division)
	}
	if e := j.g.edges; e != nil {
		out.Edges = &sides.Edges{Store: e.Store, Options: e.Options, Weighted: e.Weighted,
			Streamed: e.Streamed, Division: j.division}
	}
	return &out
}

// Rows returns, for rows of the graph, the rows of the same nodes in blocks of the job. The job
// must have named these rows, see [Needs].
func (j *Job) Rows(rows []int) []int {
	if j.division == nil {
		return rows
	}
	local := make([]int, len(rows))
	for i, row := range rows {
		var ok bool
		local[i], ok = j.Row(row)
		if !ok {
			panic("heatwalk: a row that was not named")
		}
	}
	return local
}

// Row returns, for a row of the graph, the row of the same node in blocks of the job. ok is false if only another
// process has the row.
func (j *Job) Row(row int) (local int, ok bool) {
	if j.division == nil {
		return row, true
	}
	return j.division.Local(row)
}

// Part returns, from a block b of all nodes, the rows of this process. If b is nil, it returns nil.
func (j *Job) Part(b *sparse.Block[float64]) *sparse.Block[float64] {
	if j.division == nil || b == nil {
		return b
	}
	return sparse.PartOf(j.division, b)
}

// ErrFollower is the error of a job with [Options.Network] in every process except process 0, which has the result.
var ErrFollower = errors.New("heatwalk: process 0 has the result")

// Gather returns the block of all nodes in process 0, and nil in other processes. Every process must call it.
func (j *Job) Gather(b *sparse.Block[float64]) *sparse.Block[float64] {
	return gather(j, b)
}

func gather[T sparse.Float](j *Job, b *sparse.Block[T]) *sparse.Block[T] {
	if j.division == nil || b == nil {
		return b
	}
	return sparse.Gather(j.division, b)
}

// allDegrees returns the degrees of all nodes, which may differ by rounding from the degrees in the store.
func (j *Job) allDegrees() []float64 {
	if j.division == nil {
		return j.Degrees
	}
	full := sparse.GatherAll(j.division,
		sparse.BlockOf(len(j.Degrees), 1, j.Degrees))
	return mat.Col(nil, 0, full)
}

func (j *Job) result() error {
	if j.division != nil && j.division.Team.Rank() > 0 {
		return ErrFollower
	}
	return nil
}

// gatherPrediction replaces, in process 0, a prediction of the local rows by the prediction of all nodes.
func (j *Job) gatherPrediction(out *engine.Prediction) error {
	if j.division == nil {
		return nil
	}
	if out.Value != nil {
		out.Value, out.Reached = j.gatherReached(out.Value, out.Reached)
		return j.result()
	}
	out.Scores = gather(j, out.Scores)
	out.Raw = gather(j, out.Raw)
	class := make([]float64, len(out.Class))
	for i, c := range out.Class {
		class[i] = float64(c)
	}
	class, out.Reached = j.gatherReached(class, out.Reached)
	out.Class = make([]int, len(class))
	for i, c := range class {
		out.Class[i] = int(c)
	}
	return j.result()
}

// gatherReached returns, in process 0, the values and the reached rows of all processes, elsewhere nil.
func (j *Job) gatherReached(values []float64,
	reached *roaring.Bitmap) ([]float64, *roaring.Bitmap) {
	if j.division == nil {
		return values, reached
	}
	nodes := sparse.NewBlock[float64](len(values), 2)
	for i, v := range values {
		nodes.Row(i)[0] = v
		if reached.Contains(uint32(i)) {
			nodes.Row(i)[1] = 1
		}
	}
	nodes = gather(j, nodes)
	if nodes == nil {
		return nil, nil
	}
	values = make([]float64, nodes.Rows)
	reached = roaring.New()
	for i := range values {
		values[i] = nodes.Row(i)[0]
		if nodes.Row(i)[1] == 1 {
			reached.Add(uint32(i))
		}
	}
	reached.RunOptimize()
	return values, reached
}
