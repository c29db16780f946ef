package auto

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/blocks"
)

// linkRows holds as features of a node its row of A, scaled to unit length, and standardized logarithms of degrees. So a node is
// known by its neighbours, whether or not they have labels. A ridge on the features uses the values of the kernel
//
//	exp(−‖u − v‖/√2) + 0.3²
//
// between the rows u and v of labels, so that no n×n matrix is stored. The kernel is large only if nearly all neighbours of two
// nodes are the same.
type linkRows struct {
	in       *input
	nodes    []int         // the nodes whose labels ridges learn from
	products *featureBlock // of each node's scaled row of A with the scaled rows of nodes
	degrees  *featureBlock // standardized logarithms, scaled to a mean squared length of 1
}

const (
	// fewestLinkLabels is the smallest number of labels with which link rows are features.
	fewestLinkLabels = 100

	// The number of labels that ridges learn from is bounded so that the sweeps that compute products take at most linkWork entries
	// × columns, about a second, and that there are at most linkValues products.
	linkWork   = 1 << 30
	linkValues = 1 << 25

	// On graphs of more than mostLinked nodes link rows are features only if neighbours differ.
	mostLinked = 4096

	mostLinkLabels = 400 // largest number of labels that ridges learn from

	linkColumns = 64 // number of columns that are swept together
	linkDegrees = 2  // logarithms of the degree and of the mean degree of the neighbours
)

// linkLambdas are the λ to search. The diagonal of the kernel has mean 1.
var linkLambdas = append([]float64{1e-4, 1e-3}, append(wideLambdas, 10)...)

// linkLabels returns the number of labels that ridges on link rows learn from.
func linkLabels(p *problem.Problem) int {
	return int(min(mostLinkLabels, linkWork/max(1, sparse.EntriesOf(p.A))/2,
		linkValues/int64(p.Nodes())))
}

// linkBytes returns the memory of linkRows of n nodes, and of the columns that newLinkRows sweeps.
func linkBytes(n, labels int) budget.Size {
	return budget.AllOf(budget.Block[float32](n, labels+linkDegrees), 2*budget.Block[float64](n, linkColumns))
}

// addLinks adds the scores of a ridge on link rows.
func addLinks(ctx context.Context, f *features) error {
	labels := sampleLabels(f.in, linkLabels(f.in.p))
	if err := budget.Check(f.in.memory, linkBytes(len(f.in.p.Degrees), len(labels.p.Row)), "link rows"); err != nil {
		return err
	}
	l, err := newLinkRows(ctx, f.in, labels.p.Row, f.columns)
	if err != nil {
		return err
	}
	return addRidge(ctx, f, labels, l.ridge(len(f.in.p.Names)), ofLinks)
}

// newLinkRows computes link rows. graph standardizes degrees. Cost: two sweeps with a column for each label.
func newLinkRows(ctx context.Context, in *input, nodes []int,
	graph *columns) (*linkRows, error) {
	n := len(in.p.Degrees)
	l := &linkRows{in: in, nodes: nodes,
		products: newBlock(n, len(nodes)),
		degrees:  newBlock(n, linkDegrees)}
	squares, err := blocks.RowSquares(ctx, in.p.A, 1, in.set.Workers)
	if err != nil {
		return nil, err
	}
	op := sparse.Operator[float64]{A: in.p.A, Scale: 1, Workers: in.set.Workers}
	x, y := sparse.NewBlock[float64](n, linkColumns),
		sparse.NewBlock[float64](n, linkColumns)
	for lo := 0; lo < len(nodes); lo += linkColumns {
		hi := min(lo+linkColumns, len(nodes))
		clear(x.Data)
		for j, v := range nodes[lo:hi] {
			x.Row(v)[j] = 1
		}
		for range 2 {
			if err := op.ApplyTo(ctx, y, x); err != nil {
				return nil, err
			}
			x, y = y, x
		}
		for v := range n {
			simd.ConvertTo(l.products.Row(v)[lo:hi], x.Row(v)[:hi-lo])
		}
	}
	in.work.Sweeps += 2
	return l, blocks.EachNodeChunk(ctx, in.set.Workers, n, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			for j, label := range nodes {
				length := math.Sqrt(float64(squares[v]) * float64(squares[label]))
				if length > 0 {
					l.products.Row(v)[j] /= float32(length)
				}
			}
			for j := range linkDegrees {
				l.degrees.Row(v)[j] = float32(graph.degree(v,
					j) / math.Sqrt(linkDegrees))
			}
		}
	})
}

// valuesTo stores the values of the kernel between node v and the nodes of the labels.
func (l *linkRows) valuesTo(dst []float64, v int) {
	for i, label := range l.nodes {
		distance := 0.0
		for _, u := range []int{v, label} {
			if l.in.p.Degrees[u] > 0 {
				distance++
			}
		}
		distance -= 2 * float64(l.products.Row(v)[i])
		for j, x := range l.degrees.Row(v) {
			difference := x - l.degrees.Row(label)[j]
			distance += float64(difference * difference)
		}
		dst[i] = math.Exp(-math.Sqrt(max(0, distance)/2)) +
			attributeConstant*attributeConstant
	}
}

// ridge returns the ridge block of the kernel.
func (l *linkRows) ridge(classes int) *ridgeBlock {
	m := len(l.nodes)
	workers := l.in.set.Workers
	return &ridgeBlock{
		lambdas: linkLambdas,
		path: func(ctx context.Context, targets *mat.Dense) (*classify.RidgePath, error) {
			gram := mat.NewSymDense(m, nil)
			row := make([]float64, m)
			for i, v := range l.nodes {
				l.valuesTo(row, v)
				for j := i; j < m; j++ {
					gram.SetSym(i, j, row[j])
				}
			}
			return classify.NewGramRidgePath(ctx, gram, targets, workers)
		},
		scores: func(ctx context.Context, path *classify.RidgePath, lambda float64) (nodeScores, error) {
			coefficients, shares := path.Weights(lambda)
			dst := newBlock(len(l.in.p.Degrees), classes)
			return scoresIn(dst),
				blocks.EachNodeChunk(ctx, workers, dst.Rows, func(_, lo, hi int) {
					values := make([]float64, m)
					scores := make([]float64, classes)
					for v := lo; v < hi; v++ {
						l.valuesTo(values, v)
						copy(scores, shares)
						for i, value := range values {
							for c, w := range coefficients.RawRowView(i) {
								scores[c] += float64(value * w)
							}
						}
						simd.ConvertTo(dst.Row(v), scores)
					}
				})
		},
	}
}
