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

// linkRows describes each node by its link row: its row of A, scaled to unit length, and standardized logarithms of degrees.
// A ridge uses the kernel
//
//	exp(−‖u − v‖/√2) + 0.3²
//
// between the link rows u and v of labels, which is large only if nearly all neighbours are the same. Products of rows are
// computed twice, so that no block of nodes × labels is stored.
type linkRows struct {
	in      *input
	nodes   []int         // labelled nodes that ridges learn from
	squares []float32     // squared lengths of the rows of A
	degrees *featureBlock // standardized logarithms with a mean squared length of 1
}

const (
	// fewestLinkLabels is the smallest number of labels with which link rows are features.
	fewestLinkLabels = 100

	// Sweeps for products take at most linkWork entries × columns each time, and there are at most linkValues products.
	linkWork   = 1 << 30
	linkValues = 1 << 25

	// On graphs of more than mostLinked nodes link rows are features only if neighbours differ.
	mostLinked = 4096

	mostLinkLabels     = 400
	mostHighLinkLabels = 1000

	linkColumns = 64
	linkDegrees = 2 // logarithms of the degree and of the mean degree of the neighbours
)

var linkLambdas = append([]float64{1e-4, 1e-3}, append(wideLambdas, 10)...)

func linkLabels(p *problem.Problem, set *settings) int {
	budget := int64(set.budget())
	return int(min(int64(set.mostLinkLabels()), budget*linkWork/max(1, sparse.EntriesOf(p.A))/2,
		budget*linkValues/int64(p.Nodes())))
}

func linkWorkspace(n, classes int) budget.Workspace {
	return budget.Slabs[float64](2, n, linkColumns).AndHeld(4*int64(n), budget.Block[float32](n, linkDegrees+classes), budget.Block[float64](n, classes))
}

func addLinks(ctx context.Context, f *features) error {
	labels := sampleLabels(f.in, linkLabels(f.in.p, f.in.set))
	l, err := newLinkRows(ctx, f.in, labels.p.Row, f.columns)
	if err != nil {
		return err
	}
	return addRidge(ctx, f, labels, &ridgeBlock{lambdas: linkLambdas, path: l.path, scores: l.scores}, ofLinks)
}

// newLinkRows computes the lengths of the rows of A, and the logarithms of degrees.
func newLinkRows(ctx context.Context, in *input, nodes []int, graph *columns) (*linkRows, error) {
	l := &linkRows{in: in, nodes: nodes, degrees: newBlock(len(in.p.Degrees), linkDegrees)}
	for v := range l.degrees.Rows {
		for j := range linkDegrees {
			l.degrees.Row(v)[j] = float32(graph.degree(v, j) / math.Sqrt(linkDegrees))
		}
	}
	var err error
	l.squares, err = blocks.RowSquares(ctx, in.p.A, 1, in.set.Workers)
	return l, err
}

// multiply calls visit for consecutive slabs of labels. Row v, column j of products is the inner product of row v of A with
// the row of label lo + j. Cost: two sweeps with a column for each label.
func (l *linkRows) multiply(ctx context.Context, visit func(lo, hi int, products *sparse.Block[float64]) error) error {
	n := len(l.in.p.Degrees)
	op := sparse.Operator[float64]{A: l.in.p.A, Scale: 1, Workers: l.in.set.Workers}
	width := linkWorkspace(n, len(l.in.p.Names)).Width(l.in.memory)
	x, y := sparse.NewBlock[float64](n, width), sparse.NewBlock[float64](n, width)
	for lo := 0; lo < len(l.nodes); lo += width {
		hi := min(lo+width, len(l.nodes))
		clear(x.Data)
		for j, v := range l.nodes[lo:hi] {
			x.Row(v)[j] = 1
		}
		for range 2 {
			if err := op.ApplyTo(ctx, y, x); err != nil {
				return err
			}
			x, y = y, x
		}
		if err := visit(lo, hi, x); err != nil {
			return err
		}
	}
	l.in.work.Sweeps += 2
	return nil
}

// value returns the value of the kernel between a node and a label, whose rows of A have the given product.
func (l *linkRows) value(v, label int, product float64) float64 {
	distance := 0.0
	for _, u := range []int{v, label} {
		if l.in.p.Degrees[u] > 0 {
			distance++
		}
	}
	cosine := float32(product)
	if length := math.Sqrt(float64(l.squares[v]) * float64(l.squares[label])); length > 0 {
		cosine /= float32(length)
	}
	distance -= 2 * float64(cosine)
	for j, x := range l.degrees.Row(v) {
		difference := x - l.degrees.Row(label)[j]
		distance += float64(difference * difference)
	}
	return math.Exp(-math.Sqrt(max(0, distance)/2)) + attributeConstant*attributeConstant
}

func (l *linkRows) path(ctx context.Context, targets *mat.Dense) (*classify.RidgePath, error) {
	gram := mat.NewSymDense(len(l.nodes), nil)
	err := l.multiply(ctx, func(lo, hi int, products *sparse.Block[float64]) error {
		for j, label := range l.nodes[lo:hi] {
			for i, v := range l.nodes[:lo+j+1] {
				gram.SetSym(i, lo+j, l.value(v, label, products.Row(v)[j]))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return classify.NewGramRidgePath(ctx, gram, targets, l.in.set.Workers)
}

func (l *linkRows) scores(ctx context.Context, path *classify.RidgePath, lambda float64) (nodeScores, error) {
	coefficients, shares := path.Weights(lambda)
	sums := blocks.NewDense[float64](len(l.in.p.Degrees), len(shares))
	for v := range sums.Rows {
		copy(sums.Row(v), shares)
	}
	err := l.multiply(ctx, func(lo, hi int, products *sparse.Block[float64]) error {
		return blocks.EachNodeChunk(ctx, l.in.set.Workers, sums.Rows, func(_, first, end int) {
			for v := first; v < end; v++ {
				scores := sums.Row(v)
				for j, label := range l.nodes[lo:hi] {
					value := l.value(v, label, products.Row(v)[j])
					for c, w := range coefficients.RawRowView(lo + j) {
						scores[c] += float64(value * w)
					}
				}
			}
		})
	})
	dst := newBlock(sums.Rows, sums.Cols)
	simd.ConvertTo(dst.Data, sums.Data)
	return scoresIn(dst), err
}
