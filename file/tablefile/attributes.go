package tablefile

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse"
)

const (
	mostLevels  = 1000 // categories of a column; a column with more is ignored
	nameShare   = 90   // percentage of distinct values from which a column has names and no categories
	fewestNames = 10   // values from which nameShare applies
)

// NamesNote is the [input.Column].Note of a column of names, which Fields can name.
const NamesNote = "a different text for nearly every node"

const notNumber = "is not a number"

type attributeColumn struct {
	title   string
	skipped bool // the column holds the node or row numbers
	isLabel bool // the title is a title of labels
	isNamed bool
	isOther bool   // the settings name other columns
	isKept  bool   // attributes of a model come from it, see keep
	ignored string // reason why the column is no attribute; "" for an attribute
	isText  bool   // values are categories

	texts  table.Dictionary // first distinct values, at most mostLevels+1
	sample int              // values in which texts were found

	numbers int
	units   []string // different units of the numbers, see [table.SplitAmount]
	null    int      // values that are words of [table.Doubtful]
	count   int
	missing int
	words   int     // rows with a word that means a missing value among numbers
	sum     float64 // sum of the numbers
	dates   int
	areDays bool    // dates are numbers of days
	days    float64 // sum of the dates in days
	zeros   bool    // some number has a leading zero
	mean    float64
	kept    *KeptColumn // column of a model; nil: unknown, or none

	numberRange, dayRange columnRange
	middle                float64              // subtracted from numbers before they are rounded
	ties                  *tieCount            // nil: no number is rounded
	odd                   *nodefile.ParseError // error about the first value that is not a number
	form                  *nodefile.ParseError // error about the first number with another decimal character or a thousands separator

	at    int      // first column of the result
	names []string // categories, sorted by bytes, in the order of their columns of the result

	strange int                  // values that are no category of a model
	first   *nodefile.ParseError // error about the first strange value, which is Msg
}

type attributeTable struct {
	c       *FeatureConfig
	rows    nodefile.Reader
	columns []attributeColumn
	use     input.Columns
}

func newAttributeTable(nodes nodefile.Lookup, c *FeatureConfig) *attributeTable {
	return &attributeTable{c: c, rows: nodefile.Reader{
		Every: true, Fields: c.Fields, Lookup: nodes.Lookup, Text: c.Text, SkipBad: c.SkipBad,
		Options: textio.Options{Stdin: c.Stdin, Warn: c.Warn},
	}}
}

func (t *attributeTable) each(ctx context.Context, path string,
	visit func(nodefile.Row) error) error {
	for row, err := range t.rows.Read(ctx, path) {
		if err != nil {
			return err
		}
		if t.use == nil {
			err = t.begin()
		}
		if err == nil {
			err = visit(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin makes the columns that the settings name, or all except nodes and labels.
func (t *attributeTable) begin() error {
	names := t.rows.Names
	t.columns = make([]attributeColumn, len(names))
	named, err := table.Find(t.c.Fields, t.rows.Titles, len(names))
	if err != nil {
		return textio.Fault(t.rows.Name, t.rows.Line,
			"correct {attribute-fields}", "%w", err)
	}
	t.use = t.rows.Columns
	if t.use == nil {
		t.use = input.IgnoreAll(names)
		t.use[t.rows.Node].Use = input.Node
	}
	label := ""
	if t.c.Labels != nil {
		label = t.c.Labels.Title()
	}
	for i, title := range names {
		c := &t.columns[i]
		c.title = title
		c.isNamed = slices.Contains(named, i) && i != t.rows.Node
		c.skipped = i == t.rows.Node || t.use[i].Use == input.Index
		c.isLabel = t.rows.Titles != nil && !c.skipped &&
			(table.IsLabel(title) || title == label)
		c.isOther = named != nil && !c.isNamed || t.c.Names != nil
		if t.use[i].Note == table.TimesNote { // values determine the use of a column, not its title
			t.use[i].Note = ""
		}
		switch {
		case t.use[i].Note != "":
			c.ignored = t.use[i].Note
		case c.isNamed:
		case c.isLabel && title == label:
			c.ignored = "the labels"
		case c.isLabel:
			c.ignored = "titled as labels are"
		}
	}
	if last := &t.columns[len(names)-1]; table.IsNamed(t.rows.Name, nodefile.ContentFile) {
		last.ignored = "labels"
	}
	return t.keep()
}

func (t *attributeTable) keep() error {
	if t.c.Kept != nil {
		return t.keepColumns()
	}
	columns := map[string]*attributeColumn{}
	for i := range t.columns {
		if c := &t.columns[i]; !c.skipped && (c.isNamed || t.c.Fields == nil) {
			columns[c.title] = c
		}
	}
	for at, name := range t.c.Names {
		title, category, isText := strings.Cut(name, " = ")
		if columns[name] != nil { // a number, whose title may contain " = "
			title = name
			isText = false
		}
		c := columns[title]
		if c == nil || c.isKept && (at != c.at+len(c.names) ||
			category <= c.names[len(c.names)-1]) {
			return t.lacks(title)
		}
		if !c.isKept {
			*c = attributeColumn{title: title, isKept: true,
				isNamed: true, isText: isText, at: at}
		}
		if isText {
			c.names = append(c.names, category)
		}
	}
	return nil
}

// keepColumns finds the columns of a model. Columns of one title have the order of the file.
func (t *attributeTable) keepColumns() error {
	columns := map[string][]*attributeColumn{}
	for i := range t.columns {
		if c := &t.columns[i]; !c.skipped && (c.isNamed || t.c.Fields == nil) {
			columns[c.title] = append(columns[c.title], c)
		}
	}
	at := 0
	for i := range t.c.Kept {
		k := &t.c.Kept[i]
		list := columns[k.Title]
		if len(list) == 0 {
			return t.lacks(k.Title)
		}
		columns[k.Title] = list[1:]
		c := list[0]
		*c = attributeColumn{title: k.Title, isKept: true, isNamed: true, isText: k.Categories > 0, at: at, kept: k}
		for _, name := range t.c.Names[at:][:k.Categories] {
			c.names = append(c.names, strings.TrimPrefix(name, k.Title+" = "))
		}
		at += max(1, k.Categories)
	}
	return nil
}

// lacks returns the error for a column of a model that the table lacks.
func (t *attributeTable) lacks(title string) error {
	return textio.Fault(t.rows.Name, t.rows.Line, "add it, or learn the model again",
		"no column %s, which the model was learned with", input.Escape(title))
}

func (t *attributeTable) isMissing(text string, isText bool) bool {
	return table.IsMissing(text, t.c.Missing) || !isText && table.IsMissing(text, table.Missing)
}

func (t *attributeTable) inspect(row nodefile.Row) error {
	for i := range t.columns {
		c := &t.columns[i]
		text := row.Field(i)
		if c.skipped || c.ignored != "" {
			continue
		}
		switch {
		case t.isMissing(string(text), true):
			c.missing++
			continue
		case !c.isText && t.isMissing(string(text), false):
			c.words++
			if len(c.texts.Values) <= mostLevels {
				c.texts.Code(text)
			}
			continue
		}
		c.count++
		if c.isText {
			if _, isKnown := slices.BinarySearch(c.names, string(text)); !isKnown {
				c.strange++
				if c.first == nil {
					c.first = t.rows.Fault(row, i, "learn the model again to use them",
						"%s", words.Quoted(text))
				}
			}
			continue
		}
		if len(c.texts.Values) <= mostLevels {
			c.texts.Code(text)
			c.sample = c.count
		}
		x, fault := table.ParseNumberIn(text, t.c.Text)
		if date, isDate := table.ParseTime(string(text)); isDate {
			c.dates++
			c.days += dayOf(date)
			c.dayRange.add(dayOf(date))
		}
		if fault == "" {
			c.numbers++
			c.sum += x
			c.numberRange.add(x)
			c.zeros = c.zeros || table.HasLeadingZero(string(text))
			if unit := table.UnitOf(text); unit != "" && !slices.Contains(c.units, unit) {
				c.units = append(c.units, unit)
			}
			if math.Abs(x) > math.MaxFloat32 && !c.isOther {
				return t.rows.Fault(row, i, "fix the line, or leave the field empty", "%s is beyond ±%.2g", words.Quoted(text), math.MaxFloat32)
			}
			continue
		}
		if table.IsMissing(string(text), table.Doubtful) {
			c.null++
		}
		if fault != notNumber && !c.isOther {
			return t.rows.Fault(row, i, "fix the line, or leave the field empty", "%s %s", words.Quoted(text), fault)
		}
		if c.odd == nil {
			c.odd = t.rows.Fault(row, i, "fix the line, leave the field empty, or list words for a missing value with {missing}", "%s %s", words.Quoted(text), fault)
		}
		if fix := table.NumberFix(text); fix != "" && c.form == nil {
			c.form = t.rows.Fault(row, i, fix, "%s %s", words.Quoted(text), fault)
		}
	}
	return nil
}

const secondsOfDay = 24 * 60 * 60

// dayOf returns the days since 1970, with the time of the day as a fraction.
func dayOf(date time.Time) float64 { return float64(date.Unix()) / secondsOfDay }

func (t *attributeTable) decide() error {
	var first *nodefile.ParseError
	var used []int
	var further []string
	for i := range t.columns {
		c := &t.columns[i]
		if !c.isNamed && (c.skipped || c.ignored != "") {
			continue
		}
		isNames := c.sample >= fewestNames &&
			100*len(c.texts.Values) >= nameShare*c.sample
		areDates := c.dates == c.count && c.numbers < c.count
		if isNumber := c.numbers == c.count && c.count > 0 && !c.isKept && !c.isOther && c.ignored == ""; isNumber {
			if number := table.HasDoubtfulPoints(c.texts.Values, t.rows.Separator(), t.c.Text); number != "" {
				first = cmp.Or(first, textio.Fault(t.rows.Name, 0, table.PointsFix, "column %s: %s", input.Escape(c.title), table.PointsFault(number)))
				continue
			}
		}
		if c.kept != nil && c.count > 0 && !c.isText && c.kept.Days != areDates && (areDates || c.numbers == c.count) {
			now, then := "numbers", "dates"
			if areDates {
				now, then = then, now
			}
			first = cmp.Or(first, textio.Fault(t.rows.Name, 0, "write "+then+", or learn the model again",
				"column %s holds %s, and the model was learned with %s", input.Escape(c.title), now, then))
			continue
		}
		switch {
		case c.skipped:
			c.ignored = "the node"
		case c.ignored != "":
		case c.isText:
			if c.strange > 0 && t.c.Warn != nil {
				c.first.Msg = fmt.Sprintf(
					"column %s has %s in no category of the model, first %s",
					input.Escape(c.title), words.Counted(c.strange, "value"), c.first.Msg)
				t.c.Warn(c.first)
			}
		case c.count == 0 && c.isKept && t.c.Means != nil:
		case c.count == 0:
			c.ignored = "no value"
		case len(c.units) > 1:
			c.ignored = "amounts in several currencies: " + strings.Join(c.units, ", ")
		case areDates:
			c.areDays = true
			c.mean = c.days / float64(c.count)
			c.numberRange = c.dayRange
		case c.numbers == c.count && (c.isKept || !c.zeros):
			c.mean = c.sum / float64(c.count)
		case c.isKept, !c.isOther && (c.form != nil || c.numbers > 0 && !c.zeros && (isNames || c.numbers+c.null == c.count || len(c.texts.Values) > mostLevels)):
			fault := c.odd
			if c.form != nil {
				fault = c.form
			}
			fault.Msg += ", and column " + input.Escape(c.title) + " holds numbers"
			first = cmp.Or(first, fault)
			continue
		case isNames:
			c.ignored = NamesNote
		case len(c.texts.Values) > mostLevels:
			c.ignored = fmt.Sprintf("more than %d categories", mostLevels)
		default:
			c.isText = true
			c.words = 0
			if c.numbers > 0 && !c.zeros && !c.isOther && t.c.Warn != nil {
				c.odd.Msg = "column " + input.Escape(c.title) +
					" is read as categories, because " + c.odd.Msg
				t.c.Warn(c.odd)
			}
		}
		switch {
		case c.ignored != "" || c.isKept:
		case t.c.Names != nil && (t.c.Fields == nil || c.isNamed):
			c.ignored = "not in the model"
			further = append(further, c.title)
		case c.isOther:
			c.ignored = "not asked for"
		}
		if c.ignored == "" {
			used = append(used, i)
		} else if c.isNamed {
			first = cmp.Or(first,
				textio.Fault(t.rows.Name, 0, "name other columns",
					"column %s cannot be an attribute: %s", input.Escape(c.title),
					c.ignored))
		}
	}
	if further != nil && t.c.Warn != nil {
		t.c.Warn(textio.Fault(t.rows.Name, t.rows.Line, "learn the model again to use them",
			"left out, because the model was learned without: %s",
			input.Escape(strings.Join(further, ", "))))
	}
	if first == nil {
		return nil
	}
	if len(used) > 0 && t.c.Names == nil {
		first.Otherwise = "pass {attribute-fields=" +
			table.FieldList(t.rows.Names, used...) + "}"
	}
	return first
}

// assign gives each column of the file its columns of the result, and returns the number of columns of the result.
// Categories are sorted by bytes, whatever the order of rows.
func (t *attributeTable) assign() (cols int) {
	for i := range t.columns {
		c := &t.columns[i]
		if c.isKept && t.c.Means != nil {
			c.mean = t.c.Means[c.at]
		}
		if !c.isText {
			c.middle = c.numberRange.middle()
			if c.kept != nil {
				c.middle = c.kept.Middle
			}
			if c.numberRange.isRounded {
				c.ties = newTieCount(len(t.columns))
			}
		}
		if t.c.Names != nil {
			continue
		}
		c.at = cols
		switch {
		case c.skipped || c.ignored != "":
		case !c.isText:
			cols++
		default:
			c.names = slices.Sorted(slices.Values(c.texts.Values))
			cols += len(c.names)
		}
	}
	return max(cols, len(t.c.Names))
}

func (t *attributeTable) values(dst []float32, row nodefile.Row) {
	store := func(c *attributeColumn, x float64) {
		dst[c.at] = float32(x - c.middle)
		if c.ties != nil {
			c.ties.add(x, dst[c.at], c.numberRange.most-c.numberRange.least)
		}
	}
	clear(dst)
	for i := range t.columns {
		c := &t.columns[i]
		text := row.Field(i)
		switch missing := t.isMissing(string(text), c.isText); {
		case c.skipped || c.ignored != "" || c.isText && missing:
		case c.isText:
			if level, isKnown := slices.BinarySearch(c.names, string(text)); isKnown {
				dst[c.at+level] = 1
			}
		case missing:
			dst[c.at] = float32(c.mean - c.middle)
		case c.areDays:
			date, _ := table.ParseTime(string(text))
			store(c, dayOf(date))
		default:
			x, _ := table.ParseNumberIn(text, t.c.Text)
			store(c, x)
		}
	}
}

// readTable reads a table with a column of ids. It reads the file twice, first for the types of the columns and then
// for the values, so that no text is kept.
func (r *features) readTable(ctx context.Context) error {
	t := newAttributeTable(r.nodes, r.c)
	if !table.Numbers(r.c.Fields) {
		t.rows.Header = nodefile.HasHeader
	}
	err := t.each(ctx, r.file, t.inspect)
	if err == nil {
		err = t.decide()
	}
	if err != nil {
		return err
	}
	cols := t.assign()
	for i := range t.columns {
		switch c := &t.columns[i]; {
		case c.skipped:
			continue
		case c.ignored != "":
			t.use[i].Note = c.ignored
			continue
		case c.areDays:
			t.use[i].Use = "days"
		case !c.isText:
			t.use[i].Use = "number"
		default:
			t.use[i].Use = words.Counted(len(c.names), "category")
		}
		if missing := t.columns[i].missing + t.columns[i].words; missing > 0 {
			t.use[i].Use += ", " + words.Count(missing) + " missing"
		}
	}
	t.rows.Options.Warn = nil
	r.Columns = t.use
	if cols == 0 {
		return errNoAttributes(r.file, r.Columns)
	}
	for i := range t.columns {
		if c := &t.columns[i]; !c.skipped && c.ignored == "" {
			r.groups = append(r.groups,
				group{c.title, c.at, max(1, len(c.names)), c.names, c.mean, c.areDays, c.middle})
		}
	}
	values := make([]float32, cols)
	r.Table = &sparse.Table{Rows: r.nodes.Len(), Cols: cols}
	err = t.each(ctx, r.file, func(row nodefile.Row) error {
		t.values(values, row)
		return r.add(row.Line, row.ID(), values)
	})
	for i := range t.columns {
		if c := &t.columns[i]; c.ties != nil {
			r.warnOfTies(c.ties, "column "+input.Escape(c.title))
		}
	}
	return err
}

func (r *features) warnOfTies(t *tieCount, column string) {
	if problem := t.problem(column); problem != "" && r.c.Warn != nil {
		r.c.Warn(textio.Fault(r.file, 0, "subtract a number from all, or give their ranks", "%s", problem))
	}
}

func errNoAttributes(file string, columns input.Columns) error {
	reasons := ""
	if slices.ContainsFunc(columns,
		func(c input.Column) bool { return c.Note != "" }) {
		reasons = ": " + columns.String()
	}
	fix := "add one to the column of the node"
	var titles []string
	var dates []int
	for i, c := range columns {
		titles = append(titles, c.Title)
		if c.Note == "dates" {
			dates = append(dates, i)
		}
	}
	if dates != nil {
		fix = "{attribute-fields=" + table.FieldList(titles, dates...) + "} takes dates as days"
	}
	return textio.Fault(file, 0, fix, "no column of attributes%s", reasons)
}
