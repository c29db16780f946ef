// Package kernels has the learner on kernel values between items that are no nodes of one graph, see [GramSource].
package kernels
