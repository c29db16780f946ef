package tablefile

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Conversion describes the conversion of a matrix to another format.
type Conversion struct {
	File   *File
	Kernel bool      // write LIBSVM text in its form for precomputed kernels
	IDs    string    // file with the ids of the rows; "": ids that [File.Axis] finds
	Stdin  io.Reader // content of the path "-"; nil: os.Stdin

	RowIDs, ColIDs io.Writer // receive the ids, one a line; may be nil

	// LabelFile is an array with a number for each row, or a table of nodes and labels, read with the settings
	// Labelling. If it is "", the matrix itself may have labels.
	LabelFile string
	Labelling *nodefile.LabelConfig

	// Reserve, if not nil, is called with the bytes that ids or labels need before they are read. Its error ends the
	// reading.
	Reserve func(bytes int64, what string) error

	// Results of [Conversion.Prepare].
	Rows, Cols Axis
	Classes    []string // class names in the order of their numbers 1, 2 …; nil: labels are unchanged
	labels     []string // labels of rows from LabelFile; nil: labels of File
}

// Prepare finds the ids of rows and columns, and reads LabelFile. If neither IDs nor the matrix nor a separate file has
// ids, rows and columns get numbers from 0; columns of LIBSVM text get numbers from 1.
//
// If a class name is not a number, numbers from 1 replace all classes, in the order of [nodefile.OrderClasses],
// because LIBSVM text holds numbers only. Rows without a label get 0. It is an error if 0 is also the name of a
// class.
func (c *Conversion) Prepare(ctx context.Context) error {
	reserve := c.Reserve
	if reserve == nil {
		reserve = func(int64, string) error { return nil }
	}
	c.Rows = c.File.numbers("rows")
	c.Cols = c.File.numbers("cols")
	var err error
	if !c.File.Format.HasLabels || c.IDs != "" {
		const id = 32 // bytes
		if err = reserve(id*int64(c.File.Rows+c.File.Cols), "ids"); err != nil {
			return err
		}
		c.Rows, err = c.File.axisOr(ctx, "rows", c.IDs, c.Stdin)
	}
	if !c.File.Format.HasLabels && err == nil {
		c.Cols, err = c.File.axisOr(ctx, "cols", "", nil)
	}
	if err != nil || c.LabelFile == "" {
		return err
	}
	const row = 56 // bytes: a second copy of the id, its row, the label, the class and its text
	if err := reserve(row*int64(c.Rows.N), "labels"); err != nil {
		return err
	}
	return c.label(ctx)
}

func (c *Conversion) label(ctx context.Context) error {
	path := c.LabelFile
	n := c.Rows.N
	if Detect(ctx, path) == NPY {
		list, err := readNumbers(ctx, path, n)
		for _, v := range list {
			c.labels = append(c.labels, strconv.FormatFloat(v, 'g', -1, 64))
		}
		return err
	}
	nodes, err := shard.StringNodes(c.Rows.All())
	if err != nil {
		return textio.Fault(c.File.Name, 0, "give each row an id of its own",
			"labels cannot be assigned to rows: %w", err)
	}
	l, err := nodefile.ReadLabels(ctx, path, nodes, c.Labelling)
	if err != nil {
		return err
	}
	names := l.Names
	if l.Numeric() < len(names) {
		sorted, place := l.ByName()
		c.Classes = sorted
		names = make([]string, len(place))
		for class, index := range place {
			names[class] = strconv.Itoa(index + 1)
		}
	} else if missing := n - len(l.Row); missing > 0 &&
		slices.ContainsFunc(names,
			func(name string) bool { return table.ClassKey(name) == "0" }) {
		have := "have"
		if missing == 1 {
			have = "has"
		}
		return textio.Fault(path, 0, "label all rows",
			"0 is a class, and %s %s no label, which LIBSVM text writes as 0",
			words.Counted(missing, "row"), have)
	}
	c.labels = slices.Repeat([]string{"0"}, n)
	for i, index := range l.Row {
		c.labels[index] = names[l.Class[i]]
	}
	return nil
}

func readNumbers(ctx context.Context, path string, n int) ([]float64, error) {
	f, err := Inspect(ctx, path, nil)
	if errors.Is(err, ErrStream) {
		return nil, textio.Fault(path, 0, "decompress it first",
			"a compressed array")
	}
	if err != nil {
		return nil, err
	}
	if f.Rows != n || f.Cols != 1 {
		return nil, textio.Fault(f.Name, 0, "",
			"%d × %d, want a label for each of %s", f.Rows, f.Cols,
			words.Counted(n, "row"))
	}
	list := make([]float64, 0, n)
	err = Read(ctx, f, func(_ []byte, row []float64) error {
		list = append(list, row[0])
		return nil
	})
	return list, err
}

// Convert writes the matrix to w in a format, with elements of type T. [Conversion.Prepare] must be called first.
// Convert writes labels of the file to labels, a line ID<TAB>LABEL for each row, because arrays cannot contain them.
// Memory: one row and File.Held bytes.
func Convert[T sparse.Float](ctx context.Context, c *Conversion, format *Format,
	w, labels io.Writer) error {
	i := 0
	label := "0"
	file, err := NewWriter[T](w, format, &Matrix{Rows: c.Rows, Cols: c.Cols, Kernel: c.Kernel, RowIDs: c.RowIDs, ColIDs: c.ColIDs, Label: func(i int) string {
		if c.labels != nil {
			return c.labels[i]
		}
		return label
	}})
	if err != nil {
		return err
	}
	labelFile := bufio.NewWriter(labels)
	err = Read(ctx, c.File, func(text []byte, row []T) error {
		if c.File.Labelled {
			label = string(text)
			line := append(table.AppendTabbed(labelFile.AvailableBuffer(),
				c.Rows.ID(i)), '\t')
			_, _ = labelFile.Write(append(table.AppendTabbed(line, label), '\n')) // bufio keeps the first error for Flush
		}
		i++
		return file.Row(row)
	})
	return cmp.Or(err, file.Close(ctx), labelFile.Flush())
}
