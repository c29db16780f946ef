package table

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// ask returns a question: an error with the titles and first values of the columns, whose remedy is the settings for
// each possible choice of columns.
func (c *chooser) ask(problem string) *input.Error {
	const (
		most   = 20
		values = 3
		long   = 20 // bytes of a value
	)
	isOdd := !c.r.IsTyped && areMost(c.rows(), func(row []string) bool { return !all(row, isPaired) })
	choices := c.choices()
	if !isOdd && len(choices) > 0 && c.r.IsKnown != nil && !c.r.IsKnown(c.s.Titles[choices[0][0]]) && c.r.Header != input.NoHeader {
		c.HasHeader = true // the remedy has a header
	}
	var columns []string
	for i, title := range c.s.Titles {
		var cells []string
		for _, row := range c.rows() {
			if len(cells) < values && i < len(row) {
				cell := input.Escape(row[i][:min(len(row[i]), long)])
				if strings.Contains(cell, ",") {
					cell = words.Quoted(cell)
				}
				cells = append(cells, cell)
			}
		}
		name := words.Count(i + 1)
		if c.HasHeader && title != "" {
			name += " " + input.Escape(title)
		}
		columns = append(columns, name+" ("+strings.Join(cells, ", ")+")")
	}
	if len(columns) > most {
		columns = append(columns[:most], "…")
	}
	fix := c.fix(choices)
	if matrix := c.askMatrix(); matrix != nil {
		return matrix
	}
	if isOdd || fix == "" {
		problem = "the first lines are no rows of a table"
		fix = c.rowsFix()
	}
	return &input.Error{Msg: problem, Detail: strings.Join(columns, ", "), Fix: fix}
}

// tuplePattern matches brackets without other brackets inside, perhaps after a word.
var tuplePattern = regexp.MustCompile(`\w*[[({][^][(){}]*[])}]`)

// NeighboursFix is the remedy for lines of a node and its neighbours.
const NeighboursFix = "is this an edge list? write source and target on each line, separated by a tab; if lines are a node and its neighbours: " +
	`awk '{ gsub(/[][(){}:,;]/, " "); for (i = 2; i <= NF; i++) print $1 "\t" $i }' {file} > {copy}`

// rowsFix returns the remedy for lines that are no rows of a table: tuples, such as [1, 2] or INSERT INTO t VALUES
// (1, 2), texts in single quotes, or lists of neighbours.
func (c *chooser) rowsFix() string {
	rows := c.rows()
	line := strings.Join(rows[len(rows)-1], string(rune(c.s.Separator)))
	text := strings.Trim(tuplePattern.ReplaceAllString(line, ""), " ,;[](){}")
	switch {
	case text == "" && !strings.Contains(line, ":") || strings.HasPrefix(text, "INSERT "):
		return `write each row on a line: grep -oE "[[({][^][(){}]*[])}]" {file} | sed -E "s/[A-Za-z_]+=|[][(){}'\"]//g" > {copy}`
	case strings.HasPrefix(line, "'"):
		return `write texts without quotes: sed "s/'//g" {file} > {copy}`
	case c.r.IsEdges && !strings.HasPrefix(line, "<"):
		return NeighboursFix
	}
	return "write " + c.want() + " on each line, separated by a tab"
}

func (c *chooser) want() string {
	switch {
	case c.r.IsEdges:
		return "source and target"
	case c.r.Value == "":
		return "the node"
	}
	return "node and " + c.r.Value
}

// askAgain discards the columns that were chosen, and returns the question which columns to use.
func (c *chooser) askAgain(problem string) *input.Error {
	for i, use := range c.use {
		if use != attribute {
			c.use[i] = ""
		}
	}
	for _, role := range c.roles {
		c.Column[role.use] = -1
	}
	return c.ask(problem)
}

// fix returns the remedy: the settings for each choice.
func (c *chooser) fix(choices [][]int) string {
	const most = 9
	titles := c.s.Titles
	verb := "pass "
	switch {
	case c.r.IsEdges && c.HasHeader && strings.Contains(strings.Join(titles, " "), ":ID"):
		return "a table with :ID has nodes: give that of relationships, with :START_ID and :END_ID, as the graph, and this one for labels or attributes"
	case c.r.Value == "" && !c.r.IsEdges:
		return `title the column of the node "node"`
	case c.r.Option == "":
		return fmt.Sprintf(`title the columns "node" and %q`, c.r.Value)
	case len(choices) == 0:
		return ""
	case c.s.Separator == Comma && c.r.IsEdges && all(append(c.rows(), titles), func(row []string) bool { return strings.Contains(strings.Join(row, ""), ";") }):
		verb = "pass {delimiter=;} if it separates the fields, else "
	case len(choices) > most:
		verb = "choose columns, as in "
		choices = choices[:3]
	}
	list := func(titles []string) string {
		var settings []string
		for _, columns := range choices {
			setting := "{" + c.r.Option + "=" + FieldList(titles, columns...) + "}"
			if numbers := c.s.NumberSettings(columns[len(columns)-1]); len(columns) > 2 && numbers != "" {
				setting += " " + numbers
			}
			if c.r.IsEdges && !c.r.Bipartite && c.HasHeader && AreKinds(c.s, columns[0], columns[1]) {
				setting += " {bipartite}"
			}
			settings = append(settings, setting)
		}
		return strings.Join(settings, " or ")
	}
	numbers := make([]string, len(titles))
	switch {
	case c.HasHeader:
		return verb + list(titles)
	case c.r.Header != input.NoHeader && len(c.s.Rows) > 0 && all(titles, func(title string) bool {
		return isWord(title) && !c.s.recurs(title) && (c.r.IsKnown == nil || !c.r.IsKnown(title))
	}):
		return verb + list(titles) + " if the first line holds titles, else " + list(numbers)
	}
	return verb + list(numbers)
}

// choices returns the possible choices of columns: a column for each of the two required roles and, for edges, a
// third column for the weight if there is one. Pairs whose titles name ends come first, then pairs of ends with a text in
// common; pairs with row numbers come last.
func (c *chooser) choices() (list [][]int) {
	if len(c.roles) == 1 {
		return nil
	}
	weights := [][]int{nil}
	if c.r.IsEdges {
		columns := c.titled(edgeRoles[2])
		if weight := c.Column[input.Weight]; weight >= 0 {
			columns = []int{weight}
		}
		for _, i := range columns {
			weights = append(weights, []int{i})
		}
		weights = weights[min(1, len(columns)):]
	}
	first := c.candidates(c.roles[0])
	second := c.candidates(c.roles[1])
	isOrdered := c.r.IsEdges && slices.Equal(first, second)
	if isOrdered && len(first) == 3 && weights[0] == nil && c.isNumber(first[2]) {
		return [][]int{first}
	}
	var titled, others, numbered [][]int
	for _, i := range first {
		texts := slices.DeleteFunc(slices.Clone(c.values(i)), IsNumber)
		areNumbers := isOrdered && areRowNumbers(c.values(i))
		for _, j := range second {
			if i == j || i > j && isOrdered || slices.Equal(c.odd, []int{i, j}) {
				continue
			}
			to := &others
			if isOrdered && c.HasHeader && AreEnds(c.s.Titles[i], c.s.Titles[j]) {
				to = &titled
			} else if areNumbers {
				to = &numbered
			} else if isOrdered && slices.ContainsFunc(c.values(j), func(value string) bool { return slices.Contains(texts, value) }) {
				to = &list
			}
			for _, weight := range weights {
				*to = append(*to, append([]int{i, j}, weight...))
			}
		}
	}
	return slices.Concat(titled, list, others, numbered)
}

// areRowNumbers reports whether each value is one more than the previous value.
func areRowNumbers(values []string) bool {
	for i, value := range values {
		n, err := strconv.Atoi(value)
		if err != nil || i > 0 && strconv.Itoa(n-1) != values[i-1] {
			return false
		}
	}
	return len(values) > 2
}

// candidates returns the first of these lists that is not empty: columns with nodes of the graph; the chosen column;
// columns with a title of the role; two or more columns that may be ids and do not have the title of another role;
// two or more columns that may be ids; all free columns.
func (c *chooser) candidates(role role) []int {
	free := c.freeEnds()
	without := func(columns []int, isLeft func(i int) bool) []int {
		return slices.DeleteFunc(slices.Clone(columns), isLeft)
	}
	chosen := without([]int{c.Column[role.use]}, func(i int) bool { return i < 0 })
	ids := without(free, c.isNoID)
	lists := [][]int{
		without(slices.Concat(chosen, free), func(i int) bool { return role.use != input.Node || !c.isKnown(i) }),
		chosen,
		without(c.titled(role), c.isNoID),
		without(ids, func(i int) bool {
			return c.isOther(i, role) || c.r.IsEdges && c.HasHeader && hasRole(c.s.Titles[i], idTitle)
		}),
		ids,
	}
	for i, list := range lists {
		if len(list) > i/3 { // the last two lists must have a pair
			return list
		}
	}
	return free
}

func (c *chooser) isNoID(column int) bool {
	values := c.values(column)
	isDay := func(value string) bool { return isDate(value) || datePattern().MatchString(value) }
	return len(values) > 0 && all(values, isDay) || c.r.IsEdges && areTimes(values) ||
		len(values) > 1 && !IsNumber(values[0]) && all(values, func(value string) bool { return value == values[0] })
}
