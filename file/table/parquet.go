package table

import (
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/file/textio"
)

// ParquetMagic begins and ends a Parquet file.
const ParquetMagic = "PAR1"

// ParquetEndings are the usual endings of the names of Parquet files.
var ParquetEndings = []string{".parquet", ".pq"}

// ParquetLeaf describes a column of a Parquet file.
type ParquetLeaf struct {
	Title  string // title with dots between levels of nested columns
	Type   string // type for messages
	IsFlat bool   // neither nested nor repeated
	IsText bool   // text, UUIDs, numbers, decimals or booleans; no dates, times or binary data
}

// ParquetReader reads columns of a Parquet file row by row. It is available if the program imports package
// parquetfile.
type ParquetReader interface {
	// Leaves returns the columns.
	Leaves() []ParquetLeaf

	// Each calls use for each row, numbered from 0, with the values of the given columns, valid during the call. Columns
	// must be flat; column −1 is skipped. Each returns errors of use except [ErrEnough], errors of the memory limit, and
	// errors of the content.
	Each(columns []int, use func(number int64, row ParquetRow) error) error
}

// ParquetRow holds the values of the columns of [ParquetReader.Each], in this order.
type ParquetRow interface {
	// AppendText appends value i to dst, nothing if it is missing. A date or a time is written in ISO 8601.
	AppendText(dst []byte, i int) []byte
}

// ErrEnough is returned by the function use of [ParquetReader.Each] to stop reading.
var ErrEnough = errors.New("table: enough rows")

// SampleParquet returns the titles of a file and, if needsRows is set, the first rows. Texts of nested columns are
// empty.
func SampleParquet(r ParquetReader, needsRows bool) (*Sample, error) {
	s := &Sample{}
	var columns []int
	for i, leaf := range r.Leaves() {
		s.Titles = append(s.Titles, leaf.Title)
		if !leaf.IsFlat {
			i = -1
		}
		columns = append(columns, i)
	}
	if !needsRows {
		return s, nil
	}
	err := r.Each(columns, func(_ int64, values ParquetRow) error {
		row := make([]string, len(columns))
		for i, c := range columns {
			if c >= 0 {
				row[i] = string(values.AppendText(nil, i))
			}
		}
		s.Rows = append(s.Rows, row)
		if len(s.Rows) == SampleRows {
			return ErrEnough
		}
		return nil
	})
	return s, err
}

// ParquetKind is the type of the values of a column to be written.
type ParquetKind int

// Types of columns.
const (
	ParquetStrings ParquetKind = iota
	ParquetIntegers
	ParquetDoubles
	ParquetTruths
)

// ParquetColumn describes a column to be written.
type ParquetColumn struct {
	Name     string
	Kind     ParquetKind
	Optional bool // values may be missing
}

// ParquetWriter writes a file row by row. The caller must write the values of a row in the order of the columns, and
// then call EndRow. Errors are errors of the underlying writer, which Close does not close.
type ParquetWriter interface {
	String(text []byte)
	Integer(n int64)
	Double(x float64)
	Truth(value bool)
	Null()
	EndRow() error
	Close() error
}

// ParquetFormat opens and creates files, see [OpenParquet] and [CreateParquet].
type ParquetFormat struct {
	Open   func(name string, content io.ReaderAt, size, used int64, hold func(bytes int64) error) (ParquetReader, error)
	Create func(w io.Writer, name string, columns []ParquetColumn, group int64) ParquetWriter
}

var parquet *ParquetFormat

// RegisterParquet sets the format of Parquet files; package parquetfile calls it from its init function.
func RegisterParquet(f *ParquetFormat) { parquet = f }

// Remedy for a program without Parquet.
const (
	notLinked = "this program is built without Parquet"
	importIt  = `add import _ "github.com/heatwalk/heatwalk/file/parquetfile" to it`
)

// OpenParquet opens the Parquet file name with size bytes of content. used is the memory in use. OpenParquet and
// [ParquetReader.Each] call hold with the total memory before they allocate, and return its error. Other errors are
// errors of content, or a [*textio.Error].
func OpenParquet(name string, content io.ReaderAt, size, used int64, hold func(bytes int64) error) (ParquetReader, error) {
	if parquet == nil {
		return nil, textio.Fault(name, 0, importIt, "%s", notLinked)
	}
	return parquet.Open(name, content, size, used, hold)
}

// CreateParquet returns a writer of a Parquet file with the given columns. A row group has group rows, and is kept in
// memory. The error is a [*textio.Error].
func CreateParquet(w io.Writer, name string, columns []ParquetColumn, group int64) (ParquetWriter, error) {
	if parquet == nil {
		return nil, textio.Fault(name, 0, importIt, "%s", notLinked)
	}
	return parquet.Create(w, name, columns, group), nil
}
