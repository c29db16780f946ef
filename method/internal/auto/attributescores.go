package auto

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
)

const (
	// attributeConstant is the value of the feature for the bias, relative to the length of the other features.
	attributeConstant = 0.3

	// A ridge learns from a sample of the labels if labels × features exceeds ridgeValues, or if both exceed ridgeSide.
	ridgeValues = 16 << 20
	ridgeSide   = 2500
)

// λ of ridges on attributes: wideLambdas if there are fewer labels than features, else tallLambdas.
var (
	wideLambdas = []float64{0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 1,
		1.5, 2, 3, 5}
	tallLambdas = []float64{3e-6, 3e-5, 3e-4, 0.001, 0.003, 0.01, 0.03,
		0.1, 0.3, 1, 3}
)

// linearRidge returns a ridge on features, which have a row for each label. It scales features to a mean squared length of
// 1. The ridge stores its fitted weights and its constant in e, whose Weights must be set. apply must return the products of the features of all nodes and w.
func linearRidge(features *featureBlock, e *ridgeExtension, workers int,
	apply func(ctx context.Context, w *featureBlock) (nodeScores, error)) *ridgeBlock {
	square := 0.0
	lambdas := wideLambdas
	for _, x := range features.Data {
		square += float64(x) * float64(x)
	}
	scale := float32(1)
	if square > 0 {
		scale = float32(math.Sqrt(float64(features.Rows) / square))
	}
	for i := range features.Data {
		features.Data[i] *= scale
	}
	if features.Rows > features.Cols+1 {
		lambdas = tallLambdas
	}
	return &ridgeBlock{
		lambdas:   lambdas,
		extension: e,
		path: func(ctx context.Context, targets *mat.Dense) (*classify.RidgePath, error) {
			return classify.NewRidgePath(ctx, features, attributeConstant, targets, workers)
		},
		scores: func(ctx context.Context, path *classify.RidgePath, lambda float64) (nodeScores, error) {
			w, constant := path.Weights(lambda)
			for j := range e.Weights.Rows {
				for c, y := range w.RawRowView(j) {
					e.Weights.Row(j)[c] = scale * float32(y)
				}
			}
			floats.AddScaled(constant, attributeConstant,
				w.RawRowView(e.Weights.Rows))
			e.Constant = constant
			products, err := apply(ctx, e.Weights)
			if e.source == nil {
				e.source = products
			}
			return func(dst *featureBlock, lo int) {
				products(dst, lo)
				for i := range dst.Rows {
					for c, y := range constant {
						dst.Row(i)[c] += float32(y)
					}
				}
			}, err
		},
	}
}

// labelLimit returns the number of labels that a ridge learns from. Rare classes make the sample larger.
func labelLimit(features int) int {
	limit := max(100, ridgeValues/max(1, features))
	if features > ridgeSide {
		limit = min(limit, ridgeSide)
	}
	return limit
}

// attributeForm explains the ridges on attributes. rows returns the two views of nodes that the ridges use, and weights
// holds the fitted weights of each view.
type attributeForm struct {
	rows    func(ctx context.Context, nodes []int) (plain, propagated *featureBlock, err error)
	weights [2]*featureBlock
	ridges  [2]int // positions in features.ridges, by view
}

func addAttributes(ctx context.Context, f *features) error {
	in, k := f.in, len(f.in.p.Names)
	l := newLens(in.p, newAttributeTable(in.p.Team(), in.p.Attributes),
		in.set.Workers, in.work)
	l.memory = in.memory
	l.files = in.files
	if len(in.p.Row) > ridgeSide && in.p.Attributes.Cols > ridgeSide &&
		l.a.values*int64(len(in.p.Names)) <= mostWordProducts {
		return addWords(ctx, f, l)
	}
	labels := sampleLabels(in, labelLimit(l.a.Cols))
	if in.manyClasses { // a sample of all labels, because in.learned has few labels of each class
		l.steps = leanSteps
		labels = newRidgeLabels(in,
			choose.Sample(in.p.Class, labelLimit(l.a.Cols), in.set.RNGSeed, 0))
	}
	var err error
	if l.a.Cols <= k {
		if l.ranked, err = in.files.newStore(l.a.Cols); err != nil {
			return err
		}
	}
	plain, ranked, err := l.at(ctx, labels.p.Row, l.ranked, in.reportProgress)
	if err != nil {
		return err
	}
	form := &attributeForm{ridges: [2]int{0, 1}, rows: func(ctx context.Context, nodes []int) (plain, ranked *featureBlock, err error) {
		return l.at(ctx, nodes, nil, func(string, int, int) {})
	}}
	for i := range form.weights {
		form.weights[i] = newBlock(l.a.Cols, k)
	}
	blocks := []*ridgeBlock{
		linearRidge(plain, &ridgeExtension{Form: ofOwn, Weights: form.weights[0]}, in.set.Workers, func(_ context.Context, w *featureBlock) (nodeScores, error) {
			return l.productOf(w), nil
		}),
		linearRidge(ranked, l.extension(form.weights[1]), in.set.Workers, l.rankedProduct),
	}
	f.scales = l.a.scales()
	if in.counts {
		counts, err := countBlock(ctx, in, l, labels, f.seeds.fold)
		if err != nil {
			return err
		}
		blocks = append(blocks, counts)
	}
	for i, block := range blocks {
		if err := addRidge(ctx, f, labels, block, ofAttributes); err != nil {
			return err
		}
		blocks[i] = nil
	}
	if in.set.Explain {
		f.attributes = form
	}
	return nil
}

// informedNodes returns the nodes that have a label or attributes. Nodes that no walk from informed nodes reaches cannot be
// predicted.
func informedNodes(p *problem.Problem) []int {
	rows := slices.Clone(p.Row)
	for v := range p.Degrees {
		if p.Attributes.Has(v) {
			rows = append(rows, v)
		}
	}
	return rows
}
