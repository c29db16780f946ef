package lines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/table"
)

// This file refuses tables that are no edge lists, with a remedy, and chooses the columns that
// the remedy of an error names. The remedy has to work as it is: for example, it names a weight
// if a column of numbers could be one.

// refuse returns an error if the first lines are those of another kind of table.
func (h *head) refuse() error {
	if h.c.Fields != nil {
		return nil
	}
	if h.hasArrows() {
		return h.fault("pass {fields=1,3}, or with a weight {fields=1,3,4}", "the second field, %s, is an arrow between source and target", table.Quoted(h.titles[1]))
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
	return isArrow(h.titles) && !slices.ContainsFunc(h.below, func(row []string) bool { return !isArrow(row) })
}

// areNeighbours reports whether every line is a node with a colon and its neighbours,
// for example "a: b c".
func (h *head) areNeighbours() bool {
	isList := func(row []string) bool { return len(row) > 1 && len(row[0]) > 1 && strings.HasSuffix(row[0], ":") }
	return isList(h.titles) && !slices.ContainsFunc(h.below, func(row []string) bool { return !isList(row) })
}

// isAdjacency reports whether the lines are a square matrix of numbers: under the ids of its
// columns with those of the rows in front, or without ids.
func (h *head) isAdjacency() (is, hasIDs bool) {
	n := len(h.titles)
	areNumbers := func(row []string) bool {
		return !slices.ContainsFunc(row, func(text string) bool { return text != "" && !isNumber(text) })
	}
	if n < 3 || len(h.below) < 2 {
		return false, false
	}
	named := h.titles[1:]
	switch {
	case h.isAbove(n + 1): // R writes no title above the ids of the rows
		named = h.titles
	case isNumber(h.titles[0]): // an edge, for example 1,2,3 above 2,3,1 and 3,1,2
		named = nil
	}
	for i, row := range h.below {
		if len(row) != len(named)+1 || i < len(named) && row[0] != named[i] || i >= len(named) || !areNumbers(row[1:]) {
			named = nil
			break
		}
	}
	if named != nil {
		return true, true
	}
	rows := append([][]string{h.titles}, h.below...)
	if slices.ContainsFunc(rows, func(row []string) bool { return len(row) != n || !areNumbers(row) }) {
		return false, false
	}
	if len(rows) > SampleLines && n > SampleLines {
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
	for _, row := range h.below {
		if len(row) == h.lay.columns {
			fit++
		}
	}
	if h.lay.columns == 0 || len(h.below) < least || 2*fit >= len(h.below) {
		return nil
	}
	return h.fault("is this an edge list? write source and target on each line, separated by a tab", "%s, as %d of the %s that follow", table.Counted(h.lay.columns, "field"), fit, table.Counted(len(h.below), "line"))
}

// unnamed is the error for a header whose titles name no ends of an edge. It proposes the two
// columns that share most ids, and as the weight a column of numbers.
func (h *head) unnamed() error {
	msg, fix := table.Unnamed(h.titles)
	c := h.likelyColumns()
	if c.Source >= 0 {
		ends := h.fieldList(c.Source, c.Target)
		fix = fmt.Sprintf("pass {fields=%s}", ends)
		if c.Weight >= 0 {
			fix = fmt.Sprintf("pass {fields=%s}, or without a weight {fields=%s}", h.fieldList(c.Source, c.Target, c.Weight), ends)
		} else if byNumber := fmt.Sprintf("%d,%d", c.Source+h.shift+1, c.Target+h.shift+1); byNumber != ends {
			fix += fmt.Sprintf(" (or {fields=%s})", byNumber)
		}
	}
	return h.fault(fix, "%s", msg)
}

// fieldList returns columns for the option fields: their titles if a shell and the option take
// them as they are, or else their numbers.
func (h *head) fieldList(columns ...int) string {
	var titles, numbers []string
	isPlain := true
	for _, i := range columns {
		title := h.titles[i]
		titles, numbers = append(titles, title), append(numbers, fmt.Sprint(i+h.shift+1))
		isPlain = isPlain && title != "" && !isNumber(title) && !strings.ContainsAny(title, ", \t\"'${}`\\*?!&|;<>()#~")
	}
	if isPlain {
		return strings.Join(titles, ",")
	}
	return strings.Join(numbers, ",")
}

// likelyColumns guesses the columns of an edge under an unknown header; −1 for a column that it
// does not find.
func (h *head) likelyColumns() table.EdgeColumns {
	c := table.EdgeColumns{Source: -1, Target: -1, Weight: -1}
	values := make([]map[string]bool, len(h.titles))
	var ends []int // columns that may hold ids
	for i := range h.titles {
		if i == 0 && len(h.titles) > 2 && table.IsIndex(h.titles[0]) {
			continue
		}
		values[i] = map[string]bool{}
		isID := true
		for _, row := range h.below {
			at := i + h.shift
			if at >= len(row) || row[at] == "" {
				isID = false
				break
			}
			values[i][row[at]] = true
			isID = isID && (table.IsInteger([]byte(row[at])) || !isNumber(row[at])) && !table.IsDecimalComma([]byte(row[at]))
		}
		if isID && !h.isTime(i+h.shift, h.below) {
			ends = append(ends, i)
		}
	}
	best := -1
	for k, i := range ends {
		for _, j := range ends[k+1:] {
			shared := 0
			for id := range values[i] {
				if values[j][id] {
					shared++
				}
			}
			if shared > best {
				best, c.Source, c.Target = shared, i, j
			}
		}
	}
	for i, title := range h.titles {
		if i != c.Source && i != c.Target && values[i] != nil && !table.IsTime(title) && !table.IsNode(title) && h.holdsNumbers(i) {
			c.Weight = i
			break
		}
	}
	return c
}

// holdsNumbers reports whether a column holds numbers that are no times in every line below.
func (h *head) holdsNumbers(column int) bool {
	at := column + h.shift
	return len(h.below) > 0 && !h.isTime(at, h.below) && !slices.ContainsFunc(h.below, func(row []string) bool {
		return at >= len(row) || !isNumber(row[at]) && !table.IsDecimalComma([]byte(row[at]))
	})
}

// isAboveNumbers reports whether some field of the first line is a title above numbers or times.
func (h *head) isAboveNumbers() bool {
	for i, title := range h.titles {
		if table.IsTitle(title) && h.isAbove(len(h.titles)) && (h.holdsNumbers(i) || h.isTime(i, h.below)) {
			return true
		}
	}
	return false
}

// manyFields is the error for lines of more than three fields without a header.
func (h *head) manyFields() error {
	rows := append([][]string{h.titles}, h.below...)
	isRagged := slices.ContainsFunc(rows, func(row []string) bool { return len(row) != len(h.titles) })
	areWords := !slices.ContainsFunc(h.titles, func(text string) bool { return isNumber(text) })
	msg := table.Counted(len(h.titles), "field")
	if isRagged {
		msg += ", and other lines have other numbers of them"
	}
	switch {
	case areWords && (isRagged || h.lay.sep == table.Blanks):
		return h.fault(fmt.Sprintf("if names contain %s, quote them or put tabs between the fields; of lists of neighbours write one edge a line", separatorNoun(h.lay.sep)), "%s", msg)
	case isRagged && h.lay.sep == table.Blanks:
		return h.fault("of lists of neighbours write one edge a line, as networkx.write_edgelist does", "%s", msg)
	}
	return h.fault("choose with {fields=1,2} or, with a weight, {fields=1,2,3}", "%s", msg)
}

// separatorNoun returns the plural of a separator.
func separatorNoun(sep byte) string {
	switch sep {
	case table.Comma:
		return "commas"
	case table.Semicolon:
		return "semicolons"
	case table.Tab:
		return "tabs"
	}
	return "blanks"
}

// warnUnweighted warns of ignored columns of numbers if no column is the weight.
func (h *head) warnUnweighted() {
	lay := h.lay
	if lay.weight >= 0 {
		return
	}
	var numbers []string
	var columns []int
	for i, title := range h.titles {
		at := i + h.shift
		if at != lay.source && at != lay.target && !(i == 0 && table.IsIndex(title)) && !table.IsTime(title) && !table.IsNode(title) && h.holdsNumbers(i) {
			numbers, columns = append(numbers, table.Quoted(title)), append(columns, i)
		}
	}
	switch len(numbers) {
	case 0:
	case 1:
		h.warn(0, "edges have no weight; the numbers of the column "+numbers[0]+" are ignored", fmt.Sprintf("{weight=%s} makes it the weight", h.fieldList(columns[0])))
	default:
		h.warn(0, "edges have no weight; the numbers of the columns "+strings.Join(numbers[:min(len(numbers), 5)], ", ")+" are ignored", "{weight=NAME} makes one the weight")
	}
}
