package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
)

// NodeOptions are the settings for the choice of columns of a table with a node in each row.
type NodeOptions struct {
	Value   string   // role of the second column, input.Label, input.Value or input.Part; "": only the node is chosen
	Every   bool     // all columns are read, as attributes
	Fields  []string // columns of node and value, by numbers from 1 or titles; nil: chosen
	Option  string   // name of the option for Fields, for messages; "" without such an option
	Header  input.Header
	IsKnown func(id string) bool // whether an id is in the graph; nil: the graph is not known
}

// NodeTable is the choice of columns of a table with a node in each row.
type NodeTable struct {
	Node, Value int // Value is −1 without a value
	HasHeader   bool
	Columns     input.Columns  // use of the columns
	Warnings    []*input.Error // without the name of the file; Line is 1 for the first line of the sample
	Hint        string         // how to read a first line that may be a header; "" without doubt
}

// valueRoles are the roles of the second column.
var valueRoles = map[string]role{input.Label: labelRole, input.Value: valueRole, input.Part: partRole}

// nodeChooser chooses the columns of a table about nodes.
type nodeChooser struct {
	s      *Sample
	o      NodeOptions
	values []int // columns with a title of the value
	node   int   // column with a title of the node, or −1
	tied   []int // columns with such a title that are equally likely, if there are several
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
	c.findTitles()
	c.t.HasHeader = o.Header == input.HasHeader || o.Header == input.AutoHeader && c.isHeader()
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

// FindLabels returns the columns of the node and the label by their titles, or −1.
func FindLabels(titles []string) (node, label int) {
	c := &nodeChooser{s: &Sample{Titles: titles}, o: NodeOptions{Value: input.Label}}
	if c.findTitles(); len(c.values) != 1 {
		return c.node, -1
	}
	return c.node, c.values[0]
}

// NamesBoth reports whether titles name one column for the node and one for a value of the given
// role; "" is none.
func (s *Sample) NamesBoth(value string) bool {
	c := &nodeChooser{s: s, o: NodeOptions{Value: value}}
	c.findTitles()
	return c.node >= 0 && (value == "" || len(c.values) == 1)
}

// findTitles finds the columns with titles of the node and of the value.
func (c *nodeChooser) findTitles() {
	titles := c.s.Titles
	c.values = nil
	c.node = -1
	c.tied = nil
	if len(titles) >= 3 && titles[0] == "node" && titles[2] == "reached" { // predictions, with classes as titles
		c.node = 0
		if c.o.Value != "" {
			c.values = []int{1}
		}
		return
	}
	for i, title := range titles {
		isCoordinate := len(titles) > 2 && strings.EqualFold(title, "y") && slices.ContainsFunc(titles, func(title string) bool { return strings.EqualFold(title, "x") })
		if !isCoordinate && valueRoles[c.o.Value].ends(title) {
			c.values = append(c.values, i)
		}
	}
	if numbers := slices.DeleteFunc(slices.Clone(c.values), func(i int) bool { return IsLabel(titles[i]) }); c.o.Value == input.Value && len(numbers) > 0 {
		c.values = numbers
	}
	if position := slices.Index(titles, "Label"); len(c.values) > 1 && slices.Contains(titles, "Id") { // names that Gephi shows
		c.values = slices.DeleteFunc(c.values, func(i int) bool { return i == position })
	}
	if len(c.values) > 1 {
		names := slices.DeleteFunc(slices.Clone(c.values), func(i int) bool { return c.s.column(i).areDistinct() })
		if len(names) > 0 {
			c.values = names
		}
	}
	for rank, is := range []func(string) bool{IsNode, isID} {
		var list []int
		for i, title := range titles {
			if !slices.Contains(c.values, i) && is(title) {
				list = append(list, i)
			}
		}
		if list == nil {
			continue
		}
		if len(list) > 1 && c.o.IsKnown != nil {
			if holding := slices.DeleteFunc(slices.Clone(list), func(i int) bool { return !c.holdsNodes(i) }); len(holding) > 0 {
				list = holding
			}
		}
		c.node = list[0]
		if len(list) > 1 && (rank > 0 || c.o.IsKnown != nil && c.known(c.node) > 0 && c.known(list[1]) > 0) {
			c.node = -1
			c.tied = list
		}
		return
	}
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

// isIndex reports whether the first column numbers the rows: its title is empty or a word for
// an index, and its values count from 0 or 1.
func (c *nodeChooser) isIndex() bool {
	return len(c.s.Titles) > 1 && IsIndex(c.s.Titles[0]) && (c.s.column(0).isCounter() || len(c.s.Rows) == 0)
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
	node := c.node
	if c.tied != nil {
		at = c.tied[0]
		node = c.tied[0]
	}
	if o.Fields != nil && Numbers(o.Fields) {
		if column, _ := strconv.Atoi(o.Fields[0]); column <= n {
			at = column - 1
			node = -1
			if IsNode(titles[at]) {
				node = at
			}
		}
	}
	if o.IsKnown == nil {
		if node >= 0 && IsNode(titles[node]) {
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
	areTitles := !slices.ContainsFunc(titles, func(title string) bool { return !IsTitle(title) })
	switch {
	case o.Every:
		return node >= 0 || areWords
	case len(c.s.Rows) == 0: // a header alone, or one row
		return node >= 0 && len(c.values) > 0
	case n > 1 && IsIndex(titles[0]) && (o.Value != "" || node >= 0):
		return true
	}
	value := 1
	if len(c.values) > 0 {
		value = c.values[0]
	}
	switch {
	case o.Value != "" && value < n && slices.Contains(c.s.column(value).values, titles[value]):
		return false
	case node >= 0 && (n > 1 || IsNode(titles[node])), len(c.values) > 0:
		return true
	case IsNumber(titles[at]):
		return false
	}
	ids := len(c.s.column(at).values)
	isGuess := false
	switch {
	case o.IsKnown == nil:
		isGuess = c.s.Evidence(at) == IsHeader && (n > 1 || c.s.column(at).all(isInteger))
	case o.Value == "":
		isGuess = n > 1 && c.known(at) > 0 && areWords && !slices.ContainsFunc(titles, hasDigit) || ids > 1 && c.known(at) == ids && c.s.Evidence(at) == IsHeader
	default:
		isGuess = c.known(at) > 0 && c.s.column(at).all(isInteger) || n > 1 && ids > 1 && areTitles && c.known(at) == ids && c.s.Evidence(at) != IsData
	}
	if isGuess {
		c.warn("read as a header; no node has the id "+Quoted(titles[at]), "")
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

// untitled returns the columns that no title names, apart from row numbers.
func (c *nodeChooser) untitled(value int) (columns []int) {
	for i, title := range c.s.Titles {
		if i != c.node && i != value && !slices.Contains(c.tied, i) && !(i == 0 && c.isIndex()) && !strings.HasPrefix(title, IndexOfPandas) {
			columns = append(columns, i)
		}
	}
	return columns
}

// underTitles chooses the columns of a table with a header by their titles. A column of row
// numbers is skipped unless no other column holds nodes of the graph.
func (c *nodeChooser) underTitles() error {
	if c.o.Every {
		return c.attributeNode()
	}
	value := -1
	switch len(c.values) {
	case 0:
	case 1:
		value = c.values[0]
	default:
		return c.ask(c.values, "several columns could be the "+c.o.Value)
	}
	free := c.untitled(value)
	if c.node < 0 && c.tied == nil && len(c.s.Titles) > 1 && IsIndex(c.s.Titles[0]) && value != 0 {
		// pandas writes ids in the index without a title. Row numbers are ids only if no other
		// column can hold the ids.
		columns := slices.DeleteFunc(slices.Clone(free), func(i int) bool { return i == 0 })
		isOnly := len(columns) == 0 || value < 0 && len(columns) == 1 && c.o.Value != ""
		if !c.isIndex() || isOnly || c.holdsNodes(0) && !slices.ContainsFunc(columns, c.holdsNodes) {
			c.node = 0
			free = columns
		}
	}
	if c.o.Value == "" {
		if c.node < 0 {
			if len(free) != 1 || c.tied != nil {
				return c.ask(nil, "")
			}
			c.node = free[0]
		}
		c.t.Node = c.node
		return nil
	}
	switch isOnlyOne := len(free) == 1; {
	case len(c.s.Titles) == 1:
		fix := "write node<TAB>" + c.o.Value + " on each line"
		if at := strings.IndexAny(c.s.Titles[0], "|^~:"); at >= 0 {
			fix = "pass {delimiter=" + c.s.Titles[0][at:at+1] + "}"
		}
		return &input.Error{Msg: "one column, want two: node and " + c.o.Value, Fix: fix}
	case c.tied != nil:
		return c.ask(nil, "")
	case c.node >= 0 && value >= 0:
	case c.node < 0 && value >= 0 && isOnlyOne:
		c.node = free[0]
	case c.node >= 0 && value < 0 && isOnlyOne:
		value = free[0]
	case c.node < 0 && value < 0 && len(free) == 2:
		c.node = free[0]
		value = free[1]
		if !c.holdsNodes(c.node) && c.holdsNodes(value) {
			c.node, value = value, c.node
		}
	default:
		return c.ask(nil, "")
	}
	if c.o.Value == input.Label && len(c.s.Rows) > 2 && c.s.column(value).areDistinct() {
		if columns := slices.DeleteFunc(c.untitled(value), func(i int) bool { return i == c.node || i == 0 && IsIndex(c.s.Titles[0]) }); len(columns) > 0 {
			return c.ask(columns, Quoted(c.s.Titles[value])+" has a different word in every line, and is no class")
		}
		if len(c.s.Rows) > 4 {
			c.warn("every line has a different label in the column "+Quoted(c.s.Titles[value]), "")
		}
	}
	c.t.Node = c.node
	c.t.Value = value
	return nil
}

// attributeNode sets the column of the node of a table of attributes: that of its title, the only
// column that holds nodes of the graph, or the first column if the graph is not known.
func (c *nodeChooser) attributeNode() error {
	c.t.Node = max(c.node, 0)
	if c.node >= 0 || c.o.IsKnown == nil || len(c.s.Rows) == 0 {
		return nil
	}
	var nodes []int
	for i := range c.s.Titles {
		if c.holdsNodes(i) {
			nodes = append(nodes, i)
		}
	}
	switch {
	case len(nodes) == 1:
		c.t.Node = nodes[0]
		return nil
	case len(nodes) == 0 && !c.isIndex():
		return nil // its ids are reported as unknown
	}
	return c.ask(nil, "")
}

// withoutTitles chooses the columns of a table without a header: the first, or the first two. A
// column of row numbers is skipped if the next column holds nodes of the graph instead.
func (c *nodeChooser) withoutTitles() error {
	full := *c // with the first line among the rows
	full.s = &Sample{Titles: c.s.Titles, Rows: append([][]string{c.s.Titles}, c.s.Rows...)}
	rows := len(full.s.Rows)
	if len(c.s.Titles) < 2 || c.o.IsKnown == nil {
		return nil
	}
	wanted := 1
	if c.o.Value != "" || c.o.Every {
		wanted = 2
	}
	if len(c.s.Titles) > wanted && rows > 1 && full.s.column(0).isCounter() && full.known(0) < rows && full.holdsNodes(1) {
		c.t.Node = 1
		if c.o.Value != "" {
			c.t.Value = 2
		}
		return nil
	}
	if c.o.Value == "" || c.o.Every {
		return nil
	}
	if c.o.Option != "" && len(c.s.Rows) > 0 && !c.o.IsKnown(c.s.Titles[0]) && !slices.Contains(c.s.column(1).values, c.s.Titles[1]) && !slices.ContainsFunc(c.s.Titles, hasDigit) {
		c.t.Hint = fmt.Sprintf("pass {%s=%s} if line 1 is a header; otherwise ", c.o.Option, FieldList(c.s.Titles, 0, 1))
	}
	return nil
}

// ask returns the error about titles that do not determine the columns. The remedy names the
// columns if only one reading is likely; otherwise it asks which of the candidates is meant.
func (c *nodeChooser) ask(candidates []int, problem string) error {
	o := &c.o
	titles := c.s.Titles
	if problem == "" {
		problem = fmt.Sprintf("cannot determine which columns of %s hold the node and the %s", QuoteTitles(titles, c.s.Separator), o.Value)
		if o.Every || o.Value == "" {
			return &input.Error{Msg: fmt.Sprintf("cannot determine which column of %s holds the node", QuoteTitles(titles, c.s.Separator)), Fix: `title it "node"`}
		}
	}
	if o.Option == "" {
		return &input.Error{Msg: problem, Fix: fmt.Sprintf(`title them "node" and %q`, o.Value)}
	}
	var holding []int
	for i := range titles {
		if !slices.Contains(c.values, i) && c.holdsNodes(i) {
			holding = append(holding, i)
		}
	}
	node := c.node
	if len(holding) == 1 {
		node = holding[0]
	}
	if candidates == nil {
		candidates = c.values
	}
	if len(candidates) == 0 {
		for i := range titles {
			if i != node && !slices.Contains(holding, i) && !(i == 0 && c.isIndex()) && !IsTime(titles[i]) && !isID(titles[i]) {
				candidates = append(candidates, i)
			}
		}
		for _, isUnlikely := range []func(i int) bool{func(i int) bool { return c.s.column(i).all(IsNumber) }, func(i int) bool { return c.s.column(i).areDistinct() }} {
			if likely := slices.DeleteFunc(slices.Clone(candidates), isUnlikely); len(likely) > 0 {
				candidates = likely
			}
		}
	}
	nodes := []int{node}
	if node < 0 {
		nodes = holding
		for i := range titles {
			if len(holding) == 0 && !slices.Contains(candidates, i) && !(i == 0 && c.isIndex()) {
				nodes = append(nodes, i)
			}
		}
	}
	var choices [][]int
	for _, i := range nodes {
		for _, k := range candidates {
			choices = append(choices, []int{i, k})
		}
	}
	if len(choices) == 0 || len(choices) > 4 {
		return &input.Error{Msg: problem, Fix: fmt.Sprintf("which are they? pass {%s=NODE,%s}", o.Option, strings.ToUpper(o.Value))}
	}
	return &input.Error{Msg: problem, Fix: pass(o.Option, titles, choices)}
}

// report sets the uses of the columns.
func (c *nodeChooser) report() {
	t := c.t
	titles := c.s.Titles
	t.Columns = named(c.s.Titles, t.HasHeader)
	for i := range t.Columns {
		switch {
		case i == t.Node && !(c.o.Every && c.o.IsKnown == nil):
			t.Columns[i].Use = input.Node
		case i == t.Value:
			t.Columns[i].Use = c.o.Value
		case i == 0 && (t.HasHeader && c.isIndex() || !t.HasHeader && t.Node == 1), t.HasHeader && strings.HasPrefix(titles[i], IndexOfPandas):
			t.Columns[i].Use = input.Index
		}
	}
}
