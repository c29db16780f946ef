package tablefile

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

// CSV is the format of a table of numbers: the first row has the ids of the columns, and the first field of every
// other row is the id of the row. R reads it by read.csv(file, row.names = 1, check.names = FALSE), and pandas by
// read_csv(file, index_col=0).
var CSV = &Format{
	Name: "csv", Title: "a table of numbers", Endings: []string{".csv"}, Text: true, IsShared: true,
	inspect: (*File).inspectTable, names: tableNames,
	of32: rows[float32]{read: readTable[float32], write: newCSVWriter[float32]},
	of64: rows[float64]{read: readTable[float64], write: newCSVWriter[float64]},
}

// cornerTitle is the first title of a table, above the ids of its rows.
const cornerTitle = "id"

func newCSVWriter[T sparse.Float](w io.Writer, m *Matrix) (*Writer[T], error) {
	out := bufio.NewWriterSize(w, bufferBytes)
	bits := bitsOf[T]()
	_, _ = out.WriteString(cornerTitle) // bufio keeps the first error
	for id := range m.Cols.All() {
		_, _ = out.Write(table.AppendField(append(out.AvailableBuffer(), ','), id))
	}
	_ = out.WriteByte('\n')
	row := func(i int, values []T) error {
		_, _ = out.Write(table.AppendField(out.AvailableBuffer(), m.Rows.ID(i)))
		for _, v := range values {
			_, _ = out.Write(strconv.AppendFloat(append(out.AvailableBuffer(), ','), float64(v), 'g', -1, bits))
		}
		return out.WriteByte('\n')
	}
	return &Writer[T]{cols: m.Cols.N, row: row, close: out.Flush}, nil
}

// table returns a reader of the rows of a table of numbers.
func (f *File) table() *nodefile.Reader {
	return &nodefile.Reader{Every: true, Text: f.o.Text}
}

// inspectTable reads a table to the end, because its number of rows is stated nowhere.
func (f *File) inspectTable(in *textio.Reader) error {
	t := f.table()
	for row, err := range t.Rows(in) {
		if err != nil {
			return err
		}
		if f.Rows == 0 {
			f.cols = slices.Delete(slices.Clone(t.Names), t.Node, t.Node+1)
			f.Cols = len(f.cols)
		}
		f.Rows++
		for _, field := range row.Text {
			f.longest = max(f.longest, len(field))
		}
	}
	switch {
	case f.Rows == 0:
		return textio.Fault(f.Name, 0, "write the ids of the columns in the first row, and an id and numbers in every other row",
			"no row of numbers")
	case f.Cols == 0:
		return textio.Fault(f.Name, 0, "separate an id and numbers in each row by commas", "no column of numbers")
	case f.Rows > math.MaxInt32:
		return textio.Fault(f.Name, 0, "write a part of it", "%s, limit %d", words.Counted(f.Rows, "row"), math.MaxInt32)
	}
	return nil
}

// readTable visits the rows of a table. The label of a row is its id.
func readTable[T sparse.Float](ctx context.Context, in *textio.Reader, f *File,
	visit func(label []byte, row []T) error) error {
	t := f.table()
	values := make([]T, f.Cols)
	i := 0
	for row, err := range t.Rows(in) {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return sched.Cause(ctx)
		case i >= f.Rows || len(row.Text) != f.Cols+1:
			return textio.Fault(f.Name, row.Line, "try again", "has changed while it was read")
		}
		column := 0
		for j := range row.Text {
			if j == t.Node {
				continue
			}
			v, fault := table.ParseNumberIn(row.Field(j), t.Text)
			values[column] = T(v)
			if fault == "" && math.IsInf(float64(values[column]), 0) {
				fault = "is beyond " + typeName[T]()
			}
			if fault != "" {
				return t.Fault(row, j, "write a number in each field behind the id", "%s %s", words.Quoted(row.Field(j)), fault)
			}
			column++
		}
		if err := visit(row.ID(), values); err != nil {
			return err
		}
		i++
		f.progress(in)
	}
	return nil
}

func typeName[T sparse.Float]() string {
	return "float" + strconv.Itoa(bitsOf[T]())
}

func tableNames(ctx context.Context, f *File, which string, n int) ([]string, error) {
	if which == "cols" {
		return f.cols, nil
	}
	in, err := open(ctx, f.path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	ids := make([]string, 0, n)
	for row, err := range f.table().Rows(in) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, string(row.ID()))
	}
	if len(ids) != n {
		return nil, errors.New(f.Name + ": has changed while it was read; try again")
	}
	return ids, nil
}
