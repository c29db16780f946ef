package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// ask returns the question about the columns: their titles and first values, and the setting to type for each pair that can
// be meant.
func (c *chooser) ask(problem string) *input.Error {
	const (
		most   = 20 // columns that are shown
		values = 3
		long   = 20 // bytes of a value
	)
	titles := c.s.Titles
	choices := c.choices()
	if len(choices) > 0 && c.r.IsKnown != nil && !c.r.IsKnown(titles[choices[0][0]]) && c.r.Header != input.NoHeader {
		c.HasHeader = true // of the remedy
	}
	var columns []string
	for i, title := range titles[:min(len(titles), most)] {
		var cells []string
		if !c.HasHeader {
			cells = []string{title}
			title = ""
		}
		for _, row := range c.s.Rows {
			if len(cells) < values && i < len(row) {
				cells = append(cells, row[i])
			}
		}
		for k, cell := range cells {
			cells[k] = input.Escape(cell[:min(len(cell), long)])
			if strings.Contains(cell, ",") {
				cells[k] = words.Quoted(cells[k])
			}
		}
		columns = append(columns, strings.TrimSpace(fmt.Sprintf("%d %s", i+1, input.Escape(title)))+" ("+strings.Join(cells, ", ")+")")
	}
	if len(titles) > most {
		columns = append(columns, "…")
	}
	return &input.Error{Msg: problem + ": " + strings.Join(columns, ", "), Fix: c.fix(choices)}
}

// fix returns the remedy: the setting with the pairs of columns that can be meant, or with three of them as examples.
func (c *chooser) fix(choices [][]int) string {
	const most = 9
	titles := c.s.Titles
	numbers := make([]string, len(titles)) // columns without a header are named by numbers
	weights := c.titled(input.Weight)
	switch {
	case c.r.IsEdges && c.HasHeader && slices.ContainsFunc(titles, func(title string) bool { return strings.Contains(title, ":ID") }):
		return "a table with :ID has nodes: give that of relationships, with :START_ID and :END_ID, as the graph, and this one for labels or attributes"
	case c.r.IsEdges && len(weights) > 1 && !c.isMissing(edgeRoles[0]) && !c.isMissing(edgeRoles[1]):
		return "pass {weight=" + FieldList(titles, weights[0]) + "} or {weight=" + FieldList(titles, weights[1]) + "}"
	case c.r.HasAttributes || c.r.Option == "":
		if c.r.Value == "" {
			return `title the column of the node "node"`
		}
		return fmt.Sprintf(`title the columns "node" and %q`, c.r.Value)
	}
	verb := "pass "
	if c.r.IsEdges && c.s.Separator == Comma && len(c.s.Rows) > 0 && all(c.s.Rows, func(row []string) bool { return strings.Contains(strings.Join(row, ""), ";") }) {
		verb = "pass {delimiter=;} if it separates the fields, else "
	}
	if len(choices) > most {
		verb = "choose columns, as in "
		choices = choices[:3]
	}
	if weight, isRole := c.Column[input.Weight]; isRole && weight >= 0 {
		weights = []int{weight}
	}
	hasWeight := c.r.IsEdges && len(weights) == 1 && c.r.Named[input.Weight] == ""
	if hasWeight {
		if settings := c.s.NumberSettings(weights[0]); settings != "" {
			verb += settings + " with "
		}
	}
	list := func(titles []string) string {
		var settings []string
		for _, columns := range choices {
			if hasWeight {
				columns = append(slices.Clone(columns), weights[0])
			}
			settings = append(settings, "{"+c.r.Option+"="+FieldList(titles, columns...)+"}")
		}
		return strings.Join(settings, " or ")
	}
	switch {
	case c.HasHeader:
		return verb + list(titles)
	case c.r.Header != input.NoHeader && len(c.s.Rows) > 0 && all(titles, isWord) && !slices.ContainsFunc(titles, c.s.recurs):
		return verb + list(titles) + " if the first line holds titles, else " + list(numbers)
	}
	return verb + list(numbers)
}

// choices returns the pairs of columns that can be meant: with the titles of both roles, if there are any, or else all columns without
// the title of another role. A node is a column with ids of the graph, if it is known.
func (c *chooser) choices() (pairs [][]int) {
	columns := func(role Role) []int {
		if column := c.Column[role.Use]; column >= 0 {
			return []int{column}
		}
		if titled := c.titled(strings.Join(role.Titles, " ")); c.HasHeader && len(titled) > 0 {
			return titled
		}
		free := c.free()
		open := slices.DeleteFunc(slices.Clone(free), func(i int) bool { return c.isOther(i, []Role{role}) })
		if len(open) < 2 {
			return free
		}
		return open
	}
	if !c.r.IsEdges && c.r.Value == "" {
		return nil
	}
	first := columns(c.roles[0])
	second := columns(c.roles[1])
	if !c.r.IsEdges {
		nodes := c.free()
		if node := c.Column[input.Node]; node >= 0 {
			nodes = append([]int{node}, nodes...)
		}
		if nodes = slices.DeleteFunc(nodes, func(i int) bool { return !c.isKnown(i) }); len(nodes) > 0 {
			first = nodes
		}
	}
	isOrdered := c.r.IsEdges && slices.Equal(first, second)
	for _, i := range first {
		for _, j := range second {
			if i < j || i > j && !isOrdered {
				pairs = append(pairs, []int{i, j})
			}
		}
	}
	return pairs
}

// isKnown reports whether a column has nodes of the graph.
func (c *chooser) isKnown(column int) bool {
	return c.r.IsKnown != nil && slices.ContainsFunc(c.s.Values(column), c.r.IsKnown)
}
