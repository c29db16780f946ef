package tablefile

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/nodetable"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// classTitle is the title of a column of labels as an attribute, because GEXF and NetworkX call the
// name of a node label.
const classTitle = "class"

// nodeColumn is a column of a table of nodes.
type nodeColumn struct {
	title   string
	isLabel bool // labels remain text, even if all are numbers
	values  []string
	code    map[string]int32 // from value to its index
	of      []int32          // the value of each node; −1: none
}

// NodeAttributes reads a table with a node in each row, for example predictions, as attributes for
// [graphfile.Write]: the columns of labels first. The column of the nodes is chosen as by
// [ReadFeatures]. A column whose values are all integers, numbers, or true and false has that type;
// other columns and labels are text. An empty field or a word for a missing value is no value.
// c.Memory bounds the memory, 4 bytes for each node and column and the distinct values, which
// NodeAttributes returns. c.IDs is not used.
func NodeAttributes(ctx context.Context, path string, nodes nodefile.Lookup, c *FeatureConfig) (attributes []graphfile.Attribute, bytes int64, err error) {
	r := &nodetable.Reader{Every: true, Lookup: nodes.Lookup, Text: c.Text, Header: c.Header, Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn}}
	unknown := &nodetable.Unknown{Nodes: nodes}
	var columns []*nodeColumn
	line := make([]int64, nodes.Len()) // of the row of each node; 0: none
	bytes = 8 * int64(len(line))
	for row, err := range r.Read(ctx, path) {
		if err != nil {
			return nil, 0, err
		}
		if columns == nil {
			if columns, err = nodeColumns(r, len(row.Text), nodes.Len()); err != nil {
				return nil, 0, err
			}
			bytes += 4 * int64(len(line)) * int64(len(columns))
		}
		if len(row.Text) != len(columns) {
			return nil, 0, textio.Fault(r.Name, row.Line, "fix the line", "%s, the first line has %d", table.Counted(len(row.Text), "field"), len(columns))
		}
		node, known := nodetable.Find(nodes.Lookup, string(row.ID()))
		if !known {
			unknown.Add(row.Line, row.ID())
			continue
		}
		unknown.Total++
		if line[node] != 0 {
			return nil, 0, textio.Fault(r.Name, row.Line, "keep one of them", "node %s is on line %d already", table.Quoted(row.ID()), line[node])
		}
		line[node] = row.Line
		for i, column := range columns {
			if column != nil {
				bytes += column.set(node, row.Field(i))
			}
		}
		if c.Memory > 0 && bytes > c.Memory {
			return nil, 0, &budget.Error{Need: bytes, Limit: c.Memory, Largest: budget.Item{What: "attributes of nodes", Bytes: bytes}}
		}
	}
	if err := unknown.Err(r.Name, c.SkipUnknown, "fix the line or pass {unknown-ids=skip}"); err != nil {
		return nil, 0, err
	}
	columns = slices.DeleteFunc(columns, func(column *nodeColumn) bool { return column == nil })
	if len(columns) == 0 {
		return nil, 0, &nodefile.ParseError{File: r.Name, Msg: "no column of attributes", Fix: "add one to the column of the node"}
	}
	slices.SortStableFunc(columns, func(a, b *nodeColumn) int {
		switch {
		case a.isLabel && !b.isLabel:
			return -1
		case b.isLabel && !a.isLabel:
			return 1
		}
		return 0
	})
	for i, column := range columns {
		if slices.ContainsFunc(columns[:i], func(other *nodeColumn) bool { return other.title == column.title }) {
			return nil, 0, textio.Fault(r.Name, r.Line, "rename one of them", "two columns become the attribute %s", table.Quoted(column.title))
		}
		attributes = append(attributes, column.attribute())
	}
	return attributes, bytes, nil
}

// nodeColumns returns the columns of a table with n fields in a row; nil for the node and row numbers.
func nodeColumns(r *nodetable.Reader, n, nodes int) ([]*nodeColumn, error) {
	columns := make([]*nodeColumn, n)
	for i := range columns {
		if i == r.Node || r.Columns != nil && i < len(r.Columns) && r.Columns[i].Use == input.Index {
			continue
		}
		column := &nodeColumn{title: fmt.Sprintf("column %d", i+1), code: map[string]int32{}, of: make([]int32, nodes)}
		if i < len(r.Titles) {
			column.title = r.Titles[i]
			if column.isLabel = table.IsLabel(column.title); column.title == fixedColumns[1] {
				column.title = classTitle
			}
		}
		for node := range column.of {
			column.of[node] = -1
		}
		columns[i] = column
	}
	return columns, nil
}

// set sets the value of a node and returns the memory that it takes.
func (c *nodeColumn) set(node int, field []byte) (bytes int64) {
	if isMissingNumber(field) {
		return 0
	}
	code, known := c.code[string(field)]
	if !known {
		const entry = 100 // bytes of an entry of a map and a list, while they grow
		code, bytes = int32(len(c.values)), entry+int64(len(field))
		c.values = append(c.values, string(field))
		c.code[c.values[code]] = code
	}
	c.of[node] = code
	return bytes
}

// attribute returns the column with the type of its values.
func (c *nodeColumn) attribute() graphfile.Attribute {
	c.code = nil
	a := graphfile.Attribute{Title: c.title}
	for _, kind := range []graphfile.Kind{graphfile.Boolean, graphfile.Integer, graphfile.Real} {
		if values := convertAll(c.values, kind); values != nil && !c.isLabel {
			a.Kind, c.values = kind, values
			break
		}
	}
	for _, code := range c.of {
		if code >= 0 {
			a.Bytes += int64(len(c.values[code]))
		}
	}
	a.Value = func(row int) string {
		if c.of[row] < 0 {
			return ""
		}
		return c.values[c.of[row]]
	}
	return a
}

// convertAll returns values in the form of [graphfile.Attribute], or nil if one is not of a kind.
func convertAll(values []string, kind graphfile.Kind) []string {
	var converted []string
	for _, text := range values {
		switch kind {
		case graphfile.Boolean:
			switch text {
			case "true", "True", "TRUE":
				text = "true"
			case "false", "False", "FALSE":
				text = "false"
			default:
				return nil
			}
		case graphfile.Integer:
			v, err := strconv.ParseInt(text, 10, 64)
			if err != nil || strconv.FormatInt(v, 10) != text {
				return nil
			}
		case graphfile.Real:
			v, fault := table.ParseNumber([]byte(text), 64)
			if fault != "" {
				return nil
			}
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		converted = append(converted, text)
	}
	return converted
}
