// Package problem is what every method is given: a graph with classes on some of its
// nodes, a [Problem], of which it knows the components and what labels reach. [Work] and
// [Estimate] are what every method tells of its answer.
//
// Package method has these types under its own name too.
package problem
