// Package tablefile reads and writes matrices of features (one row for each node or other item) and precomputed
// kernels, as LIBSVM text, .npy arrays and .npz archives. It also reads attributes of nodes, from such a matrix or
// from a table ([ReadFeatures]), and writes predictions.
//
//	f, err := tablefile.Inspect(ctx, "x.svm.gz", nil)
//	err = tablefile.Read(ctx, f, func(label []byte, row []float32) error { … })
//
//	w, err := tablefile.NewWriter[float32](file, tablefile.NPY, &tablefile.Matrix{Rows: rows, Cols: cols})
//	for … { err = w.Row(row) }
//	err = w.Close(ctx)
//
// [Inspect] determines the shape and [Read] visits the rows. They need memory for one row, or for a panel of rows of a
// matrix that is stored by columns; a damaged header cannot exhaust memory. [NewWriter] writes a matrix, [WriteIDs]
// the ids of its rows or columns, and [WritePredictions] predictions. Writers need memory for a buffer (Parquet: for
// one row group). The same rows give the same bytes.
//
// # LIBSVM
//
// A line is a label and pairs index:value with increasing indices from 1; missing values are 0. For example, "+1
// 1:0.5 3:2" is the row (0.5, 0, 2) with the label +1. Text after # is a comment. A line has at most 8 MiB. If the
// first line begins with the index 0 (0:serial), the file is a precomputed kernel, and every line lists 0:serial and
// the values of all columns from 1. [Options].ZeroBased reads indices from 0, as scikit-learn writes them.
//
// # Arrays
//
// Arrays hold numbers of any width and byte order, in two dimensions, or in one dimension for a matrix of one column.
// An archive holds the matrix in the array features, kernel, X, x or arr_0 (the first that exists), or else in its
// only array.
//
// Values must be finite. Every error about a file is a [*nodefile.ParseError] with the file and its line and column,
// or the element.
package tablefile
