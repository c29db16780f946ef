package method

import "github.com/heatwalk/heatwalk/method/problem"

// Problem is the graph with classes on some of its nodes that a method is given.
type Problem = problem.Problem

// Errors that the labels of a problem cause.
var (
	ErrNoLabels = problem.ErrNoLabels
	ErrOneClass = problem.ErrOneClass
)
