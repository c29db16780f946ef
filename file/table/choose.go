package table

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

type role struct {
	use        string
	titles     []string // first words of lines of titles.txt, joined by blanks; an element counts if no column has a title of an earlier one
	isRequired bool
}

// edgeRoles are the roles in a table of edges, in the order of the columns of {fields}. Time and kind are filled by
// settings alone.
var edgeRoles = []role{
	{input.Source, []string{input.Source, "first"}, true},
	{input.Target, []string{input.Target, "second"}, true},
	{input.Weight, []string{input.Weight + " sign", "w"}, false},
	{input.Time, nil, false},
	{input.Kind, nil, false},
}

// valueTitles has the titles (role.titles) of the value of a node for each use of the value.
var (
	nodeRole    = role{input.Node, []string{input.Node, idTitle, nameTitle}, true}
	valueTitles = map[string][]string{input.Label: {input.Label, "y"}, input.Value: {input.Value, input.Label, "y"}, input.Part: {"split"}}
)

const attribute = "attribute"

// Request states the columns that a table must have, and the columns that settings name.
type Request struct {
	Value      string            // use of a second column, beside the node; "" for none
	IsEdges    bool              // rows are edges
	Bipartite  bool              // the ends are two kinds of nodes
	Fields     []string          // columns in the order of the roles, by numbers from 1 or titles; nil: chosen
	Named      map[string]string // columns that further settings name, by use
	Attributes []string          // columns that a setting names as attributes; they cannot be the node
	Option     string            // setting for Fields, for messages; "" without one
	Header     input.Header
	Wide       bool                 // a table may have a column of 0 and 1 for each label
	IsTyped    bool                 // the titles are no row, as in Parquet
	Signed     bool                 // weights must have signs
	Reciprocal bool                 // weights are the reciprocals of the column that Named has
	Text       input.Text           // form of numbers
	IsKnown    func(id string) bool // reports whether an id is in the graph; nil: unknown graph
}

// Choice states how the columns of a table are used.
type Choice struct {
	Column    map[string]int // columns by use, from 0; −1: none
	Wide      []int          // columns of 0 and 1, one for each label; nil: no such table
	HasHeader bool
	AreEvents bool // rows are events between two nodes: they have a time, or titles of a sender and a receiver
	Columns   input.Columns
	Warning   *input.Error // warning about the first line, without a place; or nil
}

// chooser assigns columns to roles by settings, then by titles, then by position.
type chooser struct {
	Choice
	s     *Sample
	r     *Request
	roles []role
	use   []string // uses of columns, "" for none yet
	odd   []int    // rejected columns of the ends, whose values cannot be ids
	empty []int    // columns of edges without a value in the first rows; they cannot be ends
}

// TimesNote is the [input.Column].Note of a column that is ignored because its title is one of times, or, in a table of edges, because
// its values are times.
const TimesNote = "times"

// Choose chooses columns that settings name, then columns with a title of titles.txt. In a table of two or three
// columns it then chooses by position. If a role does not have exactly one column, the error is an *input.Error about
// the file and the first line of s that names the columns and a setting.
func (s *Sample) Choose(r *Request) (*Choice, error) {
	c := &chooser{s: s, r: r, Choice: Choice{Column: map[string]int{}}, use: make([]string, len(s.Titles))}
	c.roles = []role{nodeRole, {r.Value, valueTitles[r.Value], true}}
	if r.IsEdges {
		c.roles = edgeRoles
	} else if r.Value == "" {
		c.roles = c.roles[:1]
	}
	for _, role := range c.roles {
		c.Column[role.use] = -1
	}
	err := c.checkForm()
	if err == nil {
		err = c.findHeader()
	}
	c.findEmpty()
	c.takeWide()
	for _, step := range []func() error{c.takeNamed, c.takeTitled, c.takeByPosition, c.checkIDs, c.checkCells, c.checkWeight, c.checkThousands} {
		if err == nil && c.Wide == nil {
			err = step()
		}
	}
	c.Columns = nameColumns(c.s.Titles, c.HasHeader)
	for i, title := range c.s.Titles {
		if c.use[i] != attribute { // its values determine its use
			c.Columns[i].Use = c.use[i]
		}
		isTime := c.HasHeader && hasRole(title, input.Time)
		c.AreEvents = c.AreEvents || isTime || c.use[i] == input.Time ||
			c.HasHeader && c.use[i] == input.Source && namesSender(title)
		if c.use[i] == "" && (isTime || c.r.IsEdges && areTimes(c.values(i))) {
			c.Columns[i].Note = TimesNote
		}
		c.describe(i)
	}
	if fault := new(input.Error); errors.As(err, &fault) {
		fault.File = s.File
		fault.Line = cmp.Or(fault.Line, s.Line)
		fault.Columns = c.Columns
	}
	return &c.Choice, err
}

// describe sets the type of column i and its first values.
func (c *chooser) describe(i int) {
	const (
		most = 100 // values that determine the type
		few  = 3
	)
	column := &c.Columns[i]
	values := c.values(i)
	values = values[:min(most, len(values))]
	column.Values = values[:min(few, len(values))]
	isNumber := func(text string) bool { return isNumeric(text, c.r.Text) }
	units := (&Sample{Rows: c.rows()}).Units(i)
	switch {
	case len(values) == 0:
		column.Type = "empty"
	case all(values, IsInteger[string]):
		column.Type = "integer"
	case all(values, isNumber) && len(units) > 0:
		column.Type = "amount in " + strings.Join(units, ", ")
	case all(values, isNumber):
		column.Type = "number"
	case all(values, func(text string) bool {
		return isDate(text) || datePattern().MatchString(text) || clockPattern().MatchString(text)
	}):
		column.Type = "time"
	default:
		column.Type = "text"
	}
}

func (c *chooser) assign(column int, use string) {
	c.use[column] = use
	c.Column[use] = column
}

// takeNamed assigns the columns that settings name.
func (c *chooser) takeNamed() error {
	for i, role := range c.roles {
		option := role.use
		fields := []string{c.r.Named[role.use]}
		if i < len(c.r.Fields) {
			option = c.r.Option
			fields = c.r.Fields[:i+1]
		}
		last := len(fields) - 1
		if fields[last] == "" {
			continue
		}
		columns, err := Find(fields, c.s.Titles, len(c.s.Titles))
		if err == nil && c.use[columns[last]] != "" {
			err = errors.New("column " + fields[last] + " has two uses")
		}
		if err != nil {
			return &input.Error{Msg: err.Error(), Fix: "correct {" + option + "}"}
		}
		c.assign(columns[last], role.use)
	}
	attributes, _ := Find(c.r.Attributes, c.s.Titles, len(c.s.Titles)) // the reader of the attributes reports an error
	for _, i := range attributes {
		c.use[i] = attribute
	}
	return nil
}

func (c *chooser) free() (columns []int) {
	for i, use := range c.use {
		if use == "" {
			columns = append(columns, i)
		}
	}
	return columns
}

// findEmpty sets c.empty in a table of two or more rows. If fewer than two other columns may be ends, c.empty is nil: no choice of columns gives an
// edge.
func (c *chooser) findEmpty() {
	if !c.r.IsEdges || len(c.rows()) < 2 {
		return
	}
	ends := 0
	for i := range c.s.Titles {
		if len(c.values(i)) == 0 {
			c.empty = append(c.empty, i)
		} else if !c.isOther(i, edgeRoles[:2]...) {
			ends++
		}
	}
	if ends < 2 {
		c.empty = nil
	}
}

// freeEnds returns the free columns that can be ends.
func (c *chooser) freeEnds() []int {
	return slices.DeleteFunc(c.free(), func(i int) bool { return slices.Contains(c.empty, i) })
}

func (c *chooser) missing() []role {
	return slices.DeleteFunc(slices.Clone(c.roles), func(role role) bool { return !role.isRequired || c.Column[role.use] >= 0 })
}

func (c *chooser) titled(role role) []int {
	titles := slices.Clone(c.s.Titles)
	for i, use := range c.use {
		if use != "" || !c.HasHeader || role.isRequired && slices.Contains(c.empty, i) {
			titles[i] = ""
		}
	}
	return withTitle(titles, role.titles)
}

// takeTitled marks columns of row numbers, and assigns to each role without a column the only column with a title of
// the role.
//
// Row numbers are columns that pandas adds in Parquet, and an untitled first column that is not needed. In a table of
// edges it is not needed if the ends have titles or if all its values are whole numbers. In a table of nodes it is
// not needed if another column has the title of the node or if it contains no nodes of the graph.
func (c *chooser) takeTitled() error {
	titles := c.s.Titles
	isNeeded := !slices.ContainsFunc(titles, IsNode) && c.isKnown(0)
	if c.r.IsEdges {
		isNeeded = !NamesEnds(titles) && !all(c.values(0), IsInteger[string])
	}
	for i, title := range titles {
		isIndex := i == 0 && c.HasHeader && len(titles) > len(c.missing()) && !isNeeded && IsIndex(title)
		if c.use[i] == "" && (isIndex || strings.HasPrefix(title, IndexOfPandas)) {
			c.use[i] = input.Index
		}
	}
	if c.r.Fields != nil {
		return nil
	}
	for _, role := range c.roles {
		columns := c.titled(role)
		switch {
		case c.Column[role.use] >= 0 || len(columns) == 0:
		case len(columns) > 1:
			return c.ask("several columns could be the " + role.use)
		default:
			c.assign(columns[0], role.use)
		}
	}
	first, second := numberedPair(titles)
	isFree := func(i int) bool { return slices.Contains(c.freeEnds(), i) }
	if c.HasHeader && c.r.IsEdges && first >= 0 && len(c.missing()) == 2 && isFree(first) && isFree(second) {
		c.assign(first, input.Source)
		c.assign(second, input.Target)
	}
	pairs, areNamed := wordPairs(titles)
	if c.HasHeader && c.r.IsEdges && len(c.missing()) == 2 && areNamed > 0 {
		isID := func(i int) bool { return isFree(i) && !c.isNoID(i) && !c.areFractions(i) }
		if pair := pairs[0]; isID(pair[0]) && isID(pair[1]) {
			c.assign(pair[0], input.Source)
			c.assign(pair[1], input.Target)
		}
	}
	return nil
}

// areFractions reports whether a column has numbers with fractions, such as coordinates.
func (c *chooser) areFractions(column int) bool {
	return slices.ContainsFunc(c.values(column), func(text string) bool {
		return IsNumber(text) && !IsInteger(PlainInteger(text)) && !HasLeadingZero(text)
	})
}

// takeByPosition assigns the free columns to the missing roles in order. In a list of nodes the first column is the
// node. In other tables there must be as many free columns as missing roles, none with the title of another role. A
// third column of numbers is the weight of edges, see checkThree.
func (c *chooser) takeByPosition() error {
	free := c.freeEnds()
	missing := c.missing()
	isList := len(c.roles) == 1
	switch {
	case len(missing) == 0:
		return nil
	case isList:
		free = free[:min(len(free), 1)]
	case len(c.s.Titles) == 1:
		e := &input.Error{Msg: "one column, want two: " + c.want(), Fix: oneFieldFix(c.s.Titles[0], "write "+c.want()+" on each line, with a separator between")}
		if !c.mayBeID(c.s.Titles[0]) {
			e.Fix = c.rowsFix()
		}
		if c.r.IsEdges && len(c.s.Rows) > 0 && all(c.s.Rows, func(row []string) bool { return len(row) > 1 }) { // the lines below have more fields
			e.Fix = "fix the line"
			e.Otherwise = "pass {skip-bad-lines}"
		}
		return e
	case c.r.IsEdges && len(missing) == 2 && len(free) == 3 && c.Column[input.Weight] < 0 && c.isNumber(free[2]):
		if err := c.checkThree(free); err != nil {
			return err
		}
		missing = edgeRoles[:3]
	}
	if len(free) != len(missing) || !isList && slices.ContainsFunc(free, func(i int) bool { return c.isOther(i, missing...) }) {
		return c.ask("cannot determine " + c.want())
	}
	if matrix := c.askMatrix(); matrix != nil {
		return matrix
	}
	for i, role := range missing {
		c.assign(free[i], role.use)
	}
	return nil
}

func (c *chooser) isOther(column int, roles ...role) bool {
	title := c.s.Titles[column]
	named := []string{idTitle, nameTitle}
	for _, role := range roles {
		named = append(named, strings.Fields(strings.Join(role.titles, " "))...)
	}
	return c.HasHeader && !mayBeID(title) && rolesOf(title) != nil && !hasRole(title, named...)
}

func (c *chooser) isNumber(column int) bool {
	values := c.values(column)
	return len(values) > 0 && isNumeric(values[0], c.r.Text)
}

func (c *chooser) values(column int) []string { return (&Sample{Rows: c.rows()}).Values(column) }

func (c *chooser) rows() [][]string {
	if c.HasHeader {
		return c.s.Rows
	}
	return slices.Concat([][]string{c.s.Titles}, c.s.Rows)
}

func (c *chooser) isKnown(column int) bool {
	return c.r.IsKnown != nil && slices.ContainsFunc(c.values(column), c.r.IsKnown)
}

// checkIDs returns a question (see ask) if columns that no setting names may be wrong. This is so if most rows have
// an end or a node that cannot be an id, or if one end is the same word in all rows and the other end has numbers. It
// is also so if another column contains nodes of the graph, and the chosen column contains none or is an untitled
// first column just before it.
func (c *chooser) checkIDs() error {
	ids := []int{c.Column[c.roles[0].use]}
	if c.r.IsEdges {
		ids = append(ids, c.Column[input.Target])
	}
	rows := slices.DeleteFunc(slices.Clone(c.rows()), func(row []string) bool { return len(row) <= slices.Max(ids) })
	isOdd := func(row []string) bool {
		return slices.ContainsFunc(ids, func(i int) bool { return !c.mayBeID(row[i]) })
	}
	isWordAlone := func(i int) bool {
		other := ids[0] + ids[len(ids)-1] - i
		return len(rows) > 1 && isWord(rows[0][i]) && all(rows, func(row []string) bool { return row[i] == rows[0][i] && IsNumber(row[other]) })
	}
	switch {
	case c.r.Fields != nil:
		return nil
	case !c.r.IsTyped && (areMost(rows, isOdd) || c.r.IsEdges && slices.ContainsFunc(ids, isWordAlone)):
		c.odd = ids
		return c.askAgain("cannot determine " + c.want())
	}
	for i, use := range c.use {
		isIndex := use == "" && i == 1 && ids[0] == 0 && IsIndex(c.s.Titles[0])
		if use != attribute && (isIndex || !c.isKnown(ids[0])) && c.isKnown(i) {
			return c.askAgain("column " + words.Count(i+1) + " has ids of nodes")
		}
	}
	return nil
}

func areMost(rows [][]string, hasForm func(row []string) bool) bool {
	count := 0
	for _, row := range rows {
		if hasForm(row) {
			count++
		}
	}
	return 2*count > len(rows)
}

// mayBeID reports whether text may be an id. Ends of edges must not be dates, or begin with a bracket, a quote or <.
func (c *chooser) mayBeID(text string) bool {
	return text == "" || IsInteger(text) ||
		isPaired(text) && !(c.r.IsEdges && (isDate(text) || strings.Contains(`"'<{[(`, text[:1])))
}

// isPaired reports whether brackets, quotes and < > are balanced and text does not end in a colon.
func isPaired(text string) bool {
	isOpen := strings.HasPrefix(text, "<") && !strings.Contains(text, ">") || strings.HasSuffix(text, ":") || strings.Count(text, `"`)%2 > 0
	return !isOpen && all([]string{"[]", "{}", "()"}, func(pair string) bool {
		return strings.Count(text, pair[:1]) == strings.Count(text, pair[1:])
	})
}

func isDate(text string) bool {
	_, isTime := ParseTime(text)
	return isTime && !IsInteger(text)
}

// checkWeight returns an error if the title of the weight names distances. It warns if edges have no weight and columns
// of numbers are ignored; if weights must have signs, the warning is an error.
func (c *chooser) checkWeight() error {
	titles := c.s.Titles
	weight := c.Column[input.Weight]
	switch {
	case !c.r.IsEdges || !c.HasHeader:
		return nil
	case weight >= 0 && IsDistance(titles[weight]) && !c.r.Reciprocal:
		fix := DistanceFix(FieldList(titles, weight))
		if c.r.Fields != nil && c.r.Named[input.Weight] == "" {
			fix = "{" + c.r.Option + "=" + FieldList(titles, c.Column[input.Source], c.Column[input.Target]) + "} "
			fix = strings.Replace(DistanceFix(FieldList(titles, weight)), "{", fix+"{", 1)
		}
		return &input.Error{Msg: "the title of the weight, " + words.Quoted(titles[weight]) + ", " + DistanceFault, Fix: fix}
	case weight >= 0 && c.r.Fields == nil && c.r.Named[input.Weight] == "":
		c.warnOfCurrencies(weight)
		return nil
	case weight >= 0 || c.r.Fields != nil:
		return nil
	}
	numbers := slices.DeleteFunc(c.free(), func(i int) bool {
		isOther := hasRole(titles[i], input.Time, input.Value, input.Node, idTitle) && !IsDistance(titles[i])
		return isOther || areTimes(c.s.Values(i)) || !areNumbers(c.s.Values(i), c.r.Text)
	})
	if len(numbers) == 0 {
		return nil
	}
	warning := c.adviseWeight(numbers)
	if c.r.Signed {
		return warning
	}
	c.Warning = warning
	return nil
}

// warnOfCurrencies warns of a weight beside a column of several codes of currencies.
func (c *chooser) warnOfCurrencies(weight int) {
	for _, i := range c.free() {
		values := c.values(i)
		codes := slices.Compact(slices.Sorted(slices.Values(values)))
		if len(codes) > 1 && all(codes, func(code string) bool { return slices.Contains(currencies, code) }) {
			titles := c.s.Titles
			c.Warning = &input.Error{Msg: "the weights of the column " + words.Quoted(titles[weight]) + " are in several currencies: " + strings.Join(codes, ", "),
				Fix: "{" + c.r.Option + "=" + FieldList(titles, c.Column[input.Source], c.Column[input.Target]) + "} leaves them out"}
			return
		}
	}
}

// adviseWeight returns the warning that columns of numbers are ignored, with their ranges in the first rows.
func (c *chooser) adviseWeight(numbers []int) *input.Error {
	const most = 10
	titles := c.s.Titles
	if i := numbers[0]; len(numbers) == 1 {
		warning := &input.Error{Msg: "edges have no weight; the numbers of the column " + words.Quoted(titles[i]) + " are ignored"}
		setting := "{weight=" + FieldList(titles, i) + "}"
		if IsDistance(titles[i]) {
			setting = "{weight=1/" + FieldList(titles, i) + "}"
		}
		warning.Fix = strings.TrimSpace(setting+" "+c.s.NumberSettings(i)) + " makes it the weight"
		if IsDistance(titles[i]) {
			warning.Fix = strings.TrimSpace(setting+" "+c.s.NumberSettings(i)) + " makes the reciprocal the weight, which is large for strong edges"
		}
		return warning
	}
	var list []string
	distance := ""
	for _, i := range numbers[:min(most, len(numbers))] {
		list = append(list, input.Escape(titles[i])+c.rangeOf(i))
		if distance == "" && IsDistance(titles[i]) {
			distance = titles[i]
		}
	}
	if len(numbers) > most {
		list = append(list, "…")
	}
	fix := "{weight=COLUMN} makes one the weight"
	if distance != "" {
		fix += ", and {weight=1/COLUMN} the reciprocal of distances such as " + input.Escape(distance)
	}
	return &input.Error{Msg: "edges have no weight; columns of numbers are ignored: " + strings.Join(list, ", "), Fix: fix}
}

// rangeOf returns the smallest and the largest number in a column of the sample, as in " (0 to 12)", or "" if they need
// other settings of text.
func (c *chooser) rangeOf(column int) string {
	low := math.Inf(1)
	high := math.Inf(-1)
	for _, text := range c.s.Values(column) {
		x, fault := ParseNumberIn([]byte(text), c.r.Text)
		if fault != "" {
			return ""
		}
		low = min(low, x)
		high = max(high, x)
	}
	if low == high {
		return " (all " + shortNumber(low) + ")"
	}
	return " (" + shortNumber(low) + " to " + shortNumber(high) + ")"
}

// shortNumber returns a number with all its digits if they are few, otherwise with six digits.
func shortNumber(x float64) string {
	const most = 12
	if text := strconv.FormatFloat(x, 'f', -1, 64); len(text) <= most {
		return text
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

// namesSender reports whether a word of a title names the first end of an event.
func namesSender(title string) bool {
	senders := strings.Fields("sender payer caller originator debtor")
	return slices.ContainsFunc(splitTitle(title), func(word string) bool { return slices.Contains(senders, word) })
}

// checkThousands returns an error if the points in the weights of edges, or in the numbers of nodes, may be between
// thousands, see [HasDoubtfulPoints].
func (c *chooser) checkThousands() error {
	for _, use := range []string{input.Weight, input.Value} {
		column, isRole := c.Column[use]
		if !isRole || column < 0 || c.r.IsTyped {
			continue
		}
		if number := HasDoubtfulPoints(c.values(column), c.s.Separator, c.r.Text); number != "" {
			return &input.Error{Msg: PointsFault(number), Fix: PointsFix}
		}
	}
	return nil
}
