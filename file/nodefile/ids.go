package nodefile

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Lookup finds the row of an id, and the id of a row; *shard.Nodes implements it.
type Lookup interface {
	Lookup(id string) (row int, ok bool)
	ID(row int) string
	Len() int
}

// Header states whether the first line of data of a file holds titles of columns.
type Header = input.Header

// The zero value decides from the text.
const (
	AutoHeader = input.AutoHeader
	HasHeader  = input.HasHeader
	NoHeader   = input.NoHeader
)

// ListConfig holds the settings of [ReadIDs], [ReadSplits] and [ReadPrior]. Nil means the zero value.
type ListConfig struct {
	SkipUnknown bool                // skip nodes that are not in the graph, if others are; otherwise an error
	Set         string              // noun for all nodes in messages; default: "the graph"
	Skip        []string            // titles of columns that [ReadPrior] skips
	Text        input.Text          // form of the text
	Stdin       io.Reader           // content of the path "-"; nil: os.Stdin
	Warn        func(error)         // called with warnings; may be nil
	Columns     func(input.Columns) // called with the use of the columns if there is something to report; may be nil
}

func (c *ListConfig) reader(nodes Lookup, value string) *Reader {
	return &Reader{
		Lookup: nodes.Lookup, Value: value, Text: c.Text,
		Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn},
	}
}

// ReadIDs reads a list of ids, one on each line, and returns their rows in the order of the file. In a table it reads
// the column of the node, chosen as in [ReadLabels]. It returns an error if an id is not in the graph or occurs
// twice. A NumPy array (.npy) contains positions of nodes in the order of the ids.
func ReadIDs(ctx context.Context, path string, nodes Lookup,
	c *ListConfig) ([]int, error) {
	c = cmp.Or(c, &ListConfig{})
	if isArray(path) {
		return readPositions(ctx, path, nodes)
	}
	return c.rows(ctx, nodes, c.reader(nodes, ""), path, "ids",
		func(int, Row) error { return nil })
}

// Parts holds the rows of the two parts of a split, in the order of the file.
type Parts struct{ Train, Test []int }

// ReadSplits reads a table with a node in each row and its part, train or test. For several splits a row has several
// parts, separated by blanks. A node is in neither part if it has no line, or if its part is empty, val, valid,
// validation, dev or none. Columns are chosen as in [ReadLabels].
func ReadSplits(ctx context.Context, path string, nodes Lookup,
	c *ListConfig) (splits []Parts, err error) {
	c = cmp.Or(c, &ListConfig{})
	t := c.reader(nodes, input.Part)
	_, err = c.rows(ctx, nodes, t, path, "parts", func(node int, row Row) error {
		parts := strings.Fields(strings.ToLower(string(row.Value())))
		if len(splits) == 0 {
			splits = make([]Parts, len(parts))
		}
		if len(parts) > 0 && len(parts) != len(splits) {
			return t.Fault(row, row.At, "fix the line",
				"%d parts, and the first line has %d", len(parts), len(splits))
		}
		for i, word := range parts {
			switch s := &splits[i]; word {
			case "train":
				s.Train = append(s.Train, node)
			case "test":
				s.Test = append(s.Test, node)
			case "val", "valid", "validation", "dev", "none":
			default:
				return t.Fault(row, row.At, "fix the line",
					"%s is neither train nor test", words.Quoted(word))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range splits {
		switch {
		case len(s.Train) == 0:
			return nil, textio.Fault(t.Name, 0, "write lines node<TAB>train",
				"no node is for training")
		case len(s.Test) == 0:
			return nil, textio.Fault(t.Name, 0, "write lines node<TAB>test",
				"no node is for testing")
		}
	}
	return splits, nil
}

// rows calls use with each row of the file whose node is in the graph, and returns these nodes in the order of the
// file. content names the rows in messages.
func (c *ListConfig) rows(ctx context.Context, nodes Lookup, t *Reader,
	path, content string,
	use func(node int, row Row) error) ([]int, error) {
	var list []int
	unknown := Unknown{Nodes: nodes, Set: c.Set}
	for row, err := range t.Read(ctx, path) {
		if err != nil {
			return nil, err
		}
		node, isNode, err := unknown.FindOnce(t, row)
		if err != nil {
			return nil, err
		}
		if !isNode {
			continue
		}
		if err := use(node, row); err != nil {
			return nil, err
		}
		list = append(list, node)
	}
	if unknown.Total == 0 {
		return nil, textio.Fault(t.Name, 0, "give one node a line",
			"no %s", content)
	}
	if err := unknown.Err(t.Name, c.SkipUnknown,
		"remove such lines, or skip unknown ids with {unknown-ids=skip}"); err != nil {
		return nil, err
	}
	if unknown.Count > 0 && c.Warn != nil {
		c.Warn(textio.Fault(t.Name, 0, "",
			"%s of ids that are not in %s skipped",
			words.Counted(unknown.Count, "line"), unknown.Set))
	}
	if t.Columns != nil && c.Columns != nil {
		c.Columns(t.Columns)
	}
	return list, nil
}
