package classify_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// Two groups of points on a line, one point in between without a class.
func ExampleSVM() {
	points := mat.NewDense(7, 1, []float64{-3, -2, -1, 1, 2, 3, 0.4})
	y := []int{0, 0, 0, 1, 1, 1, -1}
	var kernel mat.Dense
	kernel.Mul(points, points.T())

	svm := &classify.SVM{Cost: 10}
	model, err := svm.Fit(context.Background(), classify.DenseGram(sparse.BlockOfDense(&kernel)), y, 2)
	if err != nil {
		log.Fatal(err)
	}
	decisions := model.ScoresTo(nil, kernel.RawRowView(6), 0)
	scores := classify.SoftVotes(nil, model.Pairs, decisions, 1)
	fmt.Printf("class %d, scores %.2f\n", model.Pairs.Predict(decisions), scores)
	// Output: class 1, scores [0.40 0.60]
}

// The same points, with a learner by its name and probabilities of the classes.
func ExampleLearner() {
	points := mat.NewDense(7, 1, []float64{-3, -2, -1, 1, 2, 3, 0.4})
	y := []int{0, 0, 0, 1, 1, 1, -1}
	kernel := classify.LinearGram(sparse.BlockOfDense(points))

	gp := classify.Learners().Named("gp")
	values, err := gp.Resolve(param.Values{"variance": param.Of(4.0)}, nil)
	if err != nil {
		log.Fatal(err)
	}
	model, err := gp.Fit(context.Background(), kernel, y, 2, values)
	if err != nil {
		log.Fatal(err)
	}
	row := make([]float64, kernel.Len())
	kernel.RowTo(row, 6)
	scores := model.ScoresTo(nil, row, row[6])
	fmt.Printf("%s: %.2f\n", gp.Text(values), gp.Probabilities(nil, scores))
	// Output: variance = 4, class-weights equal: [0.30 0.70]
}

// Three items of one class and one of another: errors on the latter cost three times
// as much.
func ExampleBalancedWeights() {
	y := []int{0, 0, 0, 1, -1}
	svm := &classify.SVM{Cost: 10, Weights: classify.BalancedWeights(y, 2)}
	fmt.Printf("%.3f\n", svm.Weights)
	// Output: [0.667 2.000]
}
