// Package kernels has the learners on kernels of a graph.
package kernels
