// Package problem defines the input of every method: a [Problem], a graph with classes on some of its nodes, with its
// components and the nodes that labels reach. An [Estimate] is part of every prediction.
package problem
