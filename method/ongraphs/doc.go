// Package ongraphs classifies the graphs of a [Collection]: [New] makes a method of a learner
// on a kernel between graphs.
package ongraphs
