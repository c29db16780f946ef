// Package spread has the engines that spread labels or numbers along edges: label propagation, the learners of package
// propagate, the harmonic function, beliefs of a block model, and Correct & Smooth around any engine.
package spread
