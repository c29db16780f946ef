// Package propagation computes label propagation, [Propagation], and its accuracy at held-out labels.
package propagation
