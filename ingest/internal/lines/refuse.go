package lines

import (
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/table"
)

// This file refuses tables that are no edge lists, with a remedy.

// refuse returns an error if the first lines are those of another kind of table.
func (h *head) refuse() error {
	if h.c.Fields != nil {
		return nil
	}
	if h.hasArrows() {
		return h.fault("pass {fields=1,3}, or with a weight {fields=1,3,4}", "the second field, %s, is an arrow between source and target", table.Quoted(h.Titles[1]))
	}
	if h.areNeighbours() {
		return h.fault("write one edge a line, as networkx.write_edgelist does", "a list of neighbours for each node, which is not read")
	}
	if is, hasIDs := h.isAdjacency(); is {
		layout := "header=None"
		if hasIDs {
			layout = "index_col=0"
		}
		return h.fault("in Python, scipy.sparse.save_npz('graph.npz', scipy.sparse.csr_matrix(pandas.read_csv(PATH, "+layout+").values)) makes a graph of it; {nodes=FILE} gives the ids",
			"an adjacency matrix as a table, which is not read")
	}
	return nil
}

// arrows are written between the ends of an edge.
var arrows = []string{"->", "-->", "<->", "--", "-", "→", "↔", "=>", "<-", "|", ">"}

// hasArrows reports whether an arrow is the second field of every line.
func (h *head) hasArrows() bool {
	isArrow := func(row []string) bool { return len(row) > 2 && slices.Contains(arrows, row[1]) }
	return isArrow(h.Titles) && !slices.ContainsFunc(h.Rows, func(row []string) bool { return !isArrow(row) })
}

// areNeighbours reports whether every line is a node with a colon and its neighbours,
// for example "a: b c".
func (h *head) areNeighbours() bool {
	isList := func(row []string) bool { return len(row) > 1 && len(row[0]) > 1 && strings.HasSuffix(row[0], ":") }
	return isList(h.Titles) && !slices.ContainsFunc(h.Rows, func(row []string) bool { return !isList(row) })
}

// isAdjacency reports whether the lines are a square matrix of numbers: under the ids of its
// columns with those of the rows in front, or without ids.
func (h *head) isAdjacency() (is, hasIDs bool) {
	n := len(h.Titles)
	areNumbers := func(row []string) bool {
		return !slices.ContainsFunc(row, func(text string) bool { return text != "" && !table.IsNumber(text) })
	}
	if n < 3 || len(h.Rows) < 2 {
		return false, false
	}
	named := h.Titles[1:]
	switch {
	case h.IsAbove(n + 1): // R writes no title above the ids of the rows
		named = h.Titles
	case table.IsNumber(h.Titles[0]): // an edge, for example 1,2,3 above 2,3,1 and 3,1,2
		named = nil
	}
	for i, row := range h.Rows {
		if len(row) != len(named)+1 || i < len(named) && row[0] != named[i] || i >= len(named) || !areNumbers(row[1:]) {
			named = nil
			break
		}
	}
	if named != nil {
		return true, true
	}
	rows := append([][]string{h.Titles}, h.Rows...)
	if slices.ContainsFunc(rows, func(row []string) bool { return len(row) != n || !areNumbers(row) }) {
		return false, false
	}
	if len(rows) > table.SampleRows && n > table.SampleRows {
		return true, false
	}
	if len(rows) != n {
		return false, false
	}
	for i, row := range rows { // symmetric, unless it has four rows or more of 0 and 1
		for j := range row {
			isBit := n > 3 && (row[j] == "0" || row[j] == "1")
			if row[j] != rows[j][i] && !isBit {
				return false, false
			}
		}
	}
	return n > 3 || rows[0][0] == rows[1][1] && rows[1][1] == rows[2][2], false
}

// checkForm returns an error if most lines do not have the number of fields of the first one,
// because then the text is no table.
func (h *head) checkForm() error {
	const least = 4 // lines that say something
	fit := 0
	for _, row := range h.Rows {
		if len(row) == h.lay.columns {
			fit++
		}
	}
	if h.lay.columns == 0 || len(h.Rows) < least || 2*fit >= len(h.Rows) {
		return nil
	}
	return h.fault("is this an edge list? write source and target on each line, separated by a tab", "%s, as %d of the %s that follow", table.Counted(h.lay.columns, "field"), fit, table.Counted(len(h.Rows), "line"))
}
