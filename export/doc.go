// Package export writes results in the forms that other tools read.
//
//   - [NPY] streams a dense matrix, row by row, into a .npy file in C order
//     whose data start at a multiple of 64 bytes, so that NumPy can map it.
//   - [NPZ] streams arrays into a .npz archive, stored, not compressed.
//   - [LIBSVM] writes features, or precomputed kernel values, as LIBSVM text.
//   - [Predictions] writes one line for each node as TSV, JSON lines or
//     Parquet; [TSV], [JSONL] and [Parquet] make one.
//   - [WriteIDs] writes the nodes that rows or columns stand for.
//   - [EdgeList], [MatrixMarket], [SciPy], [METIS] and [ParquetEdges] write a
//     [Graph], sweep by sweep.
//
// Everything goes to an io.Writer and needs memory for one row (Parquet: for
// one group of rows; a graph whose rows are to be put in another order: as many
// as it is allowed), whatever the size of the result. The same rows give the
// same bytes. Who publishes a file atomically is not decided here: package
// durable does that.
package export
