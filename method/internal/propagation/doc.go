// Package propagation is label propagation: the scores of all nodes, [Propagation], and their accuracy at held-out labels,
// [Propagation.Compare].
package propagation
