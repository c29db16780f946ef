package method

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/sides"
)

// Errors measure predictions ŷ of values y: RMSE = (mean (y − ŷ)²)^½, MAE = mean |y − ŷ|, and
// R2 = 1 − Σ(y − ŷ)²/Σ(y − ȳ)² with the mean ȳ of the values.
type Errors struct {
	RMSE float64 `json:"rmse"`
	MAE  float64 `json:"mae"`
	R2   float64 `json:"r2"`

	R2Stderr float64 `json:"r2_stderr"` // its standard error: the larger one of that for a known variance of values and that of the ratio
}

// Compared is the cross-validated result of a method.
type Compared struct {
	Method     string     `json:"method"`
	Parameters Parameters `json:"parameters"` // those that all folds choose
	Settings   int        `json:"settings"`   // settings that were compared
	Errors
}

// Unsolved is a candidate that is left out, because its equations were not solved to their tolerance.
type Unsolved struct {
	Method     string
	Parameters Parameters // of the setting; none: all settings
	err        error
}

// NumberPrediction is the result of [PredictNumbers].
type NumberPrediction struct {
	Value []float64 `json:"-"` // by row; a node with a known value has that

	Reached *roaring.Bitmap `json:"-"` // nodes that are connected with a node with a value

	Factors *sides.Choice `json:"-"` // of kinds and times of edges; nil: edges have none

	Compared // the method that was used, with its cross-validated errors

	Shrinkage float64 `json:"shrinkage"` // factor of the differences of its predictions from the mean of the known values, 0 of the mean; 1 of a single method

	Tested     int           `json:"tested"`        // values that errors are measured on, a sample of many
	HeldOut    []TestedValue `json:"tested_values"` // these values, predicted by models of other folds
	Methods    []Compared    `json:"methods"`       // all methods that are not left out, in their order
	Unsolved   []Unsolved    `json:"-"`             // candidates that are left out
	Mean       Errors        `json:"mean"`          // of predicting the mean of the other folds
	Neighbours Errors        `json:"neighbours"`    // of predicting the mean of neighbours outside the fold
}

// TestedValue is a value that a model does not know, and its prediction.
type TestedValue struct {
	True      float64 `json:"true"`
	Predicted float64 `json:"prediction"`
}

// Interval has the half width of the intervals around predictions that hold the value of a node with the probability
// Coverage, if the known values are a random sample. See package conformal.
type Interval struct {
	Coverage float64 `json:"coverage"`
	Margin   float64 `json:"margin"`
}

// Interval returns the interval of a coverage, from the absolute errors of held-out values. The error is
// [choose.ErrFew] or [choose.ErrRange].
func (p *NumberPrediction) Interval(coverage float64) (*Interval, error) {
	var errors []float64
	for _, h := range p.HeldOut {
		errors = append(errors, math.Abs(h.True-h.Predicted))
	}
	slices.Sort(errors)
	margin, err := choose.Threshold(errors, coverage)
	if err != nil {
		return nil, err
	}
	return &Interval{coverage, margin}, nil
}

// MeasureErrors returns the errors of predictions of values.
func MeasureErrors(values, predicted []float64) Errors {
	m := float64(len(values))
	e := Errors{RMSE: floats.Distance(values, predicted, 2) / math.Sqrt(m),
		MAE: floats.Distance(values, predicted, 1) / m}
	mean, variance := stat.PopMeanVariance(values, nil)
	if variance > 0 { // a sample may be constant
		unexplained := float64(e.RMSE*e.RMSE) / variance
		e.R2 = 1 - unexplained
		var squares, differences []float64
		for i, y := range values {
			x := (y - predicted[i]) / math.Sqrt(variance) // so that powers are finite
			d := (y - mean) / math.Sqrt(variance)
			squares = append(squares, float64(x*x))
			differences = append(differences, float64(x*x)-float64(unexplained*d*d))
		}
		e.R2Stderr = math.Sqrt(choose.Nearness * max(stat.PopVariance(squares, nil), stat.PopVariance(differences, nil)) / m)
	}
	return e
}
