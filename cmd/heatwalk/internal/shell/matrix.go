package shell

import (
	"fmt"
	"path/filepath"

	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/internal/words"
)

type Axis = tablefile.Axis

// Shape holds the first JSON keys of commands that write a matrix.
type Shape struct {
	Output string `json:"output"`
	Rows   int    `json:"rows"`
	Cols   int    `json:"cols"`
	Dtype  string `json:"dtype"`
}

func ShapeOf(path string, rows, cols int, dtype string) Shape { return Shape{path, rows, cols, dtype} }

// MatrixDocument is [Shape] and the description of a matrix of items.
type MatrixDocument struct {
	Shape
	Kernel     string `json:"kernel,omitempty"`     // kernel between items
	Attributes int    `json:"attributes,omitempty"` // attributes of records
	Parameters any    `json:"parameters,omitempty"`
}

// FillMatrix writes a matrix. It calls values to store the values of row i.
func (o *Outputs) FillMatrix(dtype string, m *tablefile.Matrix,
	values func(i int, row []float64) error) error {
	m.RowIDs = o.RowIDs
	m.ColIDs = o.ColIDs
	return InPrecision(dtype, tablefile.Fill[float32],
		tablefile.Fill[float64])(o.Run.Context, o.Writer, o.Format, m, values)
}

func InPrecision[F any](dtype string, single, double F) F {
	if dtype == "float64" {
		return double
	}
	return single
}

func (s Shape) String() string {
	return fmt.Sprintf("%s × %s %s", words.Count(s.Rows), words.Count(s.Cols), s.Dtype)
}

// CheckMatrix returns the size of a matrix and its files of ids, and an error with advice if the disk has too
// little space.
func (o *Outputs) CheckMatrix(rows, cols Axis,
	dtype, advice string) (bytes int64, err error) {
	bytes = o.Format.Size(rows.N, cols.N, dtype)
	err = CheckSpace(o.Path, bytes, ShapeOf(o.Path, rows.N, cols.N, dtype).String(), advice)
	if o.Run.Costs.DryRun {
		bytes += IDBytes(rows) + IDBytes(cols)
	}
	return bytes + RunFileBytes, err
}

// IDBytes returns an upper bound of the size of a file of ids, in which each id may be quoted.
func IDBytes(ids Axis) (bytes int64) {
	for i := range ids.N {
		bytes += 2*int64(len(ids.ID(i))) + 3
	}
	return bytes
}

// CheckSpace returns an error if the disk of path has less free space than bytes.
func CheckSpace(path string, bytes int64, shape, advice string) error {
	if path == "-" {
		return nil
	}
	free, err := durable.OS.Free(filepath.Dir(path))
	if err != nil || bytes <= free {
		return nil // the free space is not known; writing reports a full disk
	}
	return LimitError(path, "would be %s (%s) on a disk with %s free; %s",
		words.Bytes(bytes), shape, words.Bytes(free), advice)
}

// FewerNodes is the remedy if a block of nodes is too large for the disk.
const FewerNodes = "name fewer columns (--cols), rows (--rows), or another disk"

type DenseFlags struct{ Out, Rows, Cols, Dtype string }

func (f *DenseFlags) Declare(flags *FlagSet) {
	flags.AddOutput(&f.Out, "output", "", "of the block: .npy, .npz, .svm, .libsvm, .csv or .mtx", tablefile.MatrixEndings)
	flags.AddInput(&f.Rows, "rows", "of the ids of the rows, one a line (default: all)")
	flags.AddInput(&f.Cols, "cols", "of the ids of the columns (default: all)")
	flags.AddDtype(&f.Dtype, "float32", "precision of the values")
}
