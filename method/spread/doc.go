// Package spread has the engines that spread labels or numbers along edges: label propagation, the learners of package
// propagate, the harmonic function, and beliefs of a block model.
package spread
