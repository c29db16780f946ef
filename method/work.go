package method

import "github.com/heatwalk/heatwalk/sparse"

// typicalWork is the typical work of a prediction that chooses its parameters, in operations for
// each entry, and for each row, of a class. The counts were measured on R-MAT graphs of 12,000 to
// 174,000 nodes and a block model of 100,000 nodes, with 1,000 to 5,000 labels of five classes, as
// time divided by that of a sweep; they hold within about a factor of two there.
type typicalWork struct {
	entry, row float64
	chosen     bool // parameters can be chosen once, for several predictions
}

// worker is implemented by methods, and learners, whose work has been measured.
type worker interface{ work(p *Problem) typicalWork }

// Beliefs alone label a large graph, if they agree with held-out labels. A part of the work is that of
// the accuracy for labels that are not a random sample.
func (automatic) work(p *Problem) typicalWork {
	const large = 50_000 // nodes
	if len(p.Degrees) > large {
		return typicalWork{entry: 600, row: 450}
	}
	return typicalWork{entry: 2000 + 6.5*float64(len(p.Row))}
}

func (labelPropagation) work(*Problem) typicalWork { return typicalWork{entry: 30, row: 145} }

func (majority) work(*Problem) typicalWork { return typicalWork{row: 1} }

func (blockBeliefs) work(*Problem) typicalWork { return typicalWork{entry: 1150} }

func (spreading) work(*Problem) typicalWork {
	return typicalWork{entry: 300, row: 700, chosen: true}
}

// On graphs of low degree more steps of walks differ, and the learner takes most of the time: measured on
// Cora, and on block models of 3,000 and 20,000 nodes whose mean degree is 4 to 32.
func (walkMethod) work(p *Problem) typicalWork {
	const dense = 30 // degree from which the walks take most of the time
	degree := float64(p.A.NNZ()) / max(1, float64(len(p.Degrees)))
	return typicalWork{entry: 5400, row: 85_000 * max(0, 1-degree/dense), chosen: true}
}

func (spectralLogistic) work(*Problem) typicalWork {
	return typicalWork{entry: 3000, row: 2500, chosen: true}
}

// TypicalWork returns the typical work of a prediction by m: that of choosing parameters for several
// predictions, and that of each of them. known is false for a method whose work has not been
// measured.
func TypicalWork(m Method, p *Problem) (choose, predict sparse.Work, known bool) {
	of := any(m)
	switch m := m.(type) {
	case graphMethod:
		of = m.graphLearner
	case smoothedMethod:
		return TypicalWork(m.Method, p)
	}
	w, known := of.(worker)
	if !known {
		return sparse.Work{}, sparse.Work{}, false
	}
	typical := w.work(p)
	predict = typical.on(p)
	if typical.chosen {
		const remaining = 0.1 // of the work of a prediction, when its parameters are given
		choose, predict = predict, predict.Times(remaining)
	}
	return choose, predict, true
}

// BaselineWork returns the typical work of the [Baselines] of a prediction.
func BaselineWork(p *Problem) sparse.Work { return typicalWork{entry: 420, row: 30}.on(p) }

// on returns the work on a problem.
func (t typicalWork) on(p *Problem) sparse.Work {
	classes := float64(len(p.Names))
	return sparse.Work{EntryColumns: t.entry * classes * float64(p.A.NNZ()), RowColumns: t.row * classes * float64(len(p.Degrees))}
}
