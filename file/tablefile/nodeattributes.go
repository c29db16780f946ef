package tablefile

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// classTitle replaces label as the title of an attribute, because Gephi and NetworkX use label for the name of a
// node.
const classTitle = "class"

// NodeAttributes reads a table with a node in each row, for example predictions, as attributes for [graphfile.Write],
// labels first. [ReadFeatures] says which columns are read. A column whose values are all integers, numbers, or true
// and false has this type. Other columns, labels, and numbers with leading zeros are text. Missing values are empty
// fields, the words of c.Missing, and among numbers the words of [table.Missing].
//
// NodeAttributes returns its memory, which c.Memory bounds: 4 bytes for each node and column, and the distinct
// values. c.IDs is not used.
func NodeAttributes(ctx context.Context, path string, nodes nodefile.Lookup,
	c *FeatureConfig) (attributes []graphfile.Attribute, bytes int64, err error) {
	c = cmp.Or(c, new(FeatureConfig))
	t := newAttributeTable(nodes, c)
	unknown := &nodefile.Unknown{Nodes: nodes}
	var codes [][]int32 // codes of nodes for each column; −1: no value
	const line = 50     // bytes of an entry of a map
	bytes = line * int64(nodes.Len())
	err = t.each(ctx, path, func(row nodefile.Row) error {
		if codes == nil {
			codes = make([][]int32, len(t.columns))
			for i := range codes {
				codes[i] = slices.Repeat([]int32{-1}, nodes.Len())
			}
			bytes += 4 * int64(nodes.Len()) * int64(len(codes))
		}
		node, isNode, err := unknown.FindOnce(&t.rows, row)
		if err != nil || !isNode {
			return err
		}
		for i := range t.columns {
			if text := row.Field(i); !t.columns[i].skipped && !t.isMissing(string(text), true) {
				code, hasRoom := t.columns[i].texts.Code(text)
				codes[i][node] = code
				bytes += hasRoom
			}
		}
		return budget.Check(c.Memory, bytes, "attributes of nodes")
	})
	if err == nil {
		err = unknown.Err(t.rows.Name, c.SkipUnknown,
			"fix the line or pass {unknown-ids=skip}")
	}
	if err != nil {
		return nil, 0, err
	}
	label := table.FindLabel(t.rows.Titles)
	for i := range t.columns {
		column := &t.columns[i]
		isUnread := t.use[i].Note != ""
		if isUnread && c.Warn != nil {
			c.Warn(textio.Fault(t.rows.Name, 0, "write it as text",
				"the column %s is left out: %s", words.Quoted(column.title),
				t.use[i].Note))
		}
		if column.skipped || isUnread {
			continue
		}
		isLabel := i == label && column.isLabel
		if column.title == labelTitle {
			column.title = classTitle
		}
		if slices.ContainsFunc(attributes,
			func(previous graphfile.Attribute) bool { return previous.Title == column.title }) {
			return nil, 0, textio.Fault(t.rows.Name, t.rows.Line,
				"rename one of them", "two columns become the attribute %s",
				words.Quoted(column.title))
		}
		a := attribute(column.title, column.texts.Values, codes[i], isLabel)
		if isLabel {
			attributes = slices.Insert(attributes, 0, a)
		} else {
			attributes = append(attributes, a)
		}
	}
	if attributes == nil {
		return nil, 0, errNoAttributes(t.rows.Name, t.use)
	}
	return attributes, bytes, nil
}

// attribute returns an attribute, of a type that fits its distinct values.
func attribute(title string, values []string, codes []int32,
	isLabel bool) graphfile.Attribute {
	a := graphfile.Attribute{Title: title}
	for _, kind := range []graphfile.Kind{graphfile.Boolean, graphfile.Integer,
		graphfile.Real} {
		if converted := convertAll(values, kind); converted != nil && !isLabel {
			a.Kind = kind
			values = converted
			break
		}
	}
	for _, code := range codes {
		if code >= 0 {
			a.Bytes += int64(len(values[code]))
		}
	}
	a.Value = func(row int) string {
		if codes[row] < 0 {
			return ""
		}
		return values[codes[row]]
	}
	return a
}

func convertAll(values []string, kind graphfile.Kind) []string {
	var converted []string
	for _, text := range values {
		if kind != graphfile.Boolean && table.IsMissing(text, table.Missing) {
			converted = append(converted, "")
			continue
		}
		v, fault := table.ParseNumber([]byte(text), 64)
		isKind := fault == "" && !table.HasLeadingZero(text)
		switch kind {
		case graphfile.Boolean:
			text = strings.ToLower(text)
			isKind = text == "true" || text == "false"
		case graphfile.Integer:
			n, err := strconv.ParseInt(text, 10, 64)
			isKind = err == nil && strconv.FormatInt(n, 10) == text
		case graphfile.Real:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if !isKind {
			return nil
		}
		converted = append(converted, text)
	}
	return converted
}
