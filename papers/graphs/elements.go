package graphs

import (
	"context"
	"slices"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

// ReadElements reads the files measure and base for a kernel between sets of parts of graphs. It does nothing for other
// kernels. The file measure has a line element<TAB>number for each element. The file base has the matrix of a kernel between
// elements; its rows and columns are named by the elements. "" means no file.
func (s *Settings) ReadElements(ctx context.Context, c *graphfile.Collection,
	k *Kernel, values param.Values, measure, base string) error {
	if measure == "" && base == "" || k.Param("parts") == nil {
		return nil
	}
	v, err := k.Resolve(k.Own(values), nil)
	if err != nil {
		return err
	}
	_, names, err := multisets(ctx, c, v.Word("parts"))
	if err == nil && measure != "" {
		s.Measure, err = readMeasure(ctx, measure, names)
	}
	if err == nil && base != "" {
		s.Base, err = readBase(ctx, base, names)
	}
	return err
}

// elements holds the names of all parts of graphs that a set kernel compares, in byte order.
type elements []string

// Lookup implements [nodefile.Lookup].
func (e elements) Lookup(name string) (int, bool) {
	return slices.BinarySearch(e, name)
}

// ID implements [nodefile.Lookup].
func (e elements) ID(row int) string { return e[row] }

// Len implements [nodefile.Lookup].
func (e elements) Len() int { return len(e) }

func readBase(ctx context.Context, path string,
	names elements) (*sparse.Block[float64], error) {
	file, err := tablefile.Inspect(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	place := map[string][]int{} // places of each element among the rows and columns of the file
	for _, which := range []string{"rows", "cols"} {
		ids, err := file.Axis(ctx, which)
		if err != nil {
			return nil, err
		}
		number := map[string]int{}
		for i := range ids.N {
			number[ids.ID(i)] = i
		}
		for _, name := range names {
			index, ok := number[name]
			if !ok {
				return nil, input.Fault(path, 0, "give a kernel between all elements of the graphs",
					"%q is none of its %s", name, which)
			}
			place[which] = append(place[which], index)
		}
	}
	base := sparse.NewBlock[float64](len(names), len(names))
	i := 0
	return base, tablefile.Read(ctx, file, func(_ []byte, values []float64) error {
		if row := slices.Index(place["rows"], i); row >= 0 {
			for j, col := range place["cols"] {
				base.Row(row)[j] = values[col]
			}
		}
		i++
		return nil
	})
}

func readMeasure(ctx context.Context, path string,
	names elements) ([]float64, error) {
	v, err := nodefile.ReadValues(ctx, path, names,
		&nodefile.LabelConfig{SkipUnknown: true})
	if err != nil {
		return nil, err
	}
	measure := slices.Repeat([]float64{-1}, len(names))
	for i, element := range v.Row {
		measure[element] = v.Value[i]
	}
	for element, x := range measure {
		if !(x >= 0 && x <= 1e300) {
			return nil, input.Fault(path, 0, "measure every element of the graphs",
				"has no line for %q with a number ≥ 0", names[element])
		}
	}
	return measure, nil
}
