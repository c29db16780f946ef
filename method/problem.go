package method

import "github.com/heatwalk/heatwalk/method/problem"

// Problem is the graph with classes on some of its nodes that a method is given.
type Problem = problem.Problem
