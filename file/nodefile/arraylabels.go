package nodefile

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/npy"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
)

func isArray(path string) bool {
	return strings.HasSuffix(strings.ToLower(path), ".npy")
}

// readElements calls use with each row of an array, which must have n rows unless n < 0.
func readElements(ctx context.Context, path string, n int,
	use func(a *npy.Array, i int, row []float64) error) error {
	file, err := textio.OpenFile(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	a, err := npy.Read(path, file)
	if err != nil {
		return err
	}
	columns := 1
	if n >= 0 && len(a.Shape) == 2 {
		columns = int(a.Shape[1])
	}
	if columns == 0 || n >= 0 && a.Len != int64(n)*int64(columns) {
		return a.Fault("give one element for each node, in the order of the ids", "an array of shape %v, and the graph has %s",
			a.Shape, words.Counted(n, "node"))
	}
	row := make([]float64, columns)
	for i := 0; a.At < a.Len; i++ {
		if ctx.Err() != nil {
			return sched.Cause(ctx)
		}
		if err := a.Floats(row); err != nil {
			return err
		}
		if err := use(a, i, row); err != nil {
			return err
		}
	}
	return a.End()
}

func rowOrder(nodes Lookup) func(i int) int {
	if ordered, ok := nodes.(interface{ RowAt(i int) int }); ok {
		return ordered.RowAt
	}
	return func(i int) int { return i }
}

// readArray reads labels from a NumPy array with an element for each node, in the order of the ids. In an array of
// integers, −1 is no class; in an array of other numbers, which are values, NaN is no value. If nodes may have
// several labels, element (i, j) ≠ 0 gives node i the label j.
func (r *labelReader) readArray(ctx context.Context, path string,
	nodes Lookup) (*Labels, error) {
	r.t.Name = path
	rowAt := rowOrder(nodes)
	err := readElements(ctx, path, nodes.Len(), func(a *npy.Array, i int, row []float64) error {
		if !r.isValue && a.Kind == 'f' || len(a.Shape) == 2 && !r.c.Several {
			return a.Fault("save an integer for each node", "elements that are no integers, or several for a node")
		}
		for j, x := range row {
			isNone := x == -1
			switch {
			case len(a.Shape) == 2:
				x, isNone = float64(j), x == 0
			case r.isValue:
				isNone = math.IsNaN(x)
			}
			switch {
			case isNone:
				r.labels.Unlabelled++
			case !r.isValue && x < 0:
				return a.Fault("number the classes from 0, and give -1 for a node without a label", "element %d is %v", i, x)
			default:
				if err := r.label(rowAt(i), strconv.FormatFloat(x, 'g', -1, 64),
					Row{}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.end(nodes)
}

func readPositions(ctx context.Context, path string,
	nodes Lookup) (rows []int, err error) {
	seen := make([]bool, nodes.Len())
	rowAt := rowOrder(nodes)
	err = readElements(ctx, path, -1, func(a *npy.Array, i int, row []float64) error {
		position := int(row[0])
		if position < 0 || position >= len(seen) || seen[position] {
			return a.Fault("give each node once", "element %d is %v, which is repeated or no position of a node", i, row[0])
		}
		seen[position], rows = true, append(rows, rowAt(position))
		return nil
	})
	return rows, err
}
