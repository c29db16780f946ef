// Package problem defines the input of every method: a [Problem], a graph with classes on some of its nodes, with its
// components and the nodes that labels reach. An [Estimate] is part of every prediction.
//
// Package method exports these types under its own name too.
package problem
