package choose

import (
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
)

// The number of folds is a function of the number of labels, of what a fold costs, and of what is asked:
//
//	which setting, where folds are columns of a sweep   10 folds of at most 1,000 labels, 5 of more
//	which setting, where each fold needs a fit          5 folds
//	how accurate a setting is                           10 folds, or one for every 500 labels
//	both, of several methods for numbers                10 folds, or one for every 1,000 labels
//	which mixture, and how accurate it is               as many folds as labels of at most 15, 10 of at most 100, 5 of more
//
// The accuracy of a setting is measured on as many of its folds as have enough labels. Where a fold needs sweeps over the
// graph, it is measured on no more folds than take measuringWork, but at least one. There are never more folds than labels or
// groups. docs/honesty.md has the same table.
const (
	choiceFolds  = 10
	mostChoosing = 1000 // with five folds of fewer labels, estimated accuracies are 2 to 5 points too low

	// dearFolds are few, because each fold and setting needs its own fit.
	dearFolds = 5

	// A fold of many labels has labelsOfFold labels: models of four fifths of many labels are one to three points less
	// accurate than models of all labels.
	leastMeasuring = 10
	labelsOfFold   = 500

	measuringWork = 20_000_000 // entries × classes

	// A fold of [ToCompare] has at most largestFold labels, so that two folds leave enough of 5,000 to fit.
	largestFold = 1000
	mostAtOnce  = 4

	// Methods and settings are compared by about comparedNumbers held-out numbers, on more than fewNodes nodes by two fifths
	// of them, because each fold takes sweeps for every setting. Then the chosen settings predict further numbers, up to about
	// measuredNumbers, which cost a fit of each method for each fold: with heavy tails, the error of R² was 0.17 with 400
	// numbers. On more than mostExtraNodes nodes no further numbers are predicted.
	comparedNumbers = 1000
	measuredNumbers = 5000
	fewNodes        = 20_000
	mostExtraNodes  = 200_000

	// Each of at most fewestMixed labels is a fold. Ten folds of 270 to 400 labels gained nothing on five graphs in twice the
	// time.
	fewestMixed = 15
	fewMixed    = 100
)

// FoldCount returns the number of folds by which a setting is chosen, if folds are columns of a sweep.
func FoldCount(labels int) int {
	if labels <= mostChoosing {
		return min(choiceFolds, labels)
	}
	return dearFolds
}

// ToChoose returns the folds of p by which a setting is chosen, if folds are columns of a sweep.
func ToChoose(p *problem.Problem, seed uint64) *Folds {
	return DrawFolds(p, FoldCount(len(p.Row)), seed, 0)
}

// ToFit returns the folds of p by which a setting is chosen, if each fold and setting needs its own fit.
func ToFit(p *problem.Problem, seed uint64) *Folds {
	return DrawFolds(p, dearFolds, seed, 0)
}

// MixtureFolds returns the number of folds by which a mixture of models is chosen and measured.
func MixtureFolds(labels int) int {
	switch {
	case labels <= fewestMixed:
		return labels
	case labels <= fewMixed:
		return choiceFolds
	}
	return dearFolds
}

// MeasuringFolds returns how many folds measure the accuracy of a setting, and how many of them have enough labels
// together.
func MeasuringFolds(labels, enough int) (count, measured int) {
	count = min(max(leastMeasuring, labels/labelsOfFold), labels)
	return count, min(count, (enough*count+labels-1)/max(1, labels))
}

// ToMeasure returns the folds of p on which the accuracy of a setting is measured. The measured folds together have about
// enough labels.
func ToMeasure(p *problem.Problem, enough int, seed uint64) *Folds {
	count, measured := MeasuringFolds(len(p.Row), enough)
	f := DrawFolds(p, count, seed, 0)
	f.Measured = min(f.Count, measured)
	return f
}

// AffordableFolds returns how many of folds are measured, if each needs sweeps over the graph: as many as take measuringWork
// together, at least one.
func AffordableFolds(p *problem.Problem, folds int) int {
	return int(min(int64(folds), max(1, measuringWork/max(1, sparse.EntriesOf(p.A)*int64(len(p.Names))))))
}

// ToCompare returns the folds of p by which several methods for numbers are compared and measured at once. The first compared
// folds choose. If they have not all of the numbers, these are two to mostAtOnce folds, because each needs a fit of every
// setting; two are needed, so that others choose the setting that is measured. The other measured folds are predicted by the
// chosen settings alone.
func ToCompare(p *problem.Problem, seed uint64) (f *Folds, compared int) {
	n := len(p.Row)
	f = DrawFolds(p, min(n, max(choiceFolds, n/largestFold)), seed, 0)
	foldsOf := func(numbers int) int { return min(f.Count, (numbers*f.Count+n-1)/n) }
	enough := comparedNumbers
	if p.Nodes() > fewNodes {
		enough = enough * 2 / 5
	}
	compared = f.Count
	if n > enough {
		compared = min(f.Count, max(2, min(mostAtOnce, foldsOf(enough))))
	}
	f.Measured = compared
	if p.Time == nil && p.Nodes() <= mostExtraNodes {
		f.Measured = max(compared, foldsOf(measuredNumbers))
	}
	return f, compared
}
