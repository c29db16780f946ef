package ongram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/heatwalk/heatwalk/classify"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method/items"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

var records = items.Kind{
	Name: "records", Noun: "record", Title: "Kernels between the records of a table, and their classes",
	Example: "hypercube:beta=0.5", Help: helpTexts,
	Kernels: func() []*param.Spec { return RecordKernels().Specs() }, HasColumns: true,
	Commands: items.Standard("TABLE", "record", RecordKernels()[0].Name,
		items.Flag{Name: "attributes", Columns: "2,3,4 or colour,shape",
			Usage: "columns of the attributes, numbers or titles (default: all but id and class)"},
		items.Flag{Name: "id",
			Usage: "`COLUMN` of the ids (default: by its title, or the records are numbered from 1)"},
		items.Flag{Name: "class",
			Usage: "`COLUMN` of the classes, which is no attribute (default: by its title)"},
		items.Flag{Name: "header", Initial: "auto", Words: headers,
			Usage: "whether the first line is a header"},
		items.Flag{Name: "missing"}),
	Open: openRecords,
}

var headers = []string{"auto", "yes", "no"}

// openRecords reads the table, and warns about attributes with too many values for categories.
func openRecords(ctx context.Context, in *items.Input) (*items.Collection, error) {
	path := in.Paths[0]
	a, err := nodefile.ReadAttributes(ctx, path, &nodefile.AttributeConfig{
		Columns: in.Columns("attributes"), ID: in.Flags["id"], Class: in.Flags["class"],
		Header: nodefile.Header(slices.Index(headers, in.Flags["header"])),
		Text:   in.Labelling.Text, Missing: in.Labelling.Missing, Memory: in.Memory,
		Stdin: in.Labelling.Stdin, Warn: in.Labelling.Warn,
	})
	if err != nil {
		return nil, err
	}
	if len(a.Use) > 1 {
		in.Note(input.Escape(path) + ": " + a.Use.String())
	}
	warn := func(format string, args ...any) {
		in.Labelling.Warn(fmt.Errorf(format, args...))
	}
	for _, column := range a.Columns {
		if n := len(column.Values); n > 20 && n > len(a.IDs)/2 &&
			!RecordKernels().Named(in.Kernels[0].Name).Texts {
			warn("%s: %s has %s in %s; if it is a number or a name, leave it out with --attributes",
				a.File, column.Name, in.Count(n, "value"), in.Count(len(a.IDs), "record"))
		}
	}
	hasWarned := in.Command != "classify"
	c := collectionOf(a, func(unknown int) {
		if unknown > 0 && !hasWarned {
			hasWarned = true
			warn("%s: %s that no record with a class has count as missing", a.File,
				in.Count(unknown, "value"))
		}
	})
	if in.Command != "kernel" {
		c.Facts = &struct {
			Nodes int `json:"nodes"`
		}{len(a.IDs)}
		if in.LabelFile == "" && a.Classes != nil {
			in.Classes(a.Classes)
		}
	}
	return c, nil
}

// collectionOf returns the records of a table as items. If the kernel does not compare texts, values that no labelled record
// has are treated as missing, and missing is called with their number.
func collectionOf(t *nodefile.Attributes, missing func(unknown int)) *items.Collection {
	return &items.Collection{
		File: t.File, IDs: tablefile.AxisOf(t.IDs), Lookup: t, Labels: t.Classes,
		Unlabelled: "no column of " + t.File +
			" is titled as one of classes; name it with --class, or give --labels FILE",
		Bytes: t.Bytes, Attributes: len(t.Columns),
		Columns: sync.OnceValue(func() *items.Columns { return columnsOf(t) }),
		Gram: func(_ context.Context, kernel *param.Spec, v param.Values, labelled []int) (classify.Gram, param.Values, error) {
			k := RecordKernels().Named(kernel.Name)
			complete, err := k.Resolve(v, nil)
			if err != nil {
				return nil, nil, err
			}
			columns := t.Columns
			if labelled != nil && !k.Texts {
				unknown := 0
				columns, unknown = restrict(columns, labelled)
				missing(unknown)
			}
			gram, err := k.Of(columns, complete)
			wrong := new(AttributeError)
			if !errors.As(err, &wrong) {
				return gram, complete, err
			}
			p := &nodefile.ParseError{File: t.File, Msg: wrong.What, Err: err}
			if wrong.Attribute != "" {
				p.Msg = wrong.Attribute + ": " + wrong.What
			} else if len(columns) > 1 {
				p.Msg += " with --attributes"
			}
			if wrong.Record >= 0 {
				p.Line = t.Line[wrong.Record]
			}
			return nil, nil, p
		},
	}
}

// fewestOfCode is the number of records that each value of a column of whole numbers must have on average to be a category
// too, as in method/trees.
const fewestOfCode = 10

// columnsOf returns the columns of a table for trees. A column of numbers remains one, and others are categories. Whole numbers
// of few values are categories in a further column, because they may be codes.
func columnsOf(t *nodefile.Attributes) *items.Columns {
	var list [][]float32 // numbers of the values of a column, by code
	var source []int
	c := new(items.Columns)
	for k, column := range t.Columns {
		numbers := make([]float32, len(column.Values))
		isNumber := true
		isWhole := true
		for code, text := range column.Values {
			x, err := strconv.ParseFloat(text, 32)
			isNumber = isNumber && err == nil && !math.IsInf(x, 0) && x == x
			isWhole = isWhole && x == math.Trunc(x)
			numbers[code] = float32(x)
		}
		n := len(column.Values)
		if isNumber {
			list = append(list, numbers)
			source = append(source, k)
			c.IsCategory = append(c.IsCategory, false)
		}
		if !isNumber || isWhole && n > 2 && len(t.IDs) >= fewestOfCode*n {
			codes := make([]float32, n)
			for code := range codes {
				codes[code] = float32(code)
			}
			list = append(list, codes)
			source = append(source, k)
			c.IsCategory = append(c.IsCategory, true)
		}
	}
	c.Block = sparse.NewBlock[float32](len(t.IDs), len(list))
	for i := range t.IDs {
		row := c.Row(i)
		for j, values := range list {
			row[j] = float32(math.NaN())
			if code := t.Columns[source[j]].Code[i]; code >= 0 {
				row[j] = values[code]
			}
		}
	}
	return c
}

// restrict returns the columns without the values that no labelled record has. These values become missing; unknown counts
// them over all records and columns.
func restrict(columns []nodefile.Column,
	labelled []int) (restricted []nodefile.Column, unknown int) {
	for _, column := range columns {
		code := slices.Repeat([]int32{-1}, len(column.Values)) // new code of each value
		next := nodefile.Column{Name: column.Name, Code: slices.Clone(column.Code)}
		for _, row := range labelled {
			if old := column.Code[row]; old >= 0 && code[old] < 0 {
				code[old] = int32(len(next.Values))
				next.Values = append(next.Values, column.Values[old])
			}
		}
		for row, old := range column.Code {
			if old >= 0 {
				next.Code[row] = code[old]
				if code[old] < 0 {
					unknown++
				}
			}
		}
		restricted = append(restricted, next)
	}
	return restricted, unknown
}
