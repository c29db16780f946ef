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

// chooser gives columns to roles: first by settings, then by titles, then by position.
type chooser struct {
	Choice
	s     *Sample
	r     *Request
	roles []Role
	use   []string // of each column, "" if none has been found
}

// Choose chooses the columns of a table: those that settings name, else those with titles of the list, else by position
// in a table of two or three columns. It returns an *input.Error without a place, which names the columns and a setting,
// if a role has not exactly one column.
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
	err := c.findHeader()
	for _, step := range []func() error{c.takeNamed, c.takeAttributes, c.takeIndex, c.takeTitled, c.takeByPosition, c.checkIDs, c.checkWeight} {
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

// takeIndex assigns to row numbers the columns of pandas in Parquet, and an untitled first column unless it may be the node:
// in a table of nodes another column must have the title of a node, or the graph no such ids. In a list without a graph
// the second column has the nodes.
func (c *chooser) takeIndex() error {
	titles := c.s.Titles
	isIndex := c.HasHeader && len(titles) > 2
	if !c.r.IsEdges {
		isNamed := withRole(titles, input.Node, idTitle) != nil
		if isIndex && !isNamed && IsIndex(titles[0]) && c.isMissing(nodeRole) && c.isKnown(0) && c.isKnown(1) {
			return c.ask("the first two columns have ids of nodes")
		}
		switch {
		case isNamed:
			isIndex = c.HasHeader
		case c.r.IsKnown != nil:
			isIndex = isIndex && !c.isKnown(0)
		default:
			isIndex = c.HasHeader && c.r.Value == "" && !c.r.HasAttributes && len(titles) > 1
		}
	}
	for i, title := range titles {
		if c.use[i] == "" && (i == 0 && isIndex && IsIndex(title) || strings.HasPrefix(title, IndexOfPandas)) {
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
			c.assign(columns[0], role.Use)
		}
	}
	first, second := numberedPair(c.s.Titles)
	if c.r.IsEdges && first >= 0 && c.isMissing(edgeRoles[0]) && c.isMissing(edgeRoles[1]) && c.use[first] == "" && c.use[second] == "" {
		c.assign(first, input.Source)
		c.assign(second, input.Target)
	}
	return nil
}

// takeByPosition assigns the free columns to the missing roles in their order. A table of edges must have two free columns, or
// a third one with numbers, which are weights; a table of nodes must have as many free columns as missing roles.
func (c *chooser) takeByPosition() error {
	free := c.free()
	missing := slices.DeleteFunc(slices.Clone(c.roles), func(role Role) bool { return !c.isMissing(role) })
	switch {
	case len(missing) == 0:
		return nil
	case !c.r.IsEdges && c.r.Value == "":
		if len(free) == 0 {
			return c.ask("no column is left for the node")
		}
		c.assign(free[0], input.Node)
		return nil
	case len(c.s.Titles) == 1:
		return c.askOneColumn()
	case c.r.IsEdges && len(missing) == 2 && len(free) == 3 && c.Column[input.Weight] < 0 && c.r.Named[input.Weight] == "" && c.areWeights(free[2]):
		missing = edgeRoles[:3]
	}
	isOther := func(i int) bool { return c.isOther(i, missing) }
	if len(free) != len(missing) || slices.ContainsFunc(free, isOther) {
		return c.ask("cannot determine " + c.roles[0].Use + " and " + c.roles[1].Use)
	}
	for i, role := range missing {
		c.assign(free[i], role.Use)
	}
	return nil
}

// isOther reports whether the title of a column has a role, and none of some roles.
func (c *chooser) isOther(column int, roles []Role) bool {
	title := c.s.Titles[column]
	isRole := func(role Role) bool { return hasRole(title, strings.Fields(strings.Join(role.Titles, " "))...) }
	return c.HasHeader && !mayBeID(title) && rolesOf(title) != nil && !hasRole(title, idTitle, nameTitle) && !slices.ContainsFunc(roles, isRole)
}

// areWeights reports whether the first value of a column is a number.
func (c *chooser) areWeights(column int) bool {
	values := c.s.Values(column)
	if !c.HasHeader && !IsMissing(c.s.Titles[column], Missing) {
		values = []string{c.s.Titles[column]}
	}
	return len(values) > 0 && isNumeric(values[0], c.r.Text)
}

// askOneColumn returns the error about a table of one column.
func (c *chooser) askOneColumn() error {
	first := c.s.Titles[0]
	if !c.r.IsEdges {
		sep := "<TAB>"
		if c.s.Separator > Blanks {
			sep = string(rune(c.s.Separator))
		}
		return &input.Error{Msg: "one column, want two: node and " + c.r.Value, Fix: oneFieldFix(first, "write node"+sep+c.r.Value+" on each line")}
	}
	e := &input.Error{Msg: "1 field, want 2 or 3 (source, target, weight)",
		Fix: oneFieldFix(first, "write source and target on each line, with a separator between")}
	if len(c.s.Rows) > 0 && all(c.s.Rows, func(row []string) bool { return len(row) > 1 }) { // of lines below
		e.Fix = "fix the line"
		e.Otherwise = "pass {skip-bad-lines}"
	}
	return e
}

// checkIDs asks about columns that no setting names: a column of nodes of which the graph has none while it has nodes of
// another column, and ends of edges whose texts cannot be ids in most lines.
func (c *chooser) checkIDs() error {
	switch {
	case c.r.Fields != nil:
		return nil
	case !c.r.IsEdges:
		isForeign := c.r.IsKnown != nil && !c.isKnown(c.Column[input.Node]) && !c.r.IsKnown(c.s.Titles[c.Column[input.Node]])
		for i := range c.s.Titles {
			if isForeign && c.use[i] != attribute && c.isKnown(i) {
				c.forget()
				return c.ask("column " + strconv.Itoa(i+1) + " has ids of nodes")
			}
		}
		return nil
	case c.r.IsTyped:
		return nil
	}
	rows := c.s.Rows
	if !c.HasHeader {
		rows = slices.Concat([][]string{c.s.Titles}, rows)
	}
	source := c.Column[input.Source]
	target := c.Column[input.Target]
	rows = slices.DeleteFunc(slices.Clone(rows), func(row []string) bool { return len(row) <= max(source, target) })
	marked := 0
	for _, row := range rows {
		if !mayBeEnd(row[source]) || !mayBeEnd(row[target]) {
			marked++
		}
	}
	isWordAlone := func(end, other int) bool {
		return isWord(rows[0][end]) && all(rows, func(row []string) bool { return row[end] == rows[0][end] && IsNumber(row[other]) })
	}
	if 2*marked > len(rows) || len(rows) > 1 && (isWordAlone(source, target) || isWordAlone(target, source)) {
		c.forget()
		for _, i := range []int{source, target} {
			if isDate(rows[0][i]) {
				c.use[i] = input.Time
			}
		}
		question := c.ask("the first lines are not edges")
		question.Fix = "write ids without marks around them, or " + question.Fix
		return question
	}
	return nil
}

// forget takes the columns from all roles, for a question about them.
func (c *chooser) forget() {
	for _, role := range c.roles {
		if i := c.Column[role.Use]; i >= 0 {
			c.use[i] = ""
		}
		c.Column[role.Use] = -1
	}
}

// mayBeEnd reports whether a text can be the id of an end: it must not begin with a quote, < or {, have a bracket or a double quote without its
// partner, or be a date.
func mayBeEnd(text string) bool {
	if IsInteger(text) {
		return true
	}
	isPaired := func(open, end string) bool { return strings.Count(text, open) == strings.Count(text, end) }
	return text == "" || !strings.Contains(`"'<{`, text[:1]) && isPaired("[", "]") && isPaired("{", "}") && isPaired("(", ")") &&
		strings.Count(text, `"`)%2 == 0 && !isDate(text)
}

// isDate reports whether a text is a date or a time, and no whole number.
func isDate(text string) bool {
	_, isTime := ParseTime(text)
	return isTime && !IsInteger(text)
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
