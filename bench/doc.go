// Package bench measures the products, walks and decoders of heatwalk on this machine.
//
// Every workload is verified by a checksum that other programs can compute (docs/json.md has the formulas,
// bench/peers drivers for SciPy, SuiteSparse:GraphBLAS and Eigen). Times are taken over whole passes; the minimum and
// the median are reported.
package bench
