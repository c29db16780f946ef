package method

import "github.com/heatwalk/heatwalk/method/problem"

// Names of package problem that callers of methods use.
type (
	Problem = problem.Problem

	PhaseSeconds = problem.PhaseSeconds

	ConvergenceError = problem.ConvergenceError
)

// Errors that the labels of a problem cause.
var (
	ErrNoLabels = problem.ErrNoLabels
	ErrOneClass = problem.ErrOneClass
)
