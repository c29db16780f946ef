package evaluate

import (
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/sparse"
)

// Work returns the typical work of [Run]: on every split a prediction by each method, and the choices
// of parameters. known is false if the work of a method has not been measured.
func Work(p *method.Problem, plan *Plan) (all sparse.Work, known bool) {
	// The work of the measures of a prediction for each node and class, up to eight times the test nodes, and of its
	// memory for each node and class, in rows × columns; measured on Cora and on R-MAT graphs.
	const measured, most, kept = 200, 8, 5
	set := plan.Settings.WithDefaults()
	splits, choices := float64(plan.count()), float64(plan.TuningSplits)
	if plan.Given != nil {
		splits, choices = 1, 0
	}
	for _, size := range plan.trainingSizes(p) {
		tests := max(1, len(p.Row)-size)
		of := someOf(p, size)
		measures := sparse.Work{RowColumns: float64(len(p.Names)) * float64(measured*min(most*tests, len(p.Degrees))+kept*len(p.Degrees))}
		for _, m := range plan.entries(&set) {
			if choices == 0 {
				tests = 0
			}
			choose, predict, known := method.TypicalWork(m.Method, of, tests, m.Settings)
			if !known {
				return sparse.Work{}, false
			}
			if choices == 0 {
				predict = predict.Plus(choose)
			}
			all = all.Plus(choose.Times(choices)).Plus(predict.Plus(measures).Times(splits))
		}
	}
	return all, true
}
