package nodefile

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/npy"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// isLabelArray reports whether a file of labels is an array of NumPy.
func isLabelArray(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".npy") }

// readArray reads labels from an array of NumPy: one integer for each node in the order of the ids,
// −1 for a node without a label. The class of a node is called like its integer.
func (r *labelReader) readArray(ctx context.Context, path string, nodes Lookup) (*Labels, error) {
	r.t.Name = path
	file, err := textio.OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	a, err := npy.Read(path, file)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 1 || a.Len != int64(nodes.Len()) {
		return nil, a.Fault(fmt.Sprintf("an array of shape %v, and the graph has %s", a.Shape, table.Counted(nodes.Len(), "node")),
			"give one integer for each node, in the order of the ids")
	}
	rowAt := func(i int) int { return i }
	if ordered, ok := nodes.(interface{ RowAt(i int) int }); ok {
		rowAt = ordered.RowAt
	}
	block := make([]int64, min(1<<16, a.Len))
	for a.At < a.Len {
		first := int(a.At)
		chunk := block[:min(int64(len(block)), a.Len-a.At)]
		if err := a.Integers(chunk); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for i, label := range chunk {
			if label == -1 {
				r.labels.Unlabelled++
				continue
			}
			if label < 0 {
				return nil, a.Fault(fmt.Sprintf("element %d is %d", first+i, label), "number the classes from 0, and give -1 for a node without a label")
			}
			if err := r.label(rowAt(first+i), strconv.FormatInt(label, 10), nodetable.Row{}); err != nil {
				return nil, err
			}
		}
	}
	if err := a.End(); err != nil {
		return nil, err
	}
	return r.end(nodes)
}
