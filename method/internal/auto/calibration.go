package auto

import "math"

// calibration turns probabilities p of k classes into those which labels bear out:
//
//	w·p_c^γ/Σ_c p_c^γ + (1 − w)/k
//
// It keeps the likeliest class.
type calibration struct {
	power float64 // γ
	trust float64 // w
}

// Models of few labels may be far from what labels bear out, those of many are near it on
// all graphs, and labels out of fold tell little more of it than labels did before: so what
// is expected of w counts for more the more labels there are, up to a limit.
const (
	// powerMean and powerSpread are the mean and the standard deviation of log γ that are
	// expected.
	powerMean   = 0.05
	powerSpread = 0.2

	// powerSteps and powerStep are the values of log γ that are tried, on either side of
	// powerMean.
	powerSteps = 8
	powerStep  = 0.1

	// trustMean is the w that is expected, beside one observation for each side. It counts
	// as m²/trustLabels of m labels do, and trustMost at the most.
	trustMean   = 0.97
	trustLabels = 330
	trustMost   = 50
)

// calibrate returns the γ and w under which the labels that are not told are likeliest,
// with a normal distribution of log γ and a beta distribution of w. Labels of which nothing
// is known, or that are the only ones of their class, say nothing of it.
func (r *weigher) calibrate() calibration {
	var rows [][]float64
	var class []int
	for i, c := range r.p.Class {
		if r.several[i] && r.whole.known[i] {
			row := make([]float64, len(r.p.Names))
			r.answerTo(row, r.shares, i)
			rows, class = append(rows, row), append(class, c)
		}
	}
	best, most := calibration{1, 1}, math.Inf(-1)
	truth, row := make([]float64, len(rows)), make([]float64, len(r.p.Names))
	for step := -powerSteps; step <= powerSteps; step++ {
		log := powerMean + float64(powerStep*float64(step))
		c := calibration{power: math.Exp(log), trust: 1}
		for i := range rows {
			copy(row, rows[i])
			c.apply(row)
			truth[i] = row[class[i]]
		}
		likelihood := 0.0
		c.trust, likelihood = trusted(truth, float64(len(row)))
		away := (log - powerMean) / powerSpread
		if likelihood -= away * away / 2; likelihood > most {
			best, most = c, likelihood
		}
	}
	return best
}

// trusted returns the w under which labels of k classes with probabilities q of their own
// are likeliest, with what is expected of w, and the logarithm of that.
func trusted(q []float64, k float64) (w, likelihood float64) {
	expected := min(float64(len(q)*len(q))/trustLabels, trustMost)
	right, wrong := 1+float64(trustMean*expected), 1+float64((1-trustMean)*expected)
	w = 0.5
	for range 50 {
		sum := right
		for _, q := range q {
			mine := float64(w * q)
			sum += mine / (mine + (1-w)/k)
		}
		w = sum / (right + wrong + float64(len(q)))
	}
	likelihood = float64(right*math.Log(w)) + float64(wrong*math.Log(1-w))
	for _, q := range q {
		likelihood += math.Log(float64(w*q) + (1-w)/k)
	}
	return w, likelihood
}

// apply changes the probabilities of a row.
func (c calibration) apply(row []float64) {
	sum := 0.0
	for i, q := range row {
		if c.power != 1 {
			row[i] = math.Pow(q, c.power)
		}
		sum += row[i]
	}
	for i, q := range row {
		row[i] = float64(c.trust*q)/sum + (1-c.trust)/float64(len(row))
	}
}
