package evaluate

import (
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of [Run]: on every split a prediction by each method, and the choices
// of parameters. known is false if the work of a method has not been measured.
func Work(p *method.Problem, plan *Plan) (all sparse.Work, known bool) {
	set := plan.Settings.WithDefaults()
	splits, choices := float64(plan.count()), float64(plan.TuningSplits)/foldsOfChoice
	if plan.Given != nil || choices == 0 {
		choices = splits
	}
	measures := sparse.Work{RowColumns: measuresWork * float64(len(p.Names)) * float64(len(p.Degrees))}
	for _, size := range plan.trainingSizes(p) {
		for _, m := range plan.entries(&set) {
			choose, predict, known := method.TypicalWork(m.Method, someOf(p, size))
			if !known {
				return sparse.Work{}, false
			}
			all = all.Plus(choose.Times(choices)).Plus(predict.Plus(measures).Times(splits))
		}
	}
	return all, true
}

// measuresWork is the typical work of the measures of a prediction, and of its memory, for each node
// and class.
const measuresWork = 200

// foldsOfChoice is the number of splits on which a prediction that chooses its parameters tries them.
const foldsOfChoice = 5
