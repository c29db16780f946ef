package nodefile

import (
	"fmt"

	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/sparse"
)

// Features are numbers that are known of nodes: a row for each of them.
type Features struct {
	Table   *sparse.Table // a row for each node of the graph, missing where nothing is known
	Unknown int           // rows passed over for a node that is not in the graph
	Passed  []string      // columns passed over

	file   string
	nodes  Lookup
	c      FeatureConfig
	total  int
	absent labelLine // the first row of a node that is not in the graph
}

// FeatureConfig are the settings of [CollectFeatures] and [ReadFeatures]; nil stands
// for the zero value.
type FeatureConfig struct {
	SkipUnknown bool         // pass over rows of nodes that are not in the graph; default: an error
	Memory      int64        // limits the table, in bytes; 0: no limit
	Warn        func(string) // told of what is odd but accepted; nil: nobody
}

// CollectFeatures returns the rows that each hands to add, the line of the file, 0 if
// there is none, the node and its values; file is for messages. It is an error, a
// [*ParseError], if there is no row, or a node has two, or is not in the graph, unless such
// are to be skipped.
func CollectFeatures(file string, nodes Lookup, columns int, c *FeatureConfig, each func(add func(line int64, id string, values []float32) error) error) (*Features, error) {
	a := &Features{Table: sparse.NewTable(nodes.Len(), columns), file: file, nodes: nodes}
	if c != nil {
		a.c = *c
	}
	err := each(a.add)
	if err == nil {
		err = a.end()
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// add adds the row of a node.
func (a *Features) add(line int64, id string, values []float32) error {
	a.total++
	row, known := a.nodes.Lookup(id)
	if !known {
		if a.Unknown++; a.Unknown == 1 {
			a.absent = labelLine{line: line, id: id}
		}
		return nil
	}
	if a.Table.Has(row) {
		return &ParseError{File: a.file, Line: line, Msg: fmt.Sprintf("%s has two rows", table.Quoted([]byte(id))), Fix: "keep one of them"}
	}
	a.Table.Set(row, values)
	if bytes := a.Table.Bytes(); a.c.Memory > 0 && bytes > a.c.Memory {
		// What is still to come takes as much a row as what is there.
		need := bytes / int64(a.Table.Present) * int64(a.nodes.Len())
		return &budget.OverError{Need: max(need, bytes), Limit: a.c.Memory, Largest: budget.Item{What: "attributes", Bytes: max(need, bytes)}}
	}
	return nil
}

// end tells whether there are rows, and of nodes of the graph.
func (a *Features) end() error {
	switch {
	case a.total == 0:
		return &ParseError{File: a.file, Msg: "no row", Fix: "give one node a row"}
	case a.Unknown == a.total:
		return noneKnown(a.file, a.total, a.absent.id)
	case a.Unknown > 0 && !a.c.SkipUnknown:
		return someUnknown(a.file, a.absent.line, a.absent.id, a.Unknown, a.total, "take such rows out, or pass FeatureConfig.SkipUnknown")
	}
	return nil
}
