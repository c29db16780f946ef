package graphs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// ReadElements reads the further inputs of a kernel of sets of parts: from the file measure a
// line element<TAB>number for each element, and from the file base the matrix of a kernel
// between elements, whose rows and columns are named by them. "" means no file. For other kernels
// it reads nothing.
func (s *Settings) ReadElements(ctx context.Context, c *graphfile.Collection, k *Kernel, values param.Values, measure, base string) error {
	if measure == "" && base == "" || k.Param("parts") == nil {
		return nil
	}
	v, err := k.Resolve(k.Own(values), nil)
	if err != nil {
		return err
	}
	names, err := elements(ctx, c, v.Word("parts"))
	if err == nil && measure != "" {
		s.Measure, err = readMeasure(ctx, measure, names)
	}
	if err == nil && base != "" {
		s.Base, err = readBase(ctx, base, names)
	}
	return err
}

// readBase reads the kernel between the given elements, in byte order.
func readBase(ctx context.Context, path string, elements []string) (*sparse.Block[float64], error) {
	file, err := tablefile.Inspect(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	place := map[string][]int{} // of each row and column of the file among the elements, −1: none
	for _, which := range []string{"rows", "cols"} {
		ids, err := file.Axis(ctx, which)
		if err != nil {
			return nil, err
		}
		named := make([]bool, len(elements))
		for i := range ids.N {
			index, ok := slices.BinarySearch(elements, ids.ID(i))
			if !ok {
				index = -1
			} else {
				named[index] = true
			}
			place[which] = append(place[which], index)
		}
		if missing := slices.Index(named, false); missing >= 0 {
			return nil, &nodefile.ParseError{File: path, Msg: fmt.Sprintf("%q is none of its %s", elements[missing], which), Fix: "give a kernel between all elements of the graphs"}
		}
	}
	base, i := sparse.NewBlock[float64](len(elements), len(elements)), 0
	return base, tablefile.Read(ctx, file, func(_ []byte, values []float64) error {
		if row := place["rows"][i]; row >= 0 {
			for j, x := range values {
				if col := place["cols"][j]; col >= 0 {
					base.Row(row)[col] = x
				}
			}
		}
		i++
		return nil
	})
}

// readMeasure reads a line element<TAB>number ≥ 0 for each of the given elements; others
// are passed over.
func readMeasure(ctx context.Context, path string, elements []string) ([]float64, error) {
	in, err := textio.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	measure, named := make([]float64, len(elements)), make([]bool, len(elements))
	for line, err := range in.Lines() {
		if err != nil {
			return nil, err
		}
		text := strings.TrimSpace(string(line.Text))
		if text == "" {
			continue
		}
		cut := strings.LastIndexAny(text, "\t ")
		x, wrong := strconv.ParseFloat(text[cut+1:], 64)
		if cut < 0 || wrong != nil || !(x >= 0) || x > 1e300 {
			return nil, &nodefile.ParseError{File: path, Line: line.Number, Msg: fmt.Sprintf("%q is not an element with its measure", text), Fix: "write an element, a tab and a number ≥ 0"}
		}
		index, ok := slices.BinarySearch(elements, strings.TrimSpace(text[:cut]))
		if ok && named[index] {
			return nil, &nodefile.ParseError{File: path, Line: line.Number, Msg: fmt.Sprintf("%q is measured twice", elements[index]), Fix: "keep one line"}
		}
		if ok {
			measure[index], named[index] = x, true
		}
	}
	if missing := slices.Index(named, false); missing >= 0 {
		return nil, &nodefile.ParseError{File: path, Msg: fmt.Sprintf("has no line for %q", elements[missing]), Fix: "measure every element of the graphs"}
	}
	return measure, nil
}
