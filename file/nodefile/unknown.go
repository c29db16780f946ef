package nodefile

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Unknown counts the lines of a file about nodes, and the lines whose id is not in the graph.
type Unknown struct {
	Nodes        any    // nodes of the graph; a method ID(row int) string provides an id as an example for the error
	Set          string // noun for all nodes in messages; default: "the graph"
	Option       string // option for the column of the node; or ""
	TitleFix     string // setting that reads the first line as titles, see [Reader.TitleFix]
	Total, Count int    // lines, and lines with an unknown id
	first        int64
	line         int64
	id           string        // first unknown id, with its line
	lineOf       map[int]int64 // line of each node, see FindOnce
}

// Find counts a line, and returns the row of its id, see the function [Find]. If the id is not a node, it also counts
// the id as unknown. line is the number of the line, and must be 0 if the file has no lines.
func (u *Unknown) Find(lookup func(id string) (row int, isNode bool), line int64,
	id []byte) (row int, isNode bool) {
	if u.Total++; u.Total == 1 || line < u.first {
		u.first = line
	}
	u.Set = cmp.Or(u.Set, "the graph")
	row, isNode = Find(lookup, string(id))
	if isNode {
		return row, true
	}
	if u.Count++; u.Count == 1 || line < u.line {
		u.line = line
		u.id = string(id)
	}
	return 0, false
}

// FindOnce is [Unknown.Find] for a row of the table t. It returns an error if the node has had a row before.
func (u *Unknown) FindOnce(t *Reader, row Row) (node int, isNode bool, err error) {
	u.TitleFix = t.TitleFix
	node, isNode = u.Find(t.Lookup, row.Line, row.ID())
	if !isNode {
		return 0, false, nil
	}
	if line, isRepeated := u.lineOf[node]; isRepeated {
		return 0, false, textio.Fault(t.Name, row.Line, "keep one of the lines",
			"%s is on line %d already", words.Quoted(row.ID()), line)
	}
	if u.lineOf == nil {
		u.lineOf = map[int]int64{}
	}
	u.lineOf[node] = row.Line
	return node, true, nil
}

// Err returns an error about the file called name. If all ids are unknown, the file belongs to another graph, and Err
// returns an error even if skip is set. If some ids are unknown, it returns an error with the remedy fix if skip is
// not set.
func (u *Unknown) Err(name string, skip bool, fix string) error {
	quoted := words.Quoted(u.id)
	switch {
	case u.Count == 0:
		return nil
	case u.Count == u.Total:
		what := fmt.Sprintf("none of %d ids is in %s (first %s)",
			u.Total, u.Set, quoted)
		if u.Total == 1 {
			what = quoted + " is not in " + u.Set
		}
		hint, fix := u.mistake()
		return textio.Fault(name, 0, fix, "%s%s", what, hint)
	case skip:
		return nil
	}
	if u.line == u.first && u.TitleFix != "" {
		fix = "pass " + u.TitleFix + " if the line holds titles, else " + fix
	}
	verb := "are"
	if u.Count == 1 {
		verb = "is"
	}
	return textio.Fault(name, u.line, fix, "%s is not in %s (%d of %d ids %s not)%s", quoted, u.Set, u.Count, u.Total, verb, u.similar())
}

// similar returns a hint that the graph has an id like the first unknown id, different only in leading zeros, blanks,
// signs or case. It looks at the first million ids of the graph.
func (u *Unknown) similar() string {
	const most = 1 << 20
	graph, ok := u.Nodes.(interface {
		ID(row int) string
		Len() int
	})
	plain, look := plainID(u.id), table.Look(u.id)
	if !ok || plain == "" {
		return ""
	}
	for row := range min(graph.Len(), most) {
		id := graph.ID(row)
		if id != u.id && table.Look(id) == look {
			return fmt.Sprintf("; %s has %+q, which looks like %+q", u.Set, id, u.id)
		}
		if plainID(id) == plain {
			return "; " + u.Set + " has " + words.Quoted(id) + ", with other zeros, blanks, signs or case"
		}
	}
	return ""
}

func plainID(id string) string {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, table.Look(id))
	return strings.TrimLeft(plain, "0")
}

func (u *Unknown) mistake() (hint, fix string) {
	if hint := u.similar(); hint != "" {
		return hint, "write ids alike in all files: keep them as text in spreadsheets and pandas (dtype=str)"
	}
	if dictionary, ok := u.Nodes.(interface{ ID(row int) string }); ok {
		if id := dictionary.ID(0); !table.IsInteger(id) || !table.IsInteger(u.id) {
			fix = "pass the file with such ids"
			if u.Option != "" {
				fix += ", or their column by {" + u.Option + "}"
			}
			return "; " + u.Set + " has ids like " + words.Quoted(id), fix
		}
	}
	return "", "does one file count from 0 and the other from 1?"
}
