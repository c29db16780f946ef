// Package bench measures heatwalk on this machine: the products, walks and
// decoders of its algorithms.
//
// Every workload is verified by a checksum that other programs can compute
// (docs/json.md has the formulas; bench/peers holds drivers for SciPy,
// SuiteSparse:GraphBLAS and Eigen that print the same). Times are taken over
// whole passes; the minimum and the median are reported.
package bench
