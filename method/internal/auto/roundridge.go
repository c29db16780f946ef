package auto

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/internal/ridge"
	"github.com/heatwalk/heatwalk/sparse"
)

// roundRidge is ridge regression of the classes of labels on the features of one round, which are those of the
// part of each label. Products of features are summed by part, so that leaving a part out is a subtraction.
type roundRidge struct {
	features, classes int

	x      [roundParts]*mat.Dense // of the labels of each part; nil: there are none
	y      [roundParts][]int      // their classes
	grams  [roundParts]*mat.SymDense
	rights [roundParts]*mat.Dense
	total  *mat.SymDense // sum of grams
	right  *mat.Dense    // sum of rights
}

// roundLambdas are searched, in units of the mean of the diagonal of the products. So are the factors of scores,
// as logits, in roundSharpening.
var (
	roundLambdas    = []float64{1e-5, 1e-4, 1e-3, 1e-2, 1e-1}
	roundSharpening = []float64{1, 2, 3, 4, 6, 8, 12}
)

// ridge computes the products. Cost: features² for each label.
func (r *rounds) ridge(columns []*sparse.Block[float32]) *roundRidge {
	k, features := len(r.in.p.Names), r.featureCount()
	q := &roundRidge{features: features, classes: k, total: mat.NewSymDense(features, nil), right: mat.NewDense(features, k, nil)}
	row := make([]float32, features)
	for fold := range roundParts {
		var values []float64
		for i, v := range r.in.learned.Row {
			if r.fold[i] == fold {
				r.featuresTo(row, columns[fold], v)
				values = append(values, doubled(row)...)
				q.y[fold] = append(q.y[fold], r.in.learned.Class[i])
			}
		}
		m := len(q.y[fold])
		if m == 0 {
			continue
		}
		targets := mat.NewDense(m, k, nil)
		for i, c := range q.y[fold] {
			targets.Set(i, c, 1)
		}
		q.x[fold] = mat.NewDense(m, features, values)
		q.grams[fold], q.rights[fold] = mat.NewSymDense(features, nil), new(mat.Dense)
		q.grams[fold].SymOuterK(1, q.x[fold].T())
		q.rights[fold].Mul(q.x[fold].T(), targets)
		q.total.AddSym(q.total, q.grams[fold])
		q.right.Add(q.right, q.rights[fold])
	}
	return q
}

// without returns the weights of a ridge without the labels of a part.
func (q *roundRidge) without(fold int, lambda float64) (*mat.Dense, error) {
	if q.x[fold] == nil {
		return q.solve(q.total, q.right, lambda)
	}
	gram, right := mat.NewSymDense(q.features, nil), new(mat.Dense)
	for a := range q.features {
		for b := a; b < q.features; b++ {
			gram.SetSym(a, b, q.total.At(a, b)-q.grams[fold].At(a, b))
		}
	}
	right.Sub(q.right, q.rights[fold])
	return q.solve(gram, right, lambda)
}

// solve returns (gram + λw̄I)⁻¹·right, with w̄ the mean of the diagonal of all products.
func (q *roundRidge) solve(gram *mat.SymDense, right *mat.Dense, lambda float64) (*mat.Dense, error) {
	shifted, shift := mat.NewSymDense(q.features, nil), lambda*mat.Trace(q.total)/float64(q.features)
	shifted.CopySym(gram)
	for j := range q.features {
		shifted.SetSym(j, j, shifted.At(j, j)+shift)
	}
	var factor mat.Cholesky
	if !factor.Factorize(shifted) {
		return nil, ridge.ErrIndefinite
	}
	w := new(mat.Dense)
	if err := factor.SolveTo(w, right); err != nil {
		if _, isNear := err.(mat.Condition); !isNear {
			return nil, err
		}
	}
	return w, nil
}

// fit returns the weights of ridges without each part and then with all labels, for the λ of the least squared
// error at held-out labels, and the factor of scores that makes these labels likeliest. Cost: a factorization
// for each part and λ.
func (q *roundRidge) fit() (best []*mat.Dense, sharpening float64, err error) {
	var held [roundParts]*mat.Dense // scores of the labels of each part
	chosen, lowest := 0.0, math.Inf(1)
	for _, lambda := range roundLambdas {
		var list []*mat.Dense
		var scores [roundParts]*mat.Dense
		for fold := range roundParts {
			w, err := q.without(fold, lambda)
			if err != nil {
				return nil, 0, err
			}
			list = append(list, w)
			if q.x[fold] != nil {
				scores[fold] = new(mat.Dense)
				scores[fold].Mul(q.x[fold], w)
			}
		}
		if e := q.squaredError(scores); e < lowest {
			lowest, best, held, chosen = e, list, scores, lambda
		}
	}
	w, err := q.solve(q.total, q.right, chosen)
	return append(best, w), q.sharpen(held), err
}

// squaredError returns the sum of the squared errors of scores.
func (q *roundRidge) squaredError(scores [roundParts]*mat.Dense) (sum float64) {
	for fold, y := range q.y {
		for i, c := range y {
			for class, s := range scores[fold].RawRowView(i) {
				if class == c {
					s--
				}
				sum += float64(s * s)
			}
		}
	}
	return sum
}

// sharpen returns the factor of scores that makes their labels likeliest.
func (q *roundRidge) sharpen(scores [roundParts]*mat.Dense) (best float64) {
	highest, p := math.Inf(-1), make([]float64, q.classes)
	for _, factor := range roundSharpening {
		sum := 0.0
		for fold, y := range q.y {
			for i, c := range y {
				sharpenTo(p, scores[fold].RawRowView(i), factor)
				sum += math.Log(p[c] + leastTruth)
			}
		}
		if sum > highest {
			highest, best = sum, factor
		}
	}
	return best
}

// scoresOfRound stores the scores of features, times a factor.
func scoresOfRound(dst []float64, weights *mat.Dense, x []float32, factor float64) {
	clear(dst)
	for j, y := range x {
		for c, w := range weights.RawRowView(j) {
			dst[c] += float64(w * float64(y))
		}
	}
	for c := range dst {
		dst[c] *= factor
	}
}
