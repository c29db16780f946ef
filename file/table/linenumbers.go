package table

import "slices"

// dropLineNumbers finds the columns that number the lines of a table with ids of things of the graph in another column,
// as serial numbers of a database do; they may be ids of the graph by chance. Several columns with such ids are tied, as
// is a number of the line with ids that recur or have another title. A title with the word node decides.
func (c *nodeChooser) dropLineNumbers() {
	var lines, candidates []int
	for i, title := range c.s.Titles {
		switch {
		case isVertex(title) && holdsIDs(c, i):
			return
		case slices.Contains(c.values, i), isQuantity(title), IsTime(title):
		case numbersLines(c, i):
			lines = append(lines, i)
		default:
			candidates = append(candidates, i)
		}
	}
	things := selectColumns(candidates, func(i int) bool { return holdsThings(c, i) })
	things = selectColumns(things, func(i int) bool { // equal columns are one
		first := slices.IndexFunc(things, func(j int) bool { return slices.Equal(c.s.column(i).values, c.s.column(j).values) })
		return things[first] == i
	})
	if len(things) > 0 {
		c.lines = lines
		if len(things) > 1 {
			c.tied = things
		}
		return
	}
	numbers := selectColumns(lines, func(i int) bool { return holdsIDs(c, i) })
	rivals := selectColumns(candidates, func(i int) bool { return len(numbers) > 0 && mayHoldNodes(c, i, numbers[0]) })
	if len(rivals) > 0 {
		c.tied = slices.Sorted(slices.Values(append(lines, rivals...)))
	}
}

// numbersLines reports whether a column counts the lines: the first one, or one of ids of things.
func numbersLines(c *nodeChooser, i int) bool {
	column := c.s.column(i)
	return column.isConsecutive() && len(column.values) > 1 &&
		(i == 0 || isThing(c.s.Titles[i]) && holdsIDs(c, i))
}

// holdsThings reports whether a column under the title of a thing has ids of the graph that hardly recur.
func holdsThings(c *nodeChooser, i int) bool {
	return isThing(c.s.Titles[i]) && holdsIDs(c, i) && c.s.column(i).hardlyRecurs()
}

// mayHoldNodes reports whether a column with ids of the graph may be that of the node as well as a column that numbers the
// lines: ids of things that do not recur often, or at all if the lines have no title of a node, and others that hardly recur.
func mayHoldNodes(c *nodeChooser, i, line int) bool {
	column := c.s.column(i)
	title := c.s.Titles[i]
	number := c.s.Titles[line]
	hasKey := isThing(number) || isID(number) || IsIndex(number)
	isTitled := isThing(title) && 4*len(column.distinct()) >= len(column.values) ||
		anyOf(titleWords(title), kinds) && !hasKey
	return holdsIDs(c, i) && (isTitled && (c.o.Value != "" || !hasKey) ||
		c.o.Value != "" && !IsNumber(title) && len(column.values) > 3 && column.hardlyRecurs())
}
