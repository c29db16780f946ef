// Package heatwalk predicts the labels of all nodes of a graph from the labels of a few nodes. It also computes kernel blocks,
// eigenvectors, solutions of linear systems and matrix exponentials of a graph.
//
// [Open] opens a store, a graph file or a folder of LINQS files; [FromMat] takes a gonum matrix, [FromGraph] a gonum graph.
// The everyday jobs are methods of the resulting [Graph]: [Graph.Classify], [Graph.Evaluate], [Graph.Regress], [Graph.Rank],
// [Graph.Kernel], [Graph.Eigen], [Graph.Solve] and [Graph.Expm]. They name nodes by their ids, and take and return gonum
// matrices whose rows are in the order of [Graph.IDs]. Tolerances must be less than 1; 0 means 1e-8. If rounding errors may
// exceed the tolerance, the error wraps [kernel.ErrTolerance].
//
// The functions [Predict], [Compare], [RankNodes], [OpenKernel], [OpenFunction] and [Eigenpairs] do the same jobs for rows of
// the graph, with all settings. docs/library.md has an example of each job.
package heatwalk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/method/sides"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// usualSeed is the default rng seed of folds, splits and samples, in the command too.
const usualSeed = 1

// Options say how a graph is opened and how its methods compute. Nil means defaults.
type Options struct {
	// Memory limits the bytes of data: the graph in memory and the blocks of all jobs that compute at the same time; 0 means
	// no limit. Jobs wait for each other if the limit does not suffice, see [Graph.Begin]. Results do not count. Memory never
	// changes a result.
	Memory int64

	// Jobs limits the number of jobs that compute at the same time; further jobs wait. With a limit of memory, the layout of
	// the graph leaves room for this number of jobs of the size of the first job. 0 means as many as the memory holds. Jobs
	// never changes a result.
	Jobs int

	// Workers is the number of goroutines; 0 means one for each processor. Workers never changes a result.
	Workers int

	// Stream makes every sweep read the graph from disk, even if it fits in memory.
	Stream bool

	// Coded keeps the graph in memory in the code of the store, which is smaller and slower to sweep.
	Coded bool

	// Reading has the settings for a graph file. A store ignores it, and a matrix uses only Signed. Nil means defaults.
	Reading *ingest.Config

	// Edges gives weights to the kinds and times of the edges of a store, and omits edges outside a window of time. If it
	// leaves weights open, labels choose them in each prediction and each training set; other jobs use 1.
	Edges sides.Options

	// LargestComponent omits all nodes outside the largest component. Of equal components it keeps the component with the
	// first node. A store is copied to a temporary store, with the ids of the nodes.
	LargestComponent bool

	// TempDir is the directory for temporary stores; "" means the system's default.
	TempDir string

	// Network connects this process with other processes, which must open the same store and call the same methods in the same
	// order. Each process has some rows of the graph in memory. Process 0 gets the results; the other processes get
	// [ErrFollower]. Nil means a single process.
	Network sparse.Network

	// Progress, if not nil, is called by the methods of Graph, and while a graph file is read, with the name of a stage, the
	// amount of work that is done, and the total, or 0 if it is unknown. Several jobs may call it at the same time. [Predict]
	// and the other functions call the Progress of their settings instead.
	Progress func(stage string, done, total int64)

	// Planned, if not nil, is called when the memory of a job has been estimated, before the job allocates. If it returns an
	// error, the job ends with this error.
	Planned func(*Plan) error
}

// Graph is an open graph, directed or undirected. It never changes, and must be closed. Many goroutines may use it; its jobs
// share one limit of memory.
type Graph struct {
	// Graph holds the matrix, the degrees and the ids, for lower packages. The order of its rows may differ from the order of
	// the ids, see [shard.Nodes]. The matrix of a store is swept from disk or in its code; a [Job] has a faster matrix.
	// Components is set only for a gonum matrix.
	*graph.Graph

	Directed bool // edges have a direction
	Weighted bool // edges have weights other than 1

	// Report says how the graph file was read; nil for a store or a matrix.
	Report *ingest.Report

	// Store is the store of the graph; nil for a matrix.
	Store *shard.Sweeper

	// OmittedNodes and OmittedComponents count what [Options.LargestComponent] omitted.
	OmittedNodes, OmittedComponents int

	options   Options
	temporary *durable.TempDir
	edges     *sides.Edges  // edges with kinds or times; nil: none
	held      []budget.Item // memory of the caller
	resources *resources
}

func newGraph(o *Options) *Graph {
	g := &Graph{resources: &resources{turn: make(chan struct{}, 1)}}
	if o != nil {
		g.options = *o
	}
	g.resources.pool = budget.NewPool(g.options.Memory, g.options.Jobs)
	return g
}

func (g *Graph) newTemporary() (*durable.TempDir, error) {
	parent := g.tempParent()
	temporary, err := durable.NewTempDir(parent)
	if err != nil {
		return nil, &TempDirError{parent, err}
	}
	return temporary, nil
}

func (g *Graph) tempParent() string {
	return cmp.Or(g.options.TempDir, os.TempDir())
}

// TempDirError says that a temporary directory cannot be created.
type TempDirError struct {
	Dir string // parent of the directory
	Err error
}

// Error implements error.
func (e *TempDirError) Error() string {
	return fmt.Sprintf("create a temporary directory in %s: %v", e.Dir, e.Err)
}

// Unwrap returns the error of the file system.
func (e *TempDirError) Unwrap() error { return e.Err }

// Open opens a store, a graph file of any format that [ingest.Run] reads (an edge list, Matrix Market, SciPy, GraphML,
// JSON lines, Parquet, …; plain, gzip or zstd), or a folder of LINQS files. Parquet needs import _
// "github.com/heatwalk/heatwalk/file/parquetfile". Except for the matrices that [ingest.Load] reads, a graph file is converted
// to a temporary store, which [Graph.Close] removes. The first job puts the graph into memory, in the fastest layout that the
// options allow.
func Open(ctx context.Context, path string, o *Options) (*Graph, error) {
	g := newGraph(o)
	if g.options.Network != nil {
		if g.options.Network.Size() == 1 {
			g.options.Network = nil
		} else {
			g.options.Stream = true // rows of this process are loaded by each job
		}
	}
	opened := false
	defer func() {
		if !opened {
			_ = g.Close()
		}
	}()
	err := g.openStore(ctx, path)
	opened = err == nil
	if opened {
		return g, nil
	}
	if g.Report != nil && g.temporary != nil {
		err = fmt.Errorf("%s: %w", path, err) // the message names the temporary store
	}
	if closing := g.Close(); closing != nil {
		err = errors.Join(err, closing)
	}
	return nil, err
}

func (g *Graph) openStore(ctx context.Context, path string) (err error) {
	dir := path
	if !ingest.IsStore(path) {
		if dir, err = g.readFile(ctx, path); err != nil {
			return err
		}
	}
	if g.Store == nil {
		if err := g.openDir(ctx, dir); err != nil {
			return err
		}
	}
	if g.options.LargestComponent {
		if err := g.openComponent(ctx); err != nil {
			return err
		}
	}
	if err := g.weighEdges(ctx); err != nil {
		return err
	}
	s := g.Store
	g.Graph = &graph.Graph{A: s.A, Degrees: s.Degrees, Nodes: s.Nodes,
		Workers: g.options.Workers, TempDir: g.tempParent()}
	g.Hyperedges = source.IsIncidence(s.Manifest)
	g.Directed = s.Manifest.Directed
	g.Weighted = s.Manifest.Weighted
	g.Signed = s.Manifest.Negative > 0
	if g.Directed {
		g.In, err = s.Transpose(ctx)
	}
	return err
}

func (g *Graph) openDir(ctx context.Context, dir string) (err error) {
	o := &shard.Options{Memory: g.options.Memory, Workers: g.options.Workers,
		Stream: g.options.Stream}
	if g.Store, err = shard.OpenSweeper(ctx, dir, o, !g.options.Coded); err != nil {
		return wholeError(err)
	}
	return nil
}

// openComponent opens the largest component as a temporary store. Cost: one sweep to find
// the components, and one for each direction to copy the rows.
func (g *Graph) openComponent(ctx context.Context) (err error) {
	stored := g.Store
	n := stored.Nodes.Len()
	const row = 32 // bytes of components and their forest, new rows, ids
	if limit := g.options.Memory; limit > 0 && row*int64(n) > limit {
		return &budget.Error{Need: row * int64(n), Limit: limit,
			Largest: budget.Item{What: "components", Bytes: row * int64(n)}}
	}
	components, err := (&graph.Graph{A: stored.A, Symmetric: !stored.Manifest.Directed, Workers: g.options.Workers}).FindComponents(ctx)
	if err != nil {
		return err
	}
	if len(components.Sizes) < 2 {
		return nil
	}
	place, nodes := placeLargest(components, stored.Nodes)
	g.OmittedNodes = n - nodes
	g.OmittedComponents = len(components.Sizes) - 1
	temporary, err := g.newTemporary()
	if err != nil {
		return err
	}
	err = stored.WriteRows(ctx, temporary.Content(), place, nodes)
	if err == nil {
		err = stored.Close()
	}
	if g.temporary != nil {
		err = errors.Join(err, g.temporary.Remove())
	}
	g.Store = nil
	g.temporary = temporary
	if err != nil {
		return err
	}
	return g.openDir(ctx, temporary.Content())
}

func placeLargest(components *sparse.Components, nodes *shard.Nodes) (place []uint32, count int) {
	count = slices.Max(components.Sizes)
	largest := uint32(0)
	for row := range nodes.Rows() {
		largest = components.Of[row]
		if components.Sizes[largest] == count {
			break
		}
	}
	place = components.Of
	next := uint32(0)
	for row, c := range place {
		place[row] = shard.Outside
		if c == largest {
			place[row] = next
			next++
		}
	}
	return place, count
}

// wholeError converts the error about a store whose fixed parts exceed half of the memory limit. The new error states the
// memory of the whole run: twice the fixed parts, and an eighth for the frames that are being read.
func wholeError(err error) error {
	if over := new(budget.Error); errors.As(err, &over) {
		return &budget.Error{Need: 2*over.Need + over.Need/8, Limit: 2 * over.Limit,
			Largest: over.Largest}
	}
	return err
}

// readFile reads a graph file into memory, or into a temporary store whose directory it returns.
func (g *Graph) readFile(ctx context.Context, path string) (dir string, err error) {
	c := new(ingest.Config)
	if g.options.Reading != nil {
		*c = *g.options.Reading
	}
	if c.Memory == 0 {
		c.Memory = g.options.Memory
	}
	if c.Workers == 0 {
		c.Workers = g.options.Workers
	}
	if c.Progress == nil {
		c.Progress = g.options.Progress
	}
	inputs := []string{path}
	if c.Sources != nil {
		inputs = nil
	} else if ingest.Loads(path) {
		if g.Store, g.Report, err = ingest.Load(ctx, path, c); g.Store != nil || err != nil {
			return "", err
		}
		// The order of rows, and so results, must not depend on the memory.
		if c.Order == ingest.AutoOrder {
			c.Order = ingest.DefaultOrder
		}
	}
	if g.temporary, err = g.newTemporary(); err != nil {
		return "", err
	}
	g.Report, err = ingest.Run(ctx, g.temporary.Content(), inputs, c)
	return g.temporary.Content(), err
}

// Close releases the graph and removes its temporary files. Waiting jobs, jobs that read the graph from disk, and later jobs
// end with [ErrClosed]. Ids, predictions and matrices can still be read. A second call does nothing.
func (g *Graph) Close() error {
	if g.resources == nil {
		return nil
	}
	g.resources.pool.Close(ErrClosed)
	return g.resources.use(context.Background(), func() error {
		var closed, removed error
		if g.resources.isClosed.Swap(true) {
			return nil
		}
		if g.Store != nil {
			closed = g.Store.Close()
		}
		if g.temporary != nil {
			removed = g.temporary.Remove()
		}
		return errors.Join(closed, removed)
	})
}

// With returns a handle of the graph for jobs with another number of workers and another [Options.Planned]. All handles share
// the memory limit of the graph. Only the first handle must be closed.
func (g *Graph) With(workers int, planned func(*Plan) error) *Graph {
	out := *g
	out.options.Workers = workers
	out.options.Planned = planned
	return &out
}

// IDs returns the ids of all nodes, in the order of rows of matrices that methods take and return. A graph that was never
// opened has no ids.
func (g *Graph) IDs() []string {
	if g.Graph == nil {
		return nil
	}
	ids := make([]string, 0, g.Nodes.Len())
	for row := range g.Nodes.Rows() {
		ids = append(ids, g.Nodes.ID(row))
	}
	return ids
}

// IDError is the error for an id that is not in the graph.
type IDError struct{ ID string }

// Error implements error.
func (e *IDError) Error() string {
	return fmt.Sprintf("heatwalk: %q is not a node of the graph", e.ID)
}

// rowsOf returns the rows of ids, which must be distinct; nil: all rows. option names the list in errors.
func (g *Graph) rowsOf(option string, ids []string) ([]int, error) {
	if err := g.checkOpen(); err != nil {
		return nil, err
	}
	var rows []int
	if ids == nil {
		for row := range g.Nodes.Rows() {
			rows = append(rows, row)
		}
		return rows, nil
	}
	if len(ids) == 0 {
		return nil, refuse(option, "it lists no node; give one or more")
	}
	isListed := make(map[int]bool, len(ids))
	for _, id := range ids {
		row, ok := g.Nodes.Lookup(id)
		if !ok {
			return nil, &IDError{id}
		}
		if isListed[row] {
			return nil, refuse(option, "%q is listed twice; give each node once", id)
		}
		isListed[row] = true
		rows = append(rows, row)
	}
	return rows, nil
}

func refuse(option, format string, args ...any) error {
	return param.Refuse("heatwalk", option, format, args...)
}

// Origin returns the identity of the content of the graph and the settings of its edges.
func (g *Graph) Origin() *sides.Origin {
	if g.Graph == nil { // never opened
		return new(sides.Origin)
	}
	if g.Store == nil {
		return &sides.Origin{Directed: g.Directed, Signed: g.Signed, Weighted: &g.Weighted}
	}
	o := sides.OriginOf(g.Store.Manifest)
	if g.options.LargestComponent {
		o.Reading["largest_component"] = "true"
	}
	if g.edges != nil {
		o.Edges = g.edges.Given().Keep()
	}
	return o
}

func (g *Graph) weighEdges(ctx context.Context) error {
	m := g.Store.Manifest
	if err := g.options.Edges.Check(m); err != nil || !m.HasCodes() {
		return err
	}
	g.edges = &sides.Edges{Store: g.Store.Store, Options: &g.options.Edges,
		Weighted: m.Weighted, Streamed: g.options.Stream}
	return shard.Weigh(ctx, g.Store, g.options.Edges.Book(m))
}
