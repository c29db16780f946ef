// Package kernels has the learners on kernels of a graph, and on kernel values between items that are no nodes of one graph, see
// [GramSource].
package kernels
