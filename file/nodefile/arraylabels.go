package nodefile

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// isArray reports whether a file is an array of NumPy.
func isArray(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".npy") }

// openArray opens an array of NumPy.
func openArray(ctx context.Context, path string) (io.Closer, *npy.Array, error) {
	file, err := textio.OpenFile(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	a, err := npy.Read(path, file)
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, a, nil
}

// rowOrder returns the function from the position of a node in the order of the ids to its row.
func rowOrder(nodes Lookup) func(i int) int {
	if ordered, ok := nodes.(interface{ RowAt(i int) int }); ok {
		return ordered.RowAt
	}
	return func(i int) int { return i }
}

// readArray reads labels from an array of NumPy with an element for each node in the order of the ids: an
// integer, −1 for a node without a label, or a number, NaN for a node without one. The class of a node is
// called like its integer. With several labels the array is a matrix, and element (i, j) ≠ 0 gives
// node i the label j.
func (r *labelReader) readArray(ctx context.Context, path string, nodes Lookup) (*Labels, error) {
	r.t.Name = path
	file, a, err := openArray(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	columns := 1
	if r.c.Several && len(a.Shape) == 2 {
		columns = int(a.Shape[1])
	} else if len(a.Shape) != 1 {
		columns = 0
	}
	if a.Len != int64(nodes.Len())*int64(columns) || columns == 0 {
		return nil, a.Fault(fmt.Sprintf("an array of shape %v, and the graph has %s", a.Shape, table.Counted(nodes.Len(), "node")),
			"give one integer for each node, in the order of the ids")
	}
	rowAt := rowOrder(nodes)
	integers, numbers := make([]int64, columns), make([]float64, 1)
	for i := range nodes.Len() {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if r.numbers != nil {
			if err := a.Floats(numbers); err != nil {
				return nil, err
			}
			if math.IsNaN(numbers[0]) {
				r.labels.Unlabelled++
			} else if err := r.label(rowAt(i), strconv.FormatFloat(numbers[0], 'g', -1, 64), nodetable.Row{}); err != nil {
				return nil, err
			}
			continue
		}
		if err := a.Integers(integers); err != nil {
			return nil, err
		}
		for j, label := range integers {
			isNone := label == -1
			if len(a.Shape) == 2 {
				isNone, label = label == 0, int64(j)
			}
			switch {
			case isNone:
				r.labels.Unlabelled++
			case label < 0:
				return nil, a.Fault(fmt.Sprintf("element %d is %d", i, label), "number the classes from 0, and give -1 for a node without a label")
			default:
				if err := r.label(rowAt(i), strconv.FormatInt(label, 10), nodetable.Row{}); err != nil {
					return nil, err
				}
			}
		}
	}
	if err := a.End(); err != nil {
		return nil, err
	}
	return r.end(nodes)
}

// readPositions reads an array of NumPy with the positions of nodes in the order of the ids, each at most
// once, and returns their rows.
func readPositions(ctx context.Context, path string, nodes Lookup) ([]int, error) {
	file, a, err := openArray(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if len(a.Shape) != 1 || a.Len > int64(nodes.Len()) {
		return nil, a.Fault(fmt.Sprintf("an array of shape %v, and the graph has %s", a.Shape, table.Counted(nodes.Len(), "node")), "give each node once")
	}
	positions, rows, rowAt := make([]int64, a.Len), make([]int, a.Len), rowOrder(nodes)
	if err := a.Integers(positions); err != nil {
		return nil, err
	}
	seen := make([]bool, nodes.Len())
	for i, position := range positions {
		if position < 0 || position >= int64(len(seen)) || seen[position] {
			return nil, a.Fault(fmt.Sprintf("element %d is %d, which is repeated or no position of a node", i, position), "give each node once")
		}
		seen[position], rows[i] = true, rowAt(int(position))
	}
	return rows, a.End()
}
