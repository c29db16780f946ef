package nodetable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
)

// undecided returns the error about titles that do not determine the columns. Its remedy names
// the most likely columns.
func (c *chooser) undecided(index bool) error {
	t := c.t
	from := 0
	if index {
		from = 1
	}
	node, value := t.byTitles(c.titles)
	if node < 0 || t.Lookup != nil && c.known(node) == 0 { // a title such as n may be that of numbers
		node = max(node, from)
		for i := from; i < len(c.titles); i++ {
			if i != value && t.Lookup != nil && c.known(i) > c.known(node) {
				node = i
			}
		}
	}
	if value < 0 {
		value = c.likelyValue(from, node)
	}
	shown := c.titles
	if t.shifted {
		shown = shown[1:]
	}
	e := textio.Fault(t.Name, c.line, "", "cannot determine which columns of %s hold the node and the %s", table.QuoteLine(shown, t.sep), t.Value)
	if t.titled {
		e.Line = 0
	}
	switch {
	case t.Every, t.Value == "":
		e.Msg = fmt.Sprintf("cannot determine which column of %s holds the node", table.QuoteLine(shown, t.sep))
		e.Fix = `title it "node"`
	case t.Option == "":
		e.Fix = fmt.Sprintf(`title them "node" and %q`, t.Value)
	default:
		e.Fix = fmt.Sprintf("pass {%s=%s}", t.Option, fieldsOf(c.titles, node, value))
	}
	return e
}

// likelyValue returns the last column with repeated text, or else the last column with text, or
// else the last column.
func (c *chooser) likelyValue(from, node int) int {
	best, rank := len(c.titles)-1, 0
	for i := len(c.titles) - 1; i >= from; i-- {
		values := c.values(i)
		slices.Sort(values)
		isText := slices.ContainsFunc(values, func(text string) bool { _, fault := table.ParseNumber([]byte(text), 64); return fault != "" })
		switch again := len(slices.Compact(values)) < len(c.below); {
		case i == node || !isText:
		case again && rank < 2:
			best, rank = i, 2
		case rank < 1:
			best, rank = i, 1
		}
	}
	return best
}

// fieldsOf returns the value of the setting for two columns: their titles, or their numbers if
// a shell would require quotes around the titles.
func fieldsOf(titles []string, node, value int) string {
	one, two := titles[node], titles[value]
	text := one + "," + two
	if one == "" || two == "" || table.Numbers([]string{one, two}) || strings.ContainsAny(one+two, "\\, \"'${}`;&|<>()*?!#") || input.Escape(text) != text || len(text) > 60 {
		text = fmt.Sprintf("%d,%d", node+1, value+1)
	}
	return text
}
