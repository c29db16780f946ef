package table

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
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
	if program := c.matrixProgram(); program != "" && c.r.IsEdges {
		sep := c.separator()
		return &input.Error{Msg: "an adjacency matrix", Fix: "write its entries as edges: awk -F'" + sep + "' -v OFS='" + sep + "' '" + program + "' {file} > {copy}"}
	}
	choices := c.nodeChoices()
	isExample := false
	if c.r.IsEdges {
		choices, isExample = c.edgeChoices()
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
			if strings.Contains(cell, ",") {
				cells[k] = words.Quoted(cells[k])
			}
		}
		columns = append(columns, strings.TrimSpace(fmt.Sprintf("%d %s", i+1, input.Escape(title)))+" ("+strings.Join(cells, ", ")+")")
	}
	if len(titles) > most {
		columns = append(columns, "…")
	}
	fix := c.fix(choices, isExample)
	switch {
	case !c.r.IsEdges || len(c.s.Rows) == 0:
	case c.HasHeader && slices.ContainsFunc(titles, func(title string) bool { return strings.Contains(title, ":ID") }):
		fix = "a table with :ID has nodes: give that of relationships, with :START_ID and :END_ID, as the graph, and this one for labels or attributes"
	case c.s.Separator == Comma && all(c.s.Rows, func(row []string) bool { return strings.Contains(strings.Join(row, ""), ";") }):
		fix = "pass {delimiter=;} if it separates the fields, else " + strings.TrimPrefix(fix, "pass ")
	}
	return &input.Error{Msg: problem + ": " + strings.Join(columns, ", "), Fix: fix}
}

// fix returns the remedy with the given choices of columns, of which only one is an example if they are too many or unlikely.
func (c *chooser) fix(choices [][]int, isExample bool) string {
	const most = 9
	titles := c.s.Titles
	numbers := make([]string, len(titles)) // which have no names
	if weights := c.titled(input.Weight); c.r.IsEdges && len(weights) > 1 && len(c.titled(input.Source+" "+input.Target)) == 0 {
		return "pass {weight=" + FieldList(titles, weights[0]) + "} or {weight=" + FieldList(titles, weights[1]) + "}"
	}
	roles := strings.TrimSuffix(fmt.Sprintf(`"node" and %q`, c.r.Value), ` and ""`)
	switch {
	case c.r.HasAttributes && c.HasHeader && len(choices) > 0:
		return "title the column of the node: " + c.title(choices[0][0])
	case c.r.HasAttributes, c.r.Option == "" && len(choices) == 0:
		return "title the columns " + roles
	case c.r.Option == "" && len(choices) > 1:
		return "title the columns " + roles + ", or " + c.cut(choices[0])
	case c.r.Option == "":
		return c.cut(choices[0])
	case len(choices) == 0:
		return "which are they? pass {" + c.r.Option + "=NODE," + strings.ToUpper(c.r.Value) + "}"
	}
	verb := "pass "
	if isExample || len(choices) > most {
		verb = "choose columns, as in "
		choices = choices[:min(len(choices), 3)]
	}
	list := func(titles []string) string {
		var options []string
		for _, columns := range choices {
			options = append(options, "{"+c.r.Option+"="+FieldList(titles, columns...)+"}"+c.numberSetting(columns))
		}
		return strings.Join(options, " or ")
	}
	switch {
	case c.isDoubtful:
		return verb + list(titles) + " if the first line holds titles, else " + list(numbers)
	case c.HasHeader:
		return verb + list(titles)
	}
	return verb + list(numbers)
}

// numberSetting returns the setting with which the third of some columns holds numbers, "" if there is not exactly one.
func (c *chooser) numberSetting(columns []int) string {
	if len(columns) < 3 {
		return ""
	}
	for _, text := range c.s.Values(columns[2]) {
		text = string(PlainNumber([]byte(text), c.r.Text))
		if setting, isSetting := strings.CutPrefix(NumberFix([]byte(text), ""), "pass {"); !IsNumber(text) && isSetting && !strings.Contains(setting, " or ") {
			return " with {" + setting
		}
	}
	return ""
}

// separator returns the separator of the table for a quoted word of a command.
func (c *chooser) separator() string {
	return strings.Trim(strconv.QuoteRune(rune(c.s.Separator)), "'")
}

// title returns the command that titles a column "node".
func (c *chooser) title(column int) string {
	sep := c.separator()
	return "sed '1s/[^" + sep + "]*/node/" + strconv.Itoa(column+1) + "' {file} > {copy}"
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
	fix := "cut -f"
	if c.s.Separator != Tab {
		fix = "cut -d'" + c.separator() + "' -f"
	}
	fix += FieldList(make([]string, len(c.s.Titles)), columns...) + " {file}"
	if c.HasHeader {
		fix += " | sed 1d"
	}
	return "pass a table of " + words.Counted(len(columns), "column") + ", for example by " + fix + " > {copy}"
}

// askThird returns the question about a first column that is no end of an edge.
func (c *chooser) askThird(problem string) error {
	return &input.Error{Msg: problem, Fix: "pass {fields=2,3}, and {time=1} if the first column has times, or {fields=1,2,3}"}
}

// edgeChoices returns the columns of edges that can be meant: with titles of source or target, or with titles that are equal
// but for one such word, or columns that share ids, or else the only two without another role. A column of weights may
// follow. isExample is set if none of these reasons holds.
func (c *chooser) edgeChoices() (choices [][]int, isExample bool) {
	targets := append(c.titled(input.Target), c.Column[input.Target])
	for _, i := range append(c.titled(input.Source), c.Column[input.Source]) {
		for _, j := range targets {
			if c.HasHeader && i >= 0 && j >= 0 {
				choices = append(choices, []int{i, j})
			}
		}
	}
	if len(choices) > 0 {
		return choices, false
	}
	list := slices.DeleteFunc(c.free(), func(i int) bool { return !c.isOpen(i) && !hasRole(c.s.Titles[i], input.Node) })
	if len(list) < 2 {
		list = c.free()
	}
	var example [][]int
	best := math.MinInt
	for k, i := range list {
		for _, j := range list[k+1:] {
			pair := []int{i, j}
			isTitled, isLike := c.comparePair(i, j)
			shared, fewer := c.s.countShared(i, j)
			isNumber := areNumbers(c.s.Values(i), c.r.Text)
			if isTitled || shared > 0 && (!isNumber && 8*shared >= fewer || 2*shared >= fewer && shared > 1) {
				choices = append(choices, pair)
			}
			rank := 0 // titles that are alike first, and a column that counts the rows last
			if isLike {
				rank = 2
			}
			if c.isCounter(i) {
				rank--
			}
			if rank > best {
				best = rank
				example = [][]int{pair}
			}
		}
	}
	if len(choices) == 0 && len(list) == 3 && list[0] == 0 && len(c.s.Rows) > 2 && c.isKey(0) {
		list = list[1:]
		isExample = !c.HasHeader
	}
	switch {
	case len(choices) > 0:
	case len(list) == 2 && c.HasHeader && !c.isKey(list[0]) && !c.isKey(list[1]):
		choices = [][]int{list}
	case len(list) == 3:
		return [][]int{list[:2], {list[0], list[2]}, list[1:]}, true
	default:
		choices = example
		isExample = true
	}
	if c.r.Named[input.Weight] != "" {
		return choices, isExample
	}
	weights := c.weightChoices(choices)
	var weighted [][]int
	for _, pair := range choices {
		for _, weight := range weights {
			weighted = append(weighted, append(slices.Clone(pair), weight))
		}
		weighted = append(weighted, pair)
	}
	return weighted, isExample
}

// weightChoices returns the columns that may be weights of edges between pairs of other columns.
func (c *chooser) weightChoices(pairs [][]int) (columns []int) {
	if weight := c.Column[input.Weight]; weight >= 0 {
		return []int{weight}
	}
	if titled := c.titled(input.Weight); len(titled) > 0 {
		return titled[:1]
	}
	for _, i := range c.free() {
		title := titleWords.FindAllString(c.s.Titles[i], -1)
		isID := len(title) > 0 && hasRole(title[len(title)-1], idTitle) || c.isCounter(i)
		isOther := hasRole(c.s.Titles[i], input.Time) || slices.Contains(slices.Concat(pairs...), i)
		if values := c.s.Values(i); !isID && !isOther && areNumbers(values, c.r.Text) && !mayBeTimes(values) {
			columns = append(columns, i)
		}
	}
	return columns[:min(len(columns), 3)]
}

// titleWords matches the words of a title, as in from_account and nameDest.
var titleWords = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)

// comparePair reports whether the titles of two columns are equal but for a word of a source and one of a target, and whether
// they end in the same word.
func (c *chooser) comparePair(i, j int) (isTitled, isLike bool) {
	first := titleWords.FindAllString(c.s.Titles[i], -1)
	second := titleWords.FindAllString(c.s.Titles[j], -1)
	if len(first) != len(second) || len(first) < 2 {
		return false, false
	}
	differing := 0
	for k, word := range first {
		if !strings.EqualFold(word, second[k]) {
			differing++
			isTitled = hasRole(word, input.Source) && hasRole(second[k], input.Target)
		}
	}
	last := len(first) - 1
	return isTitled && differing == 1, strings.EqualFold(first[last], second[last])
}

// isCounter reports whether a column counts the rows.
func (c *chooser) isCounter(column int) bool {
	return column == 0 && (c.s.counts(0) || c.s.counts(1))
}

// matrixProgram returns the program for awk that prints the entries of an adjacency matrix: of one with names in its first line
// and column, or of one without titles whose diagonal is 0; "" for another table.
func (c *chooser) matrixProgram() string {
	titles := c.s.Titles
	isNamed := c.HasHeader && IsIndex(titles[0])
	isNumbered := !c.HasHeader && compareNumbers(titles[0], "0") == 0
	for i, row := range c.s.Rows {
		isInside := len(row) == len(titles) && i+1 < len(row)
		isNamed = isNamed && isInside && row[0] == titles[i+1]
		isNumbered = isNumbered && isInside && areNumbers(row, c.r.Text) && compareNumbers(row[i+1], "0") == 0
	}
	switch {
	case len(c.s.Rows) != len(titles)-1:
	case isNamed:
		return "NR == 1 {split($0, t); next} {for (i = 2; i <= NF; i++) if ($i + 0) print $1, t[i], $i}"
	case isNumbered:
		return "{for (i = 1; i <= NF; i++) if ($i + 0) print NR - 1, i - 1, $i}"
	}
	return ""
}

// isKey reports whether the values of a column differ in every row.
func (c *chooser) isKey(column int) bool {
	distinct := map[string]bool{}
	for _, row := range c.s.Rows {
		if column < len(row) {
			distinct[row[column]] = true
		}
	}
	return len(distinct) == len(c.s.Rows)
}

// nodeChoices returns the columns of the node and its value that can be meant: a node by its title or by ids of the graph.
func (c *chooser) nodeChoices() (choices [][]int) {
	free := c.free()
	isForeign := func(i int) bool { return 2*c.countKnown(i) < max(1, len(c.s.Values(i))) }
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
		_, isTime := ParseTime(cmp.Or(append(c.s.Values(i), "")[0], c.s.Titles[i]))
		return isTime || c.r.Value == input.Value && !areNumbers(c.s.Values(i), c.r.Text)
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
	for _, id := range c.s.Values(column) {
		if c.r.IsKnown(id) {
			count++
		}
	}
	return count
}
