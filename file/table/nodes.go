package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// NodeOptions are the settings for the choice of columns of a table with a node in each row.
type NodeOptions struct {
	Value   string   // role of the second column, input.Label, input.Value or input.Part; "": only the node is chosen
	Every   bool     // all columns are read, as attributes
	Fields  []string // columns of node and value, by numbers from 1 or titles; nil: chosen
	Option  string   // name of the option for Fields, for messages; "" without such an option
	Header  input.Header
	IsKnown func(id string) bool   // whether an id is in the graph; nil: the graph is not known
	IsClass func(text string) bool // whether a text is a label of other nodes; nil: these are not known

	Attributes []string // with Every, the columns of attributes, among which that of the node may be; nil: all
}

// NodeTable is the choice of columns of a table with a node in each row.
type NodeTable struct {
	Node, Value int // Value is −1 without a value
	HasHeader   bool
	Columns     input.Columns  // use of the columns
	Warnings    []*input.Error // without the name of the file; Line is 1 for the first line of the sample
}

// valueRoles are the roles of the second column.
var valueRoles = map[string]role{input.Label: labelRole, input.Value: valueRole,
	input.Part: partRole}

// nodeChooser chooses the columns of a table about nodes.
type nodeChooser struct {
	s      *Sample
	o      NodeOptions
	values []int // columns with a title of the value
	lines  []int // columns that number the lines, because another column holds ids of the graph
	node   int   // column with a title of the node, or else the only column of ids of the graph, or −1
	tied   []int // columns that are equally likely to hold the node, if there are several
	titled bool  // a title names the column of the node
	t      *NodeTable
}

// ChooseNodes chooses the columns of a table with a node in each row: those that the options name,
// or those with known titles, or else the only ones that are left. It returns an *input.Error
// without a place if two readings are possible.
func (s *Sample) ChooseNodes(o NodeOptions) (*NodeTable, error) {
	c := &nodeChooser{s: s, o: o, t: &NodeTable{Value: -1}}
	if o.Value != "" {
		c.t.Value = 1
	}
	if isKnown := c.o.IsKnown; isKnown != nil && !o.Every && !hasKnown(s, isKnown) {
		c.o.IsKnown = nil // titles and forms choose, and the caller reports unknown ids
	}
	c.findTitles()
	c.t.HasHeader = o.Header == input.HasHeader ||
		o.Header == input.AutoHeader && c.isHeader()
	var err error
	switch {
	case o.Fields != nil:
		err = c.byFields()
	case c.t.HasHeader:
		err = c.underTitles()
	default:
		err = c.withoutTitles()
	}
	if err != nil {
		return c.t, err
	}
	c.report()
	return c.t, nil
}

// hasKnown reports whether some field is known.
func hasKnown(s *Sample, isKnown func(id string) bool) bool {
	return slices.ContainsFunc(append([][]string{s.Titles}, s.Rows...),
		func(row []string) bool { return slices.ContainsFunc(row, isKnown) })
}

// FindLabel returns the column of the label by its title, or −1.
func FindLabel(titles []string) int {
	c := &nodeChooser{s: &Sample{Titles: titles},
		o: NodeOptions{Value: input.Label}}
	if c.findTitles(); len(c.values) != 1 {
		return -1
	}
	return c.values[0]
}

// NamesBoth reports whether titles name one column for the node and one for a value of the given
// role; "" is none.
func (s *Sample) NamesBoth(value string) bool {
	c := &nodeChooser{s: s, o: NodeOptions{Value: value}}
	c.findTitles()
	return c.node >= 0 && (value == "" || len(c.values) == 1)
}

// findTitles finds the columns of the node and of the value by their titles, and the column of the
// node also by its ids.
func (c *nodeChooser) findTitles() {
	titles := c.s.Titles
	c.node = -1
	c.titled = true
	if len(titles) >= 3 && titles[0] == "node" && titles[2] == "reached" { // predictions, with classes as titles
		c.node = 0
		if c.o.Value != "" {
			c.values = []int{1}
		}
		return
	}
	words := valueRoles[c.o.Value]
	hasX := len(titles) > 2 &&
		slices.ContainsFunc(titles,
			func(title string) bool { return strings.EqualFold(title, "x") })
	for i, title := range titles {
		isCoordinate := hasX && strings.EqualFold(title, "y")
		if !isCoordinate && words.ends(title) {
			c.values = append(c.values, i)
		}
	}
	c.values = keepColumns(c.values,
		func(i int) bool { return words.isCertain(titles[i]) })
	if c.o.Value == input.Value {
		c.values = keepColumns(c.values,
			func(i int) bool { return !IsLabel(titles[i]) })
	}
	if position := slices.Index(titles, "Label"); len(c.values) > 1 && slices.Contains(titles, "Id") { // names that Gephi shows
		c.values = slices.DeleteFunc(c.values,
			func(i int) bool { return i == position })
	}
	c.values = keepColumns(c.values,
		func(i int) bool { return !c.s.column(i).areDistinct() })
	if c.dropLineNumbers(); c.tied != nil {
		return
	}
	holders := c.holders()
	for rank, isTitle := range []func(string) bool{IsNode, isID} {
		var list []int
		for i, title := range titles {
			if !slices.Contains(c.values, i) && !slices.Contains(c.lines, i) && isTitle(title) &&
				(len(title) > 1 || holders != nil || c.s.column(i).hardlyRecurs()) { // else a class
				list = append(list, i)
			}
		}
		if holders != nil {
			list = slices.DeleteFunc(list,
				func(i int) bool { return c.known(i) == 0 })
		}
		if len(list) == 0 {
			continue
		}
		list = keepColumns(list, c.holdsNodes)
		if len(list) > 1 && (rank > 0 ||
			c.known(list[0]) > 0 && c.known(list[1]) > 0) {
			c.tied = list
		} else {
			c.node = list[0]
		}
		return
	}
	c.titled = false
	if len(holders) == 1 {
		c.node = holders[0]
	} else {
		c.tied = holders
	}
}

// holdsIDs reports whether at least half of the values of a column are nodes of the graph.
func holdsIDs(c *nodeChooser, column int) bool {
	n := len(c.s.column(column).values)
	return n > 0 && 2*c.known(column) >= n
}

// selectColumns returns the columns of a form.
func selectColumns(columns []int, hasForm func(i int) bool) []int {
	return slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return !hasForm(i) })
}

// keepColumns returns the columns of a form, or all if none has it.
func keepColumns(columns []int, hasForm func(i int) bool) []int {
	if fitting := selectColumns(columns, hasForm); len(fitting) > 0 {
		return fitting
	}
	return columns
}

// holders returns the columns of which at least half of the values are nodes of the graph. If there are
// several, titles and forms decide: a column of ids differs in every row, and its title is none of a
// quantity, a time, an index or a value.
func (c *nodeChooser) holders() (columns []int) {
	for i := range c.s.Titles {
		if holdsIDs(c, i) {
			columns = append(columns, i)
		}
	}
	for _, hasForm := range []func(i int) bool{
		func(i int) bool { return !slices.Contains(c.values, i) && !slices.Contains(c.lines, i) },
		func(i int) bool { return !isQuantity(c.s.Titles[i]) && !IsTime(c.s.Titles[i]) },
		c.holdsNodes,
		func(i int) bool { return anyOf(titleWords(c.s.Titles[i]), kinds) },
		func(i int) bool { return !(i == 0 && isIndex(c)) },
	} {
		columns = keepColumns(columns, hasForm)
	}
	return columns
}

// known returns the number of values of a column that are nodes of the graph.
func (c *nodeChooser) known(column int) (n int) {
	for _, id := range c.s.column(column).values {
		if c.o.IsKnown != nil && c.o.IsKnown(id) {
			n++
		}
	}
	return n
}

// holdsNodes reports whether a column can be the column of the node: all values of the sample
// are nodes of the graph, and distinct.
func (c *nodeChooser) holdsNodes(column int) bool {
	n := len(c.s.Rows)
	return n > 0 && c.known(column) == n && len(c.s.column(column).distinct()) == n
}

// valueColumns returns the columns that can hold the value by their titles and their content: dates, ids,
// constants and texts that differ in nearly every row are no labels; values are numbers.
func (c *nodeChooser) valueColumns() (columns []int) {
	for i, title := range c.s.Titles {
		isNone := i == c.node || slices.Contains(c.tied, i) || isNumbering(c, i) ||
			c.t.HasHeader && (IsTime(title) || isID(title)) ||
			c.s.column(i).arePeriods()
		if !isNone {
			columns = append(columns, i)
		}
	}
	isNumbers := func(i int) bool {
		return c.s.column(i).all(func(text string) bool { return isNumeric(text) || IsMissing(text, Missing) })
	}
	switch c.o.Value {
	case input.Value:
		columns = keepColumns(columns, isNumbers)
	case input.Part:
		columns = keepColumns(columns,
			func(i int) bool { return c.s.column(i).all(isPart) })
	}
	isClass := func(text string) bool { return c.o.IsClass(text) || IsMissing(text, Missing) }
	if c.o.IsClass != nil {
		columns = keepColumns(columns, func(i int) bool { return c.s.column(i).all(isClass) })
	}
	if c.o.Value != input.Value {
		columns = keepColumns(columns, func(i int) bool {
			return !c.s.column(i).isNearlyDistinct() &&
				!isQuantity(c.s.Titles[i]) && !isThing(c.s.Titles[i])
		})
	}
	columns = keepColumns(columns,
		func(i int) bool { return !c.s.column(i).isConstant() })
	return columns
}

// isIndex reports whether the first column numbers the rows: its title is empty or a word for
// an index, and its values count from 0 or 1.
func isIndex(c *nodeChooser) bool {
	return len(c.s.Titles) > 1 && IsIndex(c.s.Titles[0]) &&
		(c.s.column(0).isCounter() || len(c.s.Rows) == 0)
}

// isNumbering reports whether a column numbers the rows, as the first one may, or is an index of pandas.
func isNumbering(c *nodeChooser, column int) bool {
	return column == 0 && isIndex(c) || slices.Contains(c.lines, column) ||
		strings.HasPrefix(c.s.Titles[column], IndexOfPandas)
}

// isHeader decides whether the first line is a header: it holds no node of the graph, and it
// has known titles or differs in form from all ids below it.
func (c *nodeChooser) isHeader() bool {
	o := &c.o
	titles := c.s.Titles
	n := len(c.s.Titles)
	if o.Every && o.IsKnown == nil {
		return c.s.areTitles()
	}
	at := max(c.node, 0)
	if c.node < 0 && o.IsKnown == nil {
		at = likelyNode(c)
	}
	isTitled := c.titled && (c.node >= 0 || c.tied != nil)
	if c.tied != nil {
		at = c.tied[0]
	}
	if columns, err := ChooseWithin(o.Fields, titles, n); o.Fields != nil && err == nil {
		if !Numbers(o.Fields) {
			return true
		}
		at = columns[0]
		isTitled = IsNode(titles[at])
	}
	if o.IsKnown == nil {
		if isTitled && (IsNode(titles[at]) || !hasDigit(titles[at])) {
			return true
		}
	} else {
		first := 0
		if n > 1 && titles[0] == "" {
			first = 1
		}
		if o.IsKnown(titles[at]) || o.IsKnown(titles[first]) {
			return false
		}
	}
	areWords := !slices.ContainsFunc(titles, IsNumber)
	switch {
	case o.Every:
		return isTitled || areWords
	case len(c.s.Rows) == 0: // a header alone, or one row
		return isTitled && len(c.values) > 0
	case n > 1 && IsIndex(titles[0]) && (o.Value != "" || isTitled || isIndex(c)):
		return true
	}
	column := c.s.column(at)
	nodes := c.known(at)
	ids := len(column.values)
	evidence := c.s.Evidence(at)
	value := 1
	if at == 1 {
		value = 0
	}
	if len(c.values) > 0 {
		value = c.values[0]
	}
	switch {
	case o.Value != "" && value < n &&
		slices.Contains(c.s.column(value).values, titles[value]) &&
		(evidence != IsHeader || hasDigit(titles[at])):
		return false
	case isTitled && (n > 1 || IsNode(titles[at])), len(c.values) > 0:
		return true
	case IsNumber(titles[at]):
		return false
	}
	isGuess := false
	switch {
	case o.IsKnown == nil:
		isGuess = evidence == IsHeader &&
			(n > 1 || column.all(isWhole) || IsListTitle(c.s))
		if evidence == IsHeader && !isGuess {
			c.warn(words.Quoted(titles[at])+" is read as a node",
				"if it is a title, remove the line, or pass {header=yes} if edges have a header too")
		}
	case o.Value == "":
		isGuess = n > 1 && nodes > 0 && areWords && !slices.ContainsFunc(titles,
			hasDigit) || ids > 1 && evidence == IsHeader && (nodes == ids ||
			2*nodes >= ids && isThing(titles[at]))
	default:
		isGuess = nodes > 0 && column.all(isWhole) ||
			n > 1 && ids > 1 && all(titles, IsTitle) && 2*nodes >= ids &&
				evidence != IsData
	}
	if isGuess && evidence != IsHeader {
		c.warn("read as a header; no node has the id "+words.Quoted(titles[at]), "")
	}
	return isGuess
}

func (c *nodeChooser) warn(msg, fix string) {
	c.t.Warnings = append(c.t.Warnings, &input.Error{Line: 1, Msg: msg, Fix: fix})
}

// byFields chooses the columns that the settings name.
func (c *nodeChooser) byFields() error {
	columns, err := c.s.choose(c.o.Fields, c.o.Option)
	if err != nil {
		return err
	}
	c.t.Node = columns[0]
	if len(columns) > 1 {
		c.t.Value = columns[1]
	}
	c.t.HasHeader = c.t.HasHeader || !Numbers(c.o.Fields)
	return nil
}

// underTitles chooses the columns of a table with a header.
func (c *nodeChooser) underTitles() error {
	titles := c.s.Titles
	if c.o.Every {
		return c.attributeNode()
	}
	if len(titles) == 1 && c.o.Value != "" {
		fix := cmp.Or(delimiterFix(titles[0]), "write node<TAB>"+c.o.Value+" on each line")
		return &input.Error{Msg: "one column, want two: node and " +
			c.o.Value, Fix: fix}
	}
	if len(c.values) > 1 {
		return c.ask(c.values, "several columns could be the "+c.o.Value)
	}
	if c.node < 0 && c.tied == nil {
		free := c.free()
		isPair := len(free) == 2 && c.o.Value != "" && len(c.values) == 0
		switch {
		case len(free) == 0:
			c.node = 0
		case len(free) == 1 || isPair:
			c.node = free[0]
		case c.o.IsKnown == nil:
			c.node = likelyNode(c)
		}
	}
	if c.node < 0 {
		return c.ask(nil, "")
	}
	c.t.Node = c.node
	if c.o.Value == "" {
		return nil
	}
	likely := c.valueColumns()
	candidates := c.values
	if len(c.values) == 0 || !valueRoles[c.o.Value].isCertain(titles[c.values[0]]) {
		isLikely := func(i int) bool { return slices.Contains(likely, i) || c.o.Value == input.Value && len(likely) > 0 }
		candidates = append(slices.DeleteFunc(candidates, isLikely), likely...)
	}
	if len(candidates) != 1 {
		return c.ask(candidates, "")
	}
	value := candidates[0]
	if c.o.Value == input.Label && c.s.column(value).areDistinct() {
		if others := slices.DeleteFunc(likely,
			func(i int) bool { return i == value }); len(others) > 0 {
			return c.ask(others, words.Quoted(titles[value])+
				" has a different word in every line, and is no class")
		}
		if len(c.s.Rows) > 4 {
			c.warn("every line has a different label in the column "+
				words.Quoted(titles[value]), "")
		}
	}
	c.t.Value = value
	return nil
}

// isPart reports whether a text names parts of splits.
func isPart(text string) bool {
	parts := strings.Fields("train test val validation none")
	return all(strings.Fields(strings.ToLower(text)),
		func(word string) bool { return slices.Contains(parts, word) })
}

// free returns the columns that may hold the node although no title and no id names one: dates are none.
func (c *nodeChooser) free() (columns []int) {
	for i := range c.s.Titles {
		if !slices.Contains(c.values, i) && !isNumbering(c, i) {
			columns = append(columns, i)
		}
	}
	return keepColumns(columns, func(i int) bool { return !IsTime(c.s.Titles[i]) && !c.s.column(i).arePeriods() })
}

// likelyNode returns the column that most likely holds the node by the titles and forms of the free columns.
func likelyNode(c *nodeChooser) int {
	isDistinct := func(i int) bool {
		return len(c.s.column(i).distinct()) == len(c.s.Rows) && !isQuantity(c.s.Titles[i])
	}
	likely := keepColumns(keepColumns(c.free(), isDistinct),
		func(i int) bool { return isThing(c.s.Titles[i]) })
	return append(likely, 0)[0]
}

// attributeNode sets the column of the node of a table of attributes: that of its title or of ids of the
// graph, or else the first column.
func (c *nodeChooser) attributeNode() error {
	c.t.Node = c.node
	if c.node < 0 {
		c.t.Node = likelyNode(c)
	}
	named, _ := ChooseWithin(c.o.Attributes, c.s.Titles, len(c.s.Titles)) // the caller reports errors
	isNamed := func(i int) bool { return slices.Contains(named, i) }
	if keys := selectColumns(c.tied, isNamed); len(keys) == 1 {
		c.t.Node = keys[0]
		return nil
	}
	if c.node < 0 && c.o.IsKnown != nil && len(c.s.Rows) > 0 &&
		(c.tied != nil || isIndex(c)) {
		return c.ask(nil, "")
	}
	return nil // unknown ids are reported
}

// withoutTitles chooses the columns of a table without a header: the first, or the first two. Ids of the
// graph in another column, and dates in the second one, say that these are others.
func (c *nodeChooser) withoutTitles() error {
	n := len(c.s.Titles)
	if n < 2 {
		return nil
	}
	if c.o.IsKnown == nil {
		c.t.Node = append(c.free(), 0)[0]
		return nil
	}
	full := *c // with the first line among the rows
	full.s = &Sample{Titles: c.s.Titles, Separator: c.s.Separator,
		Rows: append([][]string{c.s.Titles}, c.s.Rows...)}
	rows := len(full.s.Rows)
	isIndex := n > 2 && rows > 1 && full.s.column(0).isConsecutive() && full.holdsNodes(1)
	if holders := full.holders(); isIndex && full.known(0) == rows {
		full.tied = []int{0, 1}
		return full.ask(nil, "")
	} else if isIndex {
		c.t.Node = 1
	} else if len(holders) > 0 && !slices.Contains(holders, 0) {
		c.t.Node = holders[0]
	}
	if c.o.Value == "" || c.o.Every {
		return nil
	}
	full.node = c.t.Node
	full.tied = nil
	c.t.Value = (c.t.Node + 1) % n
	if likely := full.valueColumns(); len(likely) == 1 {
		c.t.Value = likely[0]
	}
	return nil
}

// ask returns the error about titles that do not determine the columns. The remedy names the
// columns that can be meant.
func (c *nodeChooser) ask(values []int, problem string) error {
	o := &c.o
	titles := c.s.Titles
	header := QuoteTitles(titles, c.s.Separator)
	if problem == "" {
		problem = fmt.Sprintf("cannot determine which columns of %s hold the node and the %s", header, o.Value)
		if o.Every || o.Value == "" {
			return &input.Error{Msg: fmt.Sprintf("cannot determine which column of %s holds the node", header), Fix: nodeFix(c)}
		}
	}
	if o.Option == "" {
		return &input.Error{Msg: problem, Fix: fmt.Sprintf(`title them "node" and %q`, o.Value)}
	}
	nodes := []int{c.node}
	if c.tied != nil {
		nodes = c.tied
	} else if c.node < 0 {
		nodes = c.free()
	}
	if values == nil {
		values = c.valueColumns()
	}
	var choices [][]int
	for _, i := range nodes {
		for _, k := range values {
			if i != k {
				choices = append(choices, []int{i, k})
			}
		}
	}
	if len(choices) == 0 || len(choices) > 4 {
		return &input.Error{Msg: problem,
			Fix: fmt.Sprintf("which are they? pass {%s=NODE,%s}", o.Option,
				strings.ToUpper(o.Value))}
	}
	return &input.Error{Msg: problem, Fix: pass(o.Option, titles, choices)}
}

// nodeFix returns the remedy for a table of attributes with several columns of nodes: to name one of them with the other
// columns.
func nodeFix(c *nodeChooser) string {
	const mostColumns = 20
	if c.o.Option == "" || c.tied == nil || len(c.s.Titles) > mostColumns {
		return `title it "node"`
	}
	others := selectColumns(c.free(), func(i int) bool { return !slices.Contains(c.tied, i) })
	var choices [][]int
	for _, node := range c.tied {
		choices = append(choices, slices.Insert(slices.Clone(others), 0, node))
	}
	return pass(c.o.Option, c.s.Titles, choices)
}

// report sets the uses of the columns.
func (c *nodeChooser) report() {
	t := c.t
	t.Columns = nameColumns(c.s.Titles, t.HasHeader)
	for i := range t.Columns {
		switch {
		case i == t.Node && !(c.o.Every && c.o.IsKnown == nil):
			t.Columns[i].Use = input.Node
		case i == t.Value:
			t.Columns[i].Use = c.o.Value
		case t.HasHeader && isNumbering(c, i), !t.HasHeader && i == 0 && t.Node == 1:
			t.Columns[i].Use = input.Index
		}
	}
}
