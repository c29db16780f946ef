package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// ask returns the question about the columns: their titles and first values, and the setting to type, with all choices
// of columns that can be meant, if there are few.
func (c *chooser) ask(problem string) error {
	const (
		most   = 20 // columns that are shown
		values = 3
		long   = 20 // bytes of a value
	)
	titles := c.s.Titles
	choices := c.nodeChoices()
	if c.isEdges() {
		choices = c.edgeChoices()
	} else if len(choices) > 0 && c.r.IsKnown != nil && !c.r.IsKnown(titles[choices[0][0]]) && c.r.Header != input.NoHeader {
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
		}
		columns = append(columns, strings.TrimSpace(fmt.Sprintf("%d %s", i+1, input.Escape(title)))+" ("+strings.Join(cells, ", ")+")")
	}
	if len(titles) > most {
		columns = append(columns, "…")
	}
	return &input.Error{Msg: problem + ": " + strings.Join(columns, ", "), Fix: c.fix(choices)}
}

// fix returns the remedy with the given choices of columns.
func (c *chooser) fix(choices [][]int) string {
	const most = 9
	titles := c.s.Titles
	if !c.HasHeader {
		titles = make([]string, len(titles)) // which are named by numbers
	}
	if weights := c.titled(input.Weight); c.isEdges() && len(weights) > 1 && len(c.titled(input.Source+" "+input.Target)) == 0 {
		return "pass {weight=" + FieldList(titles, weights[0]) + "} or {weight=" + FieldList(titles, weights[1]) + "}"
	}
	switch {
	case c.r.HasAttributes && c.HasHeader && len(choices) == 1:
		return "title the column of the node: sed '1s/" + titles[choices[0][0]] + "/node/' {file} > {copy}"
	case c.r.HasAttributes, c.r.Option == "" && len(choices) == 0:
		return strings.TrimSuffix(fmt.Sprintf(`title the columns "node" and %q`, c.r.Value), ` and ""`)
	case c.r.Option == "" && len(choices) == 1:
		return c.cut(choices[0])
	case c.r.Option == "":
		return fmt.Sprintf(`title the columns "node" and %q, or pass a table of these`, c.r.Value)
	}
	if len(choices) == 0 || len(choices) > most {
		placeholder := "NODE," + strings.ToUpper(c.r.Value)
		if c.isEdges() {
			placeholder = "SOURCE,TARGET"
		}
		return "which are they? pass {" + c.r.Option + "=" + placeholder + "}"
	}
	var list []string
	for _, columns := range choices {
		list = append(list, "{"+c.r.Option+"="+FieldList(titles, columns...)+"}")
	}
	return "pass " + strings.Join(list, " or ")
}

// timesFix returns the remedy for a third column that may have times.
func (c *chooser) timesFix(text string) string {
	free := c.free()
	titles := c.s.Titles
	if !c.HasHeader {
		titles = make([]string, len(titles))
	}
	time := FieldList(titles, free[2])
	option := "{time=" + time + "}"
	if len(text) >= len("631152000") {
		option = "{time-format=" + time + ":unix}"
	}
	return "pass {fields=" + FieldList(titles, free[:2]...) + "}, and " + option + " to keep the times, or {fields=" + FieldList(titles, free...) + "} for weights"
}

// cut returns the command that writes some columns into a table without a header.
func (c *chooser) cut(columns []int) string {
	columns = slices.Sorted(slices.Values(columns))
	fix := "cut -d" + strconv.QuoteRune(rune(c.s.Separator)) + " -f" + FieldList(make([]string, len(c.s.Titles)), columns...) + " {file}"
	if c.HasHeader {
		fix += " | sed 1d"
	}
	return "pass a table of " + words.Counted(len(columns), "column") + ", for example by " + fix + " > {copy}"
}

// askThird returns the question about a first column that is no end of an edge.
func (c *chooser) askThird(problem string) error {
	return &input.Error{Msg: problem, Fix: "pass {fields=2,3}, and {time=1} if the first column has times, or {fields=1,2,3}"}
}

// edgeChoices returns the columns of edges that can be meant: with titles of source or target, or the only two that share
// ids, or else the only two without another role. A column of weights follows.
func (c *chooser) edgeChoices() (choices [][]int) {
	targets := append(c.titled(input.Target), c.Column[input.Target])
	for _, i := range append(c.titled(input.Source), c.Column[input.Source]) {
		for _, j := range targets {
			if c.HasHeader && i >= 0 && j >= 0 {
				choices = append(choices, []int{i, j})
			}
		}
	}
	if len(choices) > 0 {
		return choices
	}
	list := slices.DeleteFunc(c.free(), func(i int) bool { return !c.isOpen(i) })
	for k, i := range list {
		for _, j := range list[k+1:] {
			shared, fewer := c.s.countShared(i, j)
			isNumber := areNumbers(c.s.values(i), c.r.Text) && !HasLeadingZero(c.s.values(i)[0])
			if shared > 0 && (!isNumber && 8*shared >= fewer || 2*shared >= fewer && shared > 1) {
				choices = append(choices, []int{i, j})
			}
		}
	}
	if len(choices) != 1 {
		if len(choices) == 0 && len(list) == 3 && list[0] == 0 && len(c.s.Rows) > 2 && c.isKey(0) {
			list = list[1:]
		}
		if len(choices) > 0 || len(list) != 2 || !c.HasHeader || c.isKey(list[0]) || c.isKey(list[1]) {
			return nil
		}
		choices = [][]int{list}
	}
	weight := c.Column[input.Weight]
	if titled := c.titled(input.Weight); weight < 0 && len(titled) == 1 {
		weight = titled[0]
	}
	if weight >= 0 && c.r.Named[input.Weight] == "" {
		choices = append([][]int{append(slices.Clone(choices[0]), weight)}, choices...)
	}
	return choices
}

// isKey reports whether the values of a column differ in every row.
func (c *chooser) isKey(column int) bool {
	distinct := map[string]bool{}
	for _, row := range c.s.Rows {
		distinct[row[column]] = true
	}
	return len(distinct) == len(c.s.Rows)
}

// nodeChoices returns the columns of the node and its value that can be meant: a node by its title or by ids of the graph.
func (c *chooser) nodeChoices() (choices [][]int) {
	free := c.free()
	isForeign := func(i int) bool { return 2*c.countKnown(i) < max(1, len(c.s.values(i))) }
	nodes := slices.Clone(free)
	if node := c.Column[input.Node]; node >= 0 {
		nodes = append([]int{node}, free...)
	}
	if c.r.IsKnown != nil {
		nodes = slices.DeleteFunc(nodes, isForeign)
	} else {
		nodes = nodes[:min(1, len(nodes))]
	}
	if c.r.Value == "" {
		for _, i := range nodes {
			choices = append(choices, []int{i})
		}
		return choices
	}
	values := slices.DeleteFunc(slices.Clone(free), func(i int) bool {
		_, isTime := ParseTime(cmp.Or(append(c.s.values(i), "")[0], c.s.Titles[i]))
		return isTime || c.r.Value == input.Value && !areNumbers(c.s.values(i), c.r.Text)
	})
	if value := c.Column[c.r.Value]; value >= 0 {
		values = []int{value}
	} else if titled := c.titled(strings.Join(valueTitles[c.r.Value], " ")); len(titled) > 1 {
		values = titled
	}
	for _, i := range nodes {
		for _, k := range values {
			if i != k {
				choices = append(choices, []int{i, k})
			}
		}
	}
	return choices
}

// countKnown returns the number of values of a column that are nodes of the graph.
func (c *chooser) countKnown(column int) (count int) {
	for _, id := range c.s.values(column) {
		if c.r.IsKnown(id) {
			count++
		}
	}
	return count
}
