package heatwalk

import (
	"context"
	"slices"
	"sync"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/partition"
	"github.com/heatwalk/heatwalk/sparse"
)

// Plan is the estimate of the memory and the sweeps of a job, see [Options.Planned].
type Plan = budget.Plan

// Plan returns a plan with the memory of the graph and that of [Graph.Leave].
func (g *Graph) Plan() *Plan {
	g.resources.Lock()
	defer g.resources.Unlock()
	return planOf(g)
}

func planOf(g *Graph) *Plan {
	p := &budget.Plan{Limit: g.options.Memory} // the next part that a job reserves reports an error
	if g.Store != nil {
		_ = p.Reserve(g.Store.Held()+
			sparse.LongRowBytes(g.Store.Store, g.options.Workers), budget.GraphPart)
	}
	for _, item := range g.held {
		_ = p.Reserve(item.Bytes, item.What)
	}
	return p
}

// Leave returns the graph for jobs that leave memory to the caller, for example for a table.
func (g *Graph) Leave(bytes int64, what string) *Graph {
	out := *g
	out.held = append(slices.Clip(g.held), budget.Item{What: what, Bytes: bytes})
	return &out
}

// Needs are the parts of the graph that a job computes with.
type Needs struct {
	Named      [][]int // lists of rows that every process has, because the job names them
	Structure  bool    // the components and what else [graph.New] finds
	Components bool    // the components, before the memory is planned
	Transpose  bool    // Aᵀ of a directed graph whose rows several processes share
	Reweighs   bool    // the weights of edges change, so that a copy of them is of no use

	// Labels is the number of labels or values that the job learns from or compares with; they are part of the plan.
	Labels int

	// Bytes returns the memory of the job, or of its Part, within Job.Memory, and sets the sweeps of the plan. It is
	// called again, with more memory, if the job does not fit unless the graph stays on disk. Nil: it takes none.
	Bytes func(j *Job, p *Plan) (int64, error)
	Part  string
}

// Job is one computation on a graph: the rows of this process, which may be all, and the memory for the computation.
// A function that takes a job computes no property of the graph.
type Job struct {
	*graph.Graph       // A and degrees, and with Needs.Structure the rest
	Memory       int64 // bytes for the computation, the same in all processes; 0: no limit

	g        *Graph
	division *sparse.Division // of the rows among several processes; nil: this process has all
}

// resources are the properties of a graph that jobs have found, for all handles of the graph.
type resources struct {
	sync.Mutex
	a        sparse.Matrix // in memory, in the layout that the first job has chosen; nil: not yet
	whole    *graph.Graph  // with its components; nil: not yet
	isClosed bool
}

// Begin begins a job: it plans the memory, calls [Options.Planned], and provides the rows. The first job decides
// which parts of the graph stay in memory, and in which layout. Methods of Graph begin their own jobs.
func (g *Graph) Begin(ctx context.Context, n *Needs) (*Job, error) {
	j := &Job{Graph: &graph.Graph{A: g.A, Nodes: g.Nodes, Signed: g.Signed,
		Degrees: g.Degrees, Hyperedges: g.Hyperedges, Workers: g.options.Workers,
		TempDir: tempParent(g)}, g: g}
	var err error
	switch {
	case g.options.Network != nil:
		err = j.divide(ctx, n)
	case n.Structure:
		err = blocks.CheckScale[float64](nil, g.Degrees)
	}
	if err != nil {
		return nil, err
	}
	g.resources.Lock()
	defer g.resources.Unlock()
	if n.Structure && j.division == nil && g.resources.whole != nil {
		j.Components = g.resources.whole.Components
	} else if n.Components && j.division == nil {
		if j.Components, err = sparse.FindComponentsInOrder(ctx, g.A,
			g.Nodes.Rows(), g.options.Workers); err != nil {
			return nil, err
		}
	}
	if err := j.load(ctx, n); err != nil {
		return nil, err
	}
	if j.division != nil {
		j.Memory = j.division.Team.LeastLimit(j.Memory)
		j.Graph.Memory = j.Memory
		return j, nil
	}
	if n.Structure {
		err = j.addStructure(ctx)
	}
	return j, err
}

// plan plans the memory of a job.
func (j *Job) plan(n *Needs) (*Plan, error) {
	p := planOf(j.g)
	p.Sweeps = budget.UnknownSweeps
	p.Named = len(slices.Concat(n.Named...))
	if j.division != nil {
		_ = p.Reserve(j.dividedBytes(), "rows of this process") // the next part reports the error
	}
	if n.Labels > 0 {
		_ = p.Reserve(budget.LearnerBytes+budget.LabelBytes*int64(n.Labels), budget.LabelPart)
	}
	j.Memory = p.Room()
	if n.Bytes == nil {
		return p, nil
	}
	bytes, err := n.Bytes(j, p)
	return p, p.ReserveJob(bytes, err, n.Part)
}

// load plans the memory of a job, and provides the matrix.
func (j *Job) load(ctx context.Context, n *Needs) error {
	g := j.g
	s := g.Store
	isPlaced := s == nil || g.resources.a != nil // in memory
	if !isPlaced && n.Reweighs {
		defer func(copied *sparse.Layout) {
			if !s.IsStreamed() {
				s.Copy = copied // for later jobs
			}
		}(s.Copy)
		s.Copy = nil
	}
	p, err := j.plan(n)
	if err != nil && !isPlaced {
		isLess, failure := s.KeepOnDisk()
		if failure != nil {
			return failure
		}
		if isLess {
			p, err = j.plan(n)
		}
	}
	if err == nil && !isPlaced && s.Copy != nil {
		err = j.arrange(ctx, p)
	}
	if err == nil && g.options.Planned != nil {
		err = g.options.Planned(p)
	}
	if err != nil || s == nil || j.division != nil {
		return err
	}
	if g.resources.a == nil && !n.Reweighs {
		if err := s.Load(ctx); err != nil {
			return err
		}
		g.resources.a = s.A
	}
	if g.resources.a != nil {
		j.A = g.resources.a
	}
	return nil
}

// arrange chooses the layout of the copy of the graph within the memory that a plan leaves.
func (j *Job) arrange(ctx context.Context, p *Plan) error {
	s := j.g.Store
	held := s.Held()
	spare, _ := p.Left()
	o := sparse.LayoutOptions{RowBytes: p.RowBytes}
	if p.Sweeps != budget.UnknownSweeps {
		o.Sweeps = max(1, p.Sweeps)
	}
	if err := s.Arrange(ctx, o, spare); err != nil {
		return err
	}
	more := s.Held() - held
	j.Memory = budget.Subtract(j.Memory, more)
	return p.Reserve(more, budget.GraphPart)
}

// addStructure adds what [graph.New] finds, once for all jobs.
func (j *Job) addStructure(ctx context.Context) error {
	g := j.g
	if g.resources.whole == nil {
		graphOfRows, err := graph.New(ctx, j.A,
			&graph.Settings{Nodes: g.Nodes, Components: j.Components,
				Workers: g.options.Workers})
		if err != nil {
			return err
		}
		graphOfRows.Memory = j.Memory
		graphOfRows.TempDir = j.TempDir
		graphOfRows.In = g.In
		graphOfRows.Hyperedges = g.Hyperedges
		g.resources.whole = graphOfRows
	}
	j.Graph = g.resources.whole
	return nil
}

// divide replaces the rows by those of this process.
func (j *Job) divide(ctx context.Context, n *Needs) error {
	g := j.g
	full := &graph.Graph{A: g.A, Nodes: g.Nodes, Hyperedges: g.Hyperedges,
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

// dividedBytes returns the memory of the rows of a process, the largest one of all processes.
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

// Problem returns a problem on the rows of the job, which has named its labelled nodes.
func (j *Job) Problem(p *method.Problem) *method.Problem {
	out := *p
	out.Graph = &graph.Graph{A: j.A, In: j.In, Signed: j.Signed, Degrees: j.Degrees,
		TempDir: j.TempDir}
	if j.division == nil {
		out.In = nil
	}
	out.Row = j.Rows(p.Row)
	out.Attributes = j.attributes(p.Attributes)
	out.Edges = j.edges()
	return &out
}

// edges returns the edges with kinds or times; nil: there are none.
func (j *Job) edges() *sides.Edges {
	if j.division == nil || j.g.edges == nil {
		return j.g.edges
	}
	e := j.g.edges
	return &sides.Edges{Store: e.Store, Options: e.Options, Weighted: e.Weighted,
		Streamed: e.Streamed, Division: j.division}
}

// Rows returns the rows of blocks for rows of the graph that the job has named.
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

// Row returns the row of blocks for a row of the graph. ok is false if only another process has it.
func (j *Job) Row(row int) (local int, ok bool) {
	if j.division == nil {
		return row, true
	}
	return j.division.Local(row)
}

// Part returns the rows of a block of all nodes for the job, nil of nil.
func (j *Job) Part(b *sparse.Block[float64]) *sparse.Block[float64] {
	if j.division == nil || b == nil {
		return b
	}
	return sparse.PartOf(j.division, b)
}

// attributes returns the attributes of the rows of the job, nil of nil.
func (j *Job) attributes(t *sparse.Table) *sparse.Table {
	if j.division == nil || t == nil {
		return t
	}
	return t.Part(j.division)
}
