// Package gram is the kernel behind machines on labelled nodes: a [Cache] keeps its values
// between all nodes and those that may have a label, and a [Map] applies it to the dual
// coefficients of machines, from kept values or by products.
package gram
