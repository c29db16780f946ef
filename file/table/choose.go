package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// Role is a use of a column.
type Role struct {
	Use        string
	Titles     []string // roles of the titles that name it, joined by blanks; those of the first element come first
	IsRequired bool
}

// The roles of a table of edges, in the order of the columns of {fields}. Time and kind have a column if a setting names
// it.
var edgeRoles = []Role{
	{input.Source, []string{input.Source}, true},
	{input.Target, []string{input.Target}, true},
	{input.Weight, []string{input.Weight + " " + signTitle}, false},
	{input.Time, nil, false},
	{input.Kind, nil, false},
}

// nodeRole is the role of the node, and valueTitles are the titles of its value.
var (
	nodeRole    = Role{input.Node, []string{input.Node, idTitle, nameTitle}, true}
	valueTitles = map[string][]string{input.Label: {input.Label}, input.Value: {input.Value, input.Label}, input.Part: {"split"}}
)

// attribute is the use of a column that a setting names as an attribute.
const attribute = "attribute"

// Request states which columns a table must have, and those that settings name.
type Request struct {
	Value         string            // the use of the column behind the node, "" for none
	IsEdges       bool              // rows are edges
	HasAttributes bool              // the other columns of a table of nodes are read too
	Fields        []string          // columns in the order of the roles, by numbers from 1 or titles; nil: chosen
	Named         map[string]string // columns that further settings name, by use
	Attributes    []string          // columns that a setting names as attributes, which are no nodes
	Option        string            // name of the setting for Fields, for messages; "" without one
	Header        input.Header
	IsTyped       bool                 // the titles are no row, as in Parquet
	Signed        bool                 // weights may be negative
	Text          input.Text           // form of numbers
	IsKnown       func(id string) bool // whether an id is in the graph; nil: the graph is not known
}

// namesTitles reports whether a setting names a column by its title.
func (r *Request) namesTitles() bool {
	isTitle := !Numbers(r.Fields)
	for _, field := range r.Named {
		isTitle = isTitle || field != "" && !Numbers([]string{field})
	}
	return isTitle
}

// Choice is the use of the columns of a table.
type Choice struct {
	Column    map[string]int // by use, from 0; −1 for none
	HasHeader bool
	AreEvents bool // rows are events between two nodes: they have a time, or titles of a sender and a receiver
	Columns   input.Columns
	Warnings  []*input.Error // without the name of the file; Line is 1 for the first line of the sample
}

// chooser fills a matrix of columns and roles by the evidence of settings, titles and positions.
type chooser struct {
	Choice
	s     *Sample
	r     *Request
	roles []Role
	use   []string // of each column, "" if none has been found

	isDoubtful bool // the first line is read as data, and may hold titles
}

// Choose chooses the columns of a table: those that settings name, else those with titles of the list, else by position
// where the table has no other columns. It returns an *input.Error without a place, which names the columns and a
// setting, where a role has not exactly one column.
func (s *Sample) Choose(r *Request) (*Choice, error) {
	c := &chooser{s: s, r: r, Choice: Choice{Column: map[string]int{}}}
	c.roles = []Role{nodeRole, {r.Value, valueTitles[r.Value], true}}
	if r.IsEdges {
		c.roles = edgeRoles
	} else if r.Value == "" {
		c.roles = c.roles[:1]
	}
	for _, role := range c.roles {
		c.Column[role.Use] = -1
	}
	c.use = make([]string, len(s.Titles))
	err := c.findTitleRow()
	if err == nil {
		err = c.findHeader()
	}
	for _, step := range []func() error{c.takeNamed, c.takeAttributes, c.takeIndex, c.takeTitled, c.takeByPosition, c.checkNode, c.checkWeight} {
		if err == nil {
			err = step()
		}
	}
	c.report()
	return &c.Choice, err
}

// takeAttributes keeps the columns that a setting names as attributes from having another use.
func (c *chooser) takeAttributes() error {
	columns, err := Find(c.r.Attributes, c.s.Titles, len(c.s.Titles))
	if err != nil {
		return nil // who reads the attributes reports it
	}
	for _, i := range columns {
		c.use[i] = attribute
	}
	return nil
}

// warn adds a warning about the first line.
func (c *chooser) warn(msg, fix string) {
	c.Warnings = append(c.Warnings, &input.Error{Line: 1, Msg: msg, Fix: fix})
}

// assign gives a column a use.
func (c *chooser) assign(column int, use string) {
	c.use[column] = use
	if use != input.Index {
		c.Column[use] = column
	}
}

// isMissing reports whether a role must have a column and has none.
func (c *chooser) isMissing(role Role) bool { return role.IsRequired && c.Column[role.Use] < 0 }

// takeNamed assigns the columns that settings name.
func (c *chooser) takeNamed() error {
	name := func(role Role, option string, fields []string, i int) error {
		columns, err := Find(fields, c.s.Titles, len(c.s.Titles))
		if err == nil && c.use[columns[i]] != "" && c.use[columns[i]] != role.Use {
			return &input.Error{Msg: "column " + fields[i] + " has two uses", Fix: "correct {" + option + "}"}
		}
		if err != nil {
			return &input.Error{Msg: err.Error(), Fix: "correct {" + option + "}"}
		}
		c.assign(columns[i], role.Use)
		return nil
	}
	for i, role := range c.roles {
		if i < len(c.r.Fields) {
			if err := name(role, c.r.Option, c.r.Fields, i); err != nil {
				return err
			}
		} else if field := c.r.Named[role.Use]; field != "" {
			if err := name(role, role.Use, []string{field}, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeIndex assigns the first column, and those of pandas in Parquet, to row numbers. In a table of nodes the first column
// may hold the nodes, unless another one has their title, or the graph has none of its ids.
func (c *chooser) takeIndex() error {
	titles := c.s.Titles
	isFirst := len(titles) > 1 && c.HasHeader && IsIndex(titles[0]) && c.use[0] == ""
	counts := c.isCounter(0)
	switch {
	case !isFirst:
	case c.r.IsEdges:
		isFirst = len(titles) > 2 && counts
	case len(titles) == 2 && c.r.Value != "":
		isFirst = false
	case c.r.Value != "" || c.r.IsKnown != nil:
		isNode := withRole(titles, input.Node, idTitle) != nil
		isFirst = isNode || c.r.IsKnown != nil && c.countKnown(0) == 0
		if !isFirst && c.r.Value == "" && counts && c.countKnown(1) > 0 {
			return &input.Error{Msg: "the first two columns have ids of nodes", Fix: `title one of them "node", the first one by ` + c.title(0)}
		}
	default:
		isFirst = counts
	}
	for i, title := range titles {
		if c.use[i] == "" && (i == 0 && isFirst || strings.HasPrefix(title, IndexOfPandas)) {
			c.assign(i, input.Index)
		}
	}
	return nil
}

// free returns the columns without a use.
func (c *chooser) free() (columns []int) {
	for i, use := range c.use {
		if use == "" {
			columns = append(columns, i)
		}
	}
	return columns
}

// titled returns the free columns with a title of one of some roles.
func (c *chooser) titled(roles string) []int {
	isUsed := func(i int) bool { return c.use[i] != "" }
	return slices.DeleteFunc(withRole(c.s.Titles, strings.Fields(roles)...), isUsed)
}

// takeTitled assigns the only columns with the titles of a role.
func (c *chooser) takeTitled() error {
	if !c.HasHeader || c.r.Fields != nil {
		return nil
	}
	if titles := c.s.Titles; c.r.Value != "" && len(titles) > 2 && titles[0] == "node" && titles[2] == "reached" { // predictions
		c.assign(0, input.Node)
		c.assign(1, c.r.Value)
	}
	for _, role := range c.roles {
		for _, titles := range role.Titles {
			columns := c.titled(titles)
			if c.Column[role.Use] >= 0 || len(columns) == 0 {
				continue
			}
			if len(columns) > 1 {
				return c.ask("several columns could be the " + role.Use)
			}
			if role.Use == input.Label && c.isName(columns[0]) {
				return c.ask("every line has a different label")
			}
			c.assign(columns[0], role.Use)
		}
	}
	first, second := numberedPair(c.s.Titles)
	if c.r.IsEdges && first >= 0 && c.Column[input.Source] < 0 && c.Column[input.Target] < 0 &&
		c.use[first] == "" && c.use[second] == "" {
		c.assign(first, input.Source)
		c.assign(second, input.Target)
	}
	return nil
}

// isName reports whether a column titled as labels are has a different text in each of three or more rows of a table with
// other columns, as Gephi has under Label.
func (c *chooser) isName(column int) bool {
	values := c.s.Values(column)
	return len(c.s.Titles) > 2 && len(values) > 2 && len(values) == len(c.s.Rows) && c.isKey(column) && !areNumbers(values, c.r.Text)
}

// isOpen reports whether a column may be the end of an edge: its title has no other role, and it holds no dates, or below a
// header no fractions.
func (c *chooser) isOpen(column int) bool {
	title := c.s.Titles[column]
	isTitled := c.HasHeader && !mayBeID(title) && rolesOf(title) != nil && !hasRole(title, idTitle, nameTitle)
	return !isTitled && !(c.HasHeader && title == "") && all(c.s.Values(column), func(text string) bool {
		if IsInteger(text) {
			return true
		}
		_, isTime := ParseTime(text)
		isFraction := IsNumber(text) && !IsInteger(PlainInteger(text)) && !HasLeadingZero(text)
		return (!isFraction || !c.HasHeader) && !isTime
	})
}

// takeByPosition assigns the columns of required roles where no others are left.
func (c *chooser) takeByPosition() error {
	free := c.free()
	if !c.r.IsEdges {
		return c.takeNodeByPosition(free)
	}
	if titles := c.s.Titles; len(titles) == 1 {
		e := &input.Error{Msg: "1 field, want 2 or 3 (source, target, weight)",
			Fix: oneFieldFix(titles[0], "write source and target on each line, with a separator between")}
		if len(c.s.Rows) > 0 && all(c.s.Rows, func(row []string) bool { return len(row) > 1 }) { // of lines below
			e.Fix = "fix the line"
			e.Otherwise = "pass {skip-bad-lines}"
		}
		return e
	}
	source := c.isMissing(edgeRoles[0])
	target := c.isMissing(edgeRoles[1])
	open := slices.DeleteFunc(slices.Clone(free), func(i int) bool { return !c.isOpen(i) })
	switch hasWeight := c.Column[input.Weight] >= 0; {
	case !source && !target:
	case source != target && len(open) == 1:
		if source {
			c.assign(open[0], input.Source)
		} else {
			c.assign(open[0], input.Target)
		}
	case source != target:
		return c.ask("cannot determine source and target")
	case len(free) == 2 && len(open) == 2 && (!hasWeight || c.r.Named[input.Weight] != "" || c.use[len(c.use)-1] == input.Weight):
		c.assign(free[0], input.Source)
		c.assign(free[1], input.Target)
	case len(free) == 3 && len(open) >= 2 && slices.Equal(open[:2], free[:2]) && c.mayBeWeight(free[2]) && !hasWeight && c.r.Named[input.Weight] == "":
		return c.takeThree(free)
	default:
		return c.ask("cannot determine source and target")
	}
	return nil
}

// mayBeWeight reports whether the title of a column, if it has one, has no other role than that of a weight.
func (c *chooser) mayBeWeight(column int) bool {
	title := c.s.Titles[column]
	return !c.HasHeader || rolesOf(title) == nil || hasRole(title, input.Weight, signTitle)
}

// takeThree assigns three columns to source, target and weight if the third one has numbers. Columns that count the lines,
// or whose ids are in the others only, are asked about.
func (c *chooser) takeThree(free []int) error {
	const few = 8 // distinct numbers that may be weights
	s := c.s
	if !c.HasHeader {
		s = &Sample{Titles: s.Titles, Rows: append([][]string{s.Titles}, s.Rows...)}
	}
	values := s.Values(free[2])
	toTarget, _ := s.countShared(free[0], free[1])
	toWeight, _ := s.countShared(free[0], free[2])
	weightIDs, fewer := s.countShared(free[1], free[2])
	isFirst := free[0] == 0 && len(s.Rows) > 2
	isCounter := isFirst && (s.counts(0) || s.counts(1)) && !c.r.IsTyped
	isRising := isFirst && slices.IsSortedFunc(s.Rows, func(a, b []string) int { return compareNumbers(a[0], b[0]) })
	switch {
	case len(values) == 0 || !isNumeric(values[0], c.r.Text):
		return c.ask("the third column has text and no weight")
	case mayBeTimes(values):
		return &input.Error{Msg: "the third column may have times", Fix: c.timesFix(values[0])}
	case isCounter && toTarget+toWeight == 0:
		return c.askThird("the first column counts the lines")
	case isRising && toTarget == 0 && fewer >= few && 2*weightIDs >= fewer:
		return c.askThird("the first column never falls, and may have times")
	}
	c.assign(free[0], input.Source)
	c.assign(free[1], input.Target)
	c.assign(free[2], input.Weight)
	return nil
}

// mayBeTimes reports whether all values are years, dates in digits, or seconds or milliseconds since 1970 in the years from
// 1990 on.
func mayBeTimes(values []string) bool {
	const first, last = 631152000, 4102444800 // seconds of the years 1990 and 2100
	return len(values) > 1 && all(values, func(text string) bool {
		_, isDate := ParseTime(text)
		n, _ := strconv.ParseInt(text, 10, 64)
		return isDate || len(text) == 4 && n >= 1800 && n < 2100 || n >= first && n < last || n >= 1000*first && n < 1000*last
	})
}

// takeNodeByPosition assigns the columns of a table of nodes: the only two, or the first of one without a value.
func (c *chooser) takeNodeByPosition(free []int) error {
	if c.r.Value == "" {
		if c.Column[input.Node] < 0 && len(free) > 0 {
			c.assign(free[0], input.Node)
		}
		return nil
	}
	missing := slices.DeleteFunc(slices.Clone(c.roles), func(role Role) bool { return !c.isMissing(role) })
	if len(c.s.Titles) == 1 {
		sep := "<TAB>"
		if c.s.Separator > Blanks {
			sep = string(rune(c.s.Separator))
		}
		return &input.Error{Msg: "one column, want two: node and " + c.r.Value, Fix: oneFieldFix(c.s.Titles[0], "write node"+sep+c.r.Value+" on each line")}
	}
	if len(missing) > 0 && len(free) != len(missing) {
		return c.ask("cannot determine node and " + c.r.Value)
	}
	for i, role := range missing {
		c.assign(free[i], role.Use)
	}
	return nil
}

// checkNode asks about a column of nodes that no setting names: where the graph has none of its ids, but those of another
// column; and where it counts the rows of a table of three columns or more, and another column has different ids of the graph
// in every row.
func (c *chooser) checkNode() error {
	node := c.Column[input.Node]
	if c.r.IsEdges || c.r.IsKnown == nil || c.r.Fields != nil || len(c.s.Rows) == 0 {
		return nil
	}
	isForeign := c.countKnown(node) == 0 && !c.r.IsKnown(c.s.Titles[node])
	isSerial := len(c.s.Titles) > 2 && (!c.HasHeader || !hasRole(c.s.Titles[node], input.Node))
	for i, row := range c.s.Rows {
		isSerial = isSerial && node < len(row) && row[node] == strconv.Itoa(i+1)
	}
	for i := range c.s.Titles {
		count := c.countKnown(i)
		if i == node || c.use[i] == attribute || count == 0 || !isForeign && (!isSerial || count < len(c.s.Rows) || !c.isKey(i)) {
			continue
		}
		for _, role := range c.roles {
			c.use[c.Column[role.Use]] = ""
			c.Column[role.Use] = -1
		}
		return c.ask("several columns could be the node")
	}
	return nil
}

// checkWeight warns of columns of numbers that are left out where edges have no weight, and refuses such a table where
// weights must have signs.
func (c *chooser) checkWeight() error {
	if !c.r.IsEdges || c.Column[input.Weight] >= 0 || c.r.Fields != nil || !c.HasHeader {
		return nil
	}
	numbers := slices.DeleteFunc(c.free(), func(i int) bool {
		return hasRole(c.s.Titles[i], input.Time, input.Value, input.Node, idTitle) || !areNumbers(c.s.Values(i), c.r.Text)
	})
	if len(numbers) == 0 {
		return nil
	}
	title := c.s.Titles[numbers[0]]
	warning := &input.Error{Msg: "edges have no weight; the numbers of the column " + words.Quoted(title) + " are ignored",
		Fix: "{weight=" + FieldList(c.s.Titles, numbers[0]) + "} makes it the weight"}
	if slices.Contains(lengths, strings.TrimSuffix(plainTitle(title), "s")) {
		warning.Fix = "a weight is large for strong edges: add a column weight with 1/" + title
	}
	if c.r.Signed {
		return warning
	}
	c.Warnings = append(c.Warnings, warning)
	return nil
}

// lengths are titles of numbers that are small for strong edges.
var lengths = strings.Fields("length distance traveltime")

// senders are titles of the first end of an event.
var senders = strings.Fields("sender payer caller")

// report sets the uses of the columns.
func (c *chooser) report() {
	c.Columns = nameColumns(c.s.Titles, c.HasHeader)
	for i, title := range c.s.Titles {
		if c.use[i] != attribute { // its use follows from its values
			c.Columns[i].Use = c.use[i]
		}
		isTime := c.HasHeader && hasRole(title, input.Time)
		c.AreEvents = c.AreEvents || isTime || c.use[i] == input.Time ||
			c.HasHeader && c.use[i] == input.Source && slices.Contains(senders, plainTitle(title))
		if isTime && c.use[i] == "" {
			c.Columns[i].Note = "times"
		}
	}
}
