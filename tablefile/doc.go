// Package tablefile reads and writes matrices of features, a row for each node or other
// thing, and precomputed kernels: LIBSVM's text, .npy arrays and .npz archives with
// one. It also reads attributes of nodes, from these or from a table ([ReadFeatures]), and
// writes predictions.
//
//	f, err := tablefile.Inspect(ctx, "x.svm.gz", nil)
//	err = tablefile.Read(ctx, f, func(label []byte, row []float32) error { … })
//
//	w, err := tablefile.NewWriter[float32](file, tablefile.NPY, &tablefile.Matrix{Rows: rows, Cols: cols})
//	for … { err = w.Row(row) }
//	err = w.Close(ctx)
//
// [Inspect] finds out the shape and [Read] goes through the rows, both from the
// file: LIBSVM's text, which says nowhere how wide it is, is read twice, and a
// matrix that is stored by columns in panels of rows. A format is one value, a [Format], in a
// file of code with its reader and its writer, and an entry of [Formats]. Memory is needed for one
// row, or for one panel. What a file declares is compared with its size, or with
// what a caller allows, before anything is made of it.
//
// [NewWriter] writes a matrix row by row, and [WriteIDs] the nodes that its rows or
// columns stand for. [WritePredictions] writes a line for each node, as tab-separated
// text, JSON lines or Parquet. Writers take an io.Writer and need memory for a buffer (Parquet: for a group of rows), whatever the
// size of the result. The same rows give the same bytes.
//
// # LIBSVM
//
// A line is a label and pairs index:value, the indices from 1 and increasing;
// what is missing is 0. Behind # is a comment; lines without anything else are
// passed over, and so are blanks around words. Lines may be of any length. If
// the first pair of the first line is 0:serial the file is a precomputed kernel,
// and each of its lines lists that and all columns from 1 on. scikit-learn writes
// indices from 0 unless it is told otherwise; that is [Options].ZeroBased.
//
// # Arrays
//
// Numbers of every width and byte order in one dimension, which is one column,
// or two. Of an archive the array is read that is called features, kernel, X, x
// or arr_0, or else its only one.
//
// Values are finite. Every fault is an [*nodefile.ParseError] with the file and its line and
// column, or the element.
package tablefile
