// Package learners has the learners of the papers. Importing it registers them with packages classify and propagate,
// so that they have a name in methods, grids, parameter choice, estimates and help.
//
//	perceptron       voted perceptrons                   Freund and Schapire, 1999, as in Gärtner et al., 2006
//	dkm, dkm-NAME    learners on deep kernels            Tang and Zhu, Deep kernel machines, 2010, section 3.3
//	rl               votes by similar walks              Desrosiers and Karypis, 2009, as in the CWK paper
//	gp-transduction  softmax likelihood, K⁻¹ = I + γL    Gärtner, Le and Smola, A short tour, 2006, section 1.4
//
// If several processes share the rows of a graph, only assign=shares of gp-transduction needs one process.
package learners

import (
	"math"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/propagate"
)

// deepBases are the learners that have a deep kernel machine.
var deepBases = []string{"svm", "rls", "gp", "logistic", "perceptron", "centroid", "density"}

func init() {
	classify.Register(&perceptron)
	for _, name := range deepBases {
		classify.Register(deepLearner(classify.Learners().Named(name)))
	}
	propagate.Register(&relaxationLabelling)
	propagate.Register(&gpTransduction)
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
