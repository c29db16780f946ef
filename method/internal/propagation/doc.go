// Package propagation is label propagation: its scores of all nodes, [Propagation], and how
// often it and the largest class are right at labels that are hidden with their fold,
// [Propagation.Compare].
package propagation
