package auto

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/blocks"
	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/internal/simd"
	"github.com/heatwalk/heatwalk/method/internal/chunks"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/method/split"
	"github.com/heatwalk/heatwalk/sparse"
)

// linkRows are the rows of A and of S² with S = D^-½AD^-½, each of unit length, and the standardized
// logarithms of degrees, as features of nodes. A node is known by its neighbours and by theirs, whether or
// not these have labels. Ridges on these features are fitted to values of kernels between labels, so that
// nothing of n×n numbers is stored.
type linkRows struct {
	in    *input
	nodes []int // of the labels that ridges learn from

	products [linkParts]*sparse.Block[float32] // of the rows of each node and those of nodes
	degrees  *sparse.Block[float64]            // logarithms, of mean squared length 1 at nodes
}

// The parts of link rows.
const (
	adjacencyPart = iota // rows of A
	squarePart           // rows of S²
	linkParts
)

const (
	// fewestLinkLabels is the number of labels from which link rows take part.
	fewestLinkLabels = 100

	// linkWork bounds entries × columns of the sweeps that compute products of link rows, which take about a
	// second, and linkValues the products of each part. They bound the number of labels that ridges learn from.
	linkWork   = 1 << 30
	linkValues = 1 << 25

	// exactLengths is the number of nodes up to which lengths of rows are computed by a column for each node.
	// Above it they are the root mean squares of sketchColumns sums of their elements with random signs, with a
	// relative error of 4 %; those of labels are exact.
	exactLengths  = 4096
	sketchColumns = 256

	linkColumns = 64 // columns that are swept together
	linkDegrees = 3  // logarithms of d, of the mean degree of the neighbours, and of the sum of theirs
)

// linkBlocks are the blocks of features and their kernels.
var linkBlocks = []linkKernel{
	{parts: []int{squarePart}, laplacian: true},
	{parts: []int{adjacencyPart, squarePart}, degrees: true, laplacian: true},
}

// linkLambdas are searched. Values of a kernel have the mean 1 on the diagonal.
var linkLambdas = append([]float64{1e-4, 1e-3}, append(wideLambdas, 10)...)

// linkKernel is a kernel between link rows u and v of the mean squared length 1,
//
//	⟨u, v⟩ + 0.3²  or  exp(−‖u − v‖) + 0.3²
//
// The second one compares the sets of neighbours as wholes: it is large only where nearly all agree.
type linkKernel struct {
	parts     []int
	degrees   bool
	laplacian bool
}

// linkLabels returns the number of labels that ridges on link rows learn from.
func linkLabels(p *problem.Problem) int {
	columns := int64(linkWork)/max(1, sparse.EntriesOf(p.A)) - linkParts*sketchColumns
	return int(min(mostKernelLabels, columns/6, linkValues/int64(p.Nodes())))
}

// scoreLinks computes the scores of ridges on link rows. The folds are those of the learned labels.
func scoreLinks(ctx context.Context, in *input, fold []int, hasOthers []bool) (*ridgeScores, error) {
	items := split.Sample(in.learned.Class, linkLabels(in.p), in.set.RNGSeed, 0)
	l, err := newLinkRows(ctx, in, in.learned.At(items).Row)
	if err != nil {
		return nil, err
	}
	var list []ridgeBlock
	for _, k := range linkBlocks {
		list = append(list, l.ridge(k, len(in.p.Names)))
	}
	return newRidgeScores(ctx, in, items, fold, hasOthers, list)
}

// newLinkRows computes the products. Cost: three sweeps with a column for each node, or for each of sketchColumns,
// for the lengths of rows, and six with a column for each label.
func newLinkRows(ctx context.Context, in *input, nodes []int) (*linkRows, error) {
	l := &linkRows{in: in, nodes: nodes}
	n, team := len(in.p.Degrees), sparse.TeamOf(in.p.A)
	x, y := sparse.NewBlock[float64](n, linkColumns), sparse.NewBlock[float64](n, linkColumns)
	var lengths [linkParts][]float64
	for term := range l.products {
		l.products[term] = chunks.Block[float32](n, len(nodes))
		var err error
		if lengths[term], err = l.lengths(ctx, term, x, y); err != nil {
			return nil, err
		}
	}
	for lo := 0; lo < len(nodes); lo += linkColumns {
		columns := nodes[lo:min(lo+linkColumns, len(nodes))]
		for term, products := range l.products {
			rows, err := l.rowsTo(ctx, term, x, y, columns)
			if err != nil {
				return nil, err
			}
			spare := y
			if rows.Data != nil && &rows.Data[0] == &y.Data[0] {
				spare = x
			}
			if rows, err = l.apply(ctx, term, rows, spare.Columns(0, len(columns))); err != nil {
				return nil, err
			}
			for v := range n {
				simd.ConvertTo(products.Row(v)[lo:], rows.Row(v))
			}
			for j, column := range columns {
				lengths[term][column] = math.Sqrt(rows.Row(column)[j])
			}
		}
	}
	for term, products := range l.products {
		for v := range n {
			for j, column := range nodes {
				length := lengths[term][v] * lengths[term][column]
				if x := &products.Row(v)[j]; length > 0 && !team.IsPadding(v) {
					*x = float32(float64(*x) / length)
				} else {
					*x = 0
				}
			}
		}
	}
	return l, l.addDegrees(ctx)
}

// lengths returns the lengths of the rows of A or of S². x and y are overwritten.
func (l *linkRows) lengths(ctx context.Context, term int, x, y *sparse.Block[float64]) ([]float64, error) {
	n, team := x.Rows, sparse.TeamOf(l.in.p.A)
	out := make([]float64, n)
	if l.in.p.Nodes() > exactLengths {
		for lo := 0; lo < sketchColumns; lo += linkColumns {
			for v := range n {
				signs := rand.NewPCG(uint64(team.Row(v)), uint64(lo)).Uint64()
				for j := range x.Row(v) {
					x.Row(v)[j] = 1 - 2*float64(signs>>j&1)
				}
			}
			sums, err := l.apply(ctx, term, x, y)
			if err != nil {
				return nil, err
			}
			for v := range n {
				for _, s := range sums.Row(v) {
					out[v] += float64(s*s) / sketchColumns
				}
			}
		}
		for v, square := range out {
			out[v] = math.Sqrt(square)
		}
		return out, nil
	}
	local := localRows(team, n)
	for lo := 0; lo < len(local); lo += linkColumns {
		columns := local[lo:min(lo+linkColumns, len(local))]
		rows, err := l.rowsTo(ctx, term, x, y, columns)
		if err != nil {
			return nil, err
		}
		for j, length := range blocks.Norms(team, rows) {
			if v := columns[j]; v >= 0 {
				out[v] = length
			}
		}
	}
	return out, nil
}

// localRows returns the rows of blocks for all rows of the matrix, −1 for those of other processes.
func localRows(team *sparse.Team, rows int) []int {
	local := slices.Repeat([]int{-1}, team.TotalOf(rows))
	for v := range rows {
		if !team.IsPadding(v) {
			local[team.Row(v)] = v
		}
	}
	return local
}

// rowsTo returns rows of A or of S² as columns, in x or y, which are overwritten. Rows of other processes are −1.
func (l *linkRows) rowsTo(ctx context.Context, term int, x, y *sparse.Block[float64], rows []int) (*sparse.Block[float64], error) {
	clear(x.Data)
	for j, v := range rows {
		if v >= 0 {
			x.Row(v)[j] = 1
		}
	}
	return l.apply(ctx, term, x.Columns(0, len(rows)), y.Columns(0, len(rows)))
}

// apply returns A·X or S²·X, in x or y, which are overwritten.
func (l *linkRows) apply(ctx context.Context, term int, x, y *sparse.Block[float64]) (*sparse.Block[float64], error) {
	p := l.in.p
	if term == squarePart {
		return x, timesSquare(ctx, l.in, x, y)
	}
	l.in.work.Add(problem.Work{Sweeps: 1, EntryColumns: sparse.EntriesOf(p.A) * int64(x.Cols)})
	op := sparse.Operator[float64]{A: p.A, Scale: 1, Workers: l.in.set.Workers}
	return y, op.ApplyTo(ctx, y, x)
}

// addDegrees computes the logarithms of degrees.
func (l *linkRows) addDegrees(ctx context.Context) error {
	p := l.in.p
	n, team := len(p.Degrees), sparse.TeamOf(p.A)
	unit := blocks.WeightUnit(p.A, p.Degrees)
	sums := sparse.NewBlock[float64](n, 1)
	op := sparse.Operator[float64]{A: p.A, Scale: 1 / unit, Workers: l.in.set.Workers}
	if err := op.ApplyTo(ctx, sums, sparse.BlockOf(n, 1, p.Degrees)); err != nil {
		return err
	}
	l.in.work.Add(problem.Work{Sweeps: 1, EntryColumns: sparse.EntriesOf(p.A)})
	l.degrees = sparse.BlockOf(n, linkDegrees, make([]float64, n*linkDegrees))
	for v, d := range p.Degrees {
		d, neighbours := d/unit, sums.Row(v)[0]/unit
		row := l.degrees.Row(v)
		row[0], row[1], row[2] = math.Log1p(d), math.Log1p(neighbours/max(1, d)), math.Log1p(neighbours)
	}
	for j := range linkDegrees {
		total := float64(p.Nodes())
		mean, square := make([]float64, 1), make([]float64, 1)
		for lo, hi := range team.Counted(0, n) {
			for v := lo; v < hi; v++ {
				mean[0] += l.degrees.Row(v)[j] / total
			}
		}
		team.Sum(mean)
		for v := range n {
			l.degrees.Row(v)[j] -= mean[0]
			if x := l.degrees.Row(v)[j]; team.Counts(v) {
				square[0] += float64(x * x)
			}
		}
		team.Sum(square)
		for v := range n {
			l.degrees.Row(v)[j] /= math.Sqrt(square[0]/total) + 1e-6
		}
	}
	length := 0.0
	for _, v := range l.nodes {
		for _, x := range l.degrees.Row(v) {
			length += float64(x*x) / float64(len(l.nodes))
		}
	}
	for i := range l.degrees.Data {
		l.degrees.Data[i] /= math.Sqrt(length) + 1e-6
	}
	return nil
}

// square returns the squared length of a node's features.
func (l *linkRows) square(k linkKernel, v int) (sum float64) {
	if l.in.p.Degrees[v] > 0 {
		sum = float64(len(k.parts))
	}
	if k.degrees {
		for _, x := range l.degrees.Row(v) {
			sum += float64(x * x)
		}
	}
	return sum
}

// valuesTo stores the values of a kernel between a node and the labels, whose features have the given squared
// lengths and the mean of these.
func (l *linkRows) valuesTo(dst []float64, k linkKernel, v int, squares []float64, mean float64) {
	square := l.square(k, v)
	for i, label := range l.nodes {
		product := 0.0
		for _, term := range k.parts {
			product += float64(l.products[term].Row(v)[i])
		}
		if k.degrees {
			for j, x := range l.degrees.Row(v) {
				product += float64(x * l.degrees.Row(label)[j])
			}
		}
		if k.laplacian {
			dst[i] = math.Exp(-math.Sqrt(max(0, square+squares[i]-2*product) / mean))
		} else {
			dst[i] = product / mean
		}
		dst[i] += attributeConstant * attributeConstant
	}
}

// ridge returns a kernel as ridges learn from it.
func (l *linkRows) ridge(k linkKernel, classes int) ridgeBlock {
	m := len(l.nodes)
	squares, mean := make([]float64, m), 0.0
	for i, v := range l.nodes {
		squares[i] = l.square(k, v)
		mean += squares[i] / float64(m)
	}
	mean = max(mean, 1e-9)
	workers := l.in.set.Workers
	return ridgeBlock{
		lambdas: linkLambdas,
		path: func(ctx context.Context, y [][]int) (*ridge.Path, error) {
			gram, row := mat.NewSymDense(m, nil), make([]float64, m)
			for i, v := range l.nodes {
				l.valuesTo(row, k, v, squares, mean)
				for j := i; j < m; j++ {
					gram.SetSym(i, j, row[j])
				}
			}
			return ridge.NewGramPath(ctx, gram, y, classes, workers)
		},
		scoresTo: func(ctx context.Context, dst *sparse.Block[float32], path *ridge.Path, lambda float64) error {
			coefficients, shares := path.Coefficients(lambda)
			return chunks.Run(ctx, workers, dst.Rows, func(_, lo, hi int) {
				values, scores := make([]float64, m), make([]float64, classes)
				for v := lo; v < hi; v++ {
					l.valuesTo(values, k, v, squares, mean)
					copy(scores, shares)
					for i, value := range values {
						for c, w := range coefficients.RawRowView(i) {
							scores[c] += float64(value * w)
						}
					}
					for c, s := range scores {
						dst.Row(v)[c] = float32(s)
					}
				}
			})
		},
	}
}

// linkBytes returns the size of link rows and of a ridge on them.
func linkBytes(p *problem.Problem, folds int) int64 {
	n, m, k := len(p.Degrees), min(len(p.Row), linkLabels(p)+2*len(p.Names)), len(p.Names)
	rows := linkParts*chunks.Bytes[float32](n, m) + chunks.Bytes[float64](n, linkDegrees)
	return rows + max(2*blocks.BlockBytes[float64](n, linkColumns)+2*8*int64(n), ridge.Bytes(m, m, k, folds))
}
