package report

import (
	"cmp"
	"embed"
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/internal/words"
)

// template describes a page about the JSON document of a command. In a line of text, {key} stands for the value of the
// key. A line may have alternatives joined by |; the first whose keys all have values is used. If there is none, the
// line is omitted. A section without a title is omitted. Rows is a path of keys to the rows of a table or chart:
// results.calibration means all bins of all results, where a bin also has the values of its result.
type template struct {
	Title      string
	Series     struct{ Rows, Key string } // key of the names that have a color
	Summary    []string
	Facts, Run []string
	Sections   []struct {
		Title string
		Text  []string
		Parts []part
	}
}

// part describes a table or a chart of rows, or a table for each row that has a matrix.
type part struct {
	Rows    string
	Middle  string   // key; only rows with the middle one of its different values are used
	Caption string   // a line of text
	Columns []string // keys, or quotients of two keys, a/b
	Pivot   string   // key; each of its values has a column of the table, whose cells are values of Columns[1]
	Folded  bool
	Needs   string // key; rows without this key are omitted from a table
	Skip    int    // number of first rows that a table omits
	First   int    // largest number of rows after them; 0: mostRows
	Grouped bool   // moves rows with equal values in the first column together

	Matrix   string // key of a matrix of numbers, which are written as shares of the sum of their row
	Names    string // key of the names of rows and columns
	Measures bool   // adds precision, recall and F1 of classes

	Chart, X, Y, By   string // name of the chart; keys of a point and of the name of its line
	Scatter, Diagonal bool
	Except            string // value of By whose line is not drawn; method whose matrix is not shown
	Unit              bool   // axes end at 0 and 1
	Count             string // key of the number of items of a point; points with less than 10 items are not drawn
}

type object map[string]any

// field describes how the values of a key are written. margin and mark are the keys of their standard errors and of the
// signs in front of them.
type field struct{ title, format, margin, mark string }

//go:embed pages/*.json
var pageFiles embed.FS

//go:embed pages/fields.tsv
var fieldList string

// fieldOf returns the field of a key. If the key is not listed, its words are the title.
func fieldOf(key string) field {
	for line := range strings.Lines(fieldList) {
		if text, isThere := strings.CutPrefix(line, key+"\t"); isThere {
			cells := append(strings.Split(strings.TrimSuffix(text, "\n"), "\t"), "", "", "")
			return field{cells[0], cells[1], cells[2], cells[3]}
		}
	}
	return field{title: strings.NewReplacer("_", " ", ".", ": ").Replace(key)}
}

// Build returns the page about a document, which must encode as JSON. name is the name of a template, such as classify.
func Build(name string, document any) (*Page, error) {
	var t template
	page, err := pageFiles.ReadFile("pages/" + name + ".json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(page, &t); err != nil {
		return nil, err
	}
	encoded, err := Encode(document)
	if err != nil {
		return nil, err
	}
	var o object
	_ = json.Unmarshal(encoded, &o)
	p := &Page{Title: t.Title, Summary: o.lines(t.Summary), Facts: o.facts(t.Facts),
		Run: o.facts(t.Run)}
	for _, row := range o.rows(t.Series.Rows) {
		if name := text(row[t.Series.Key]); name != "" && !slices.Contains(p.Series, name) {
			p.Series = append(p.Series, name)
		}
	}
	for _, description := range t.Sections {
		s := &Section{Title: o.line(description.Title),
			Text: o.lines(description.Text)}
		if s.Title == "" {
			continue
		}
		for i := range description.Parts {
			o.addPart(s, &description.Parts[i])
		}
		p.Add(s)
	}
	return p, nil
}

// rows returns the objects at a path of keys joined by dots. An object gets the values of the enclosing objects for
// keys that it lacks.
func (o object) rows(path string) []object {
	list := []object{o}
	for key := range strings.SplitSeq(path, ".") {
		var next []object
		for _, parent := range list {
			items, isList := parent[key].([]any)
			if !isList {
				items = []any{parent[key]}
			}
			for _, item := range items {
				if own, isThere := item.(map[string]any); isThere {
					row := maps.Clone(parent)
					maps.Copy(row, own)
					next = append(next, row)
				}
			}
		}
		list = next
	}
	if path == "" {
		return []object{o}
	}
	return list
}

// value returns the value of a key, a path a.b or a quotient a/b. It returns nil if a value is missing.
func (o object) value(key string) any {
	if a, b, isQuotient := strings.Cut(key, "/"); isQuotient {
		x, isNumber := o[a].(float64)
		y, isDivisor := o[b].(float64)
		if !isNumber || !isDivisor || y == 0 {
			return nil
		}
		return x / y
	}
	for parent, remainder, isInside := strings.Cut(key, "."); isInside; parent, remainder, isInside = strings.Cut(key, ".") {
		inner, isThere := o[parent].(map[string]any)
		if !isThere {
			return nil
		}
		o = inner
		key = remainder
	}
	return o[key]
}

func (o object) number(key string) float64 {
	x, isNumber := o.value(key).(float64)
	if !isNumber {
		return math.NaN()
	}
	return x
}

var placeholder = regexp.MustCompile(`\{[a-z0-9_./]+\}`)

// line returns the first alternative whose keys all have values, with the values in place of {key}. It returns "" if
// there is none.
func (o object) line(alternatives string) string {
	for text := range strings.SplitSeq(alternatives, "|") {
		isWhole := true
		text = placeholder.ReplaceAllStringFunc(text, func(match string) string {
			key := match[1 : len(match)-1]
			v := o.value(key)
			isWhole = isWhole && v != nil
			if bytes, isNumber := v.(float64); isNumber && fieldOf(key).format == "MB" {
				return words.Bytes(int64(bytes))
			}
			return o.cell(key, -1).Text
		})
		if isWhole {
			return text
		}
	}
	return ""
}

func (o object) lines(texts []string) (list []string) {
	for _, text := range texts {
		if line := o.line(text); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func (o object) facts(texts []string) (list []Fact) {
	for _, line := range o.lines(texts) {
		name, value, _ := strings.Cut(line, ": ")
		list = append(list, Fact{name, value})
	}
	return list
}

// cell returns the value of a key as a cell. decimals is the number of decimals of the column, or −1 if it is not
// known.
func (o object) cell(key string, decimals int) Cell {
	f := fieldOf(key)
	switch v := o.value(key).(type) {
	case string:
		return Cell{Text: v, Mark: text(o[f.mark])}
	case []any:
		return Count(len(v))
	case bool:
		return Cell{Text: map[bool]string{true: "yes", false: "no"}[v]}
	case float64:
		margin, _ := o.value(f.margin).(float64)
		c := format(f.format, v, max(0, margin), decimals)
		c.Mark = text(o[f.mark])
		return c
	}
	return Cell{Text: "–"}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// format returns the cell of a number x with the standard error margin. The format % is a percentage, n an integer, MB
// millions of bytes, g all digits, s four digits, +% a difference of percentages, p a p value, and a digit a number of
// decimals. Any
// other format gives decimals decimals, or four digits if decimals is negative.
func format(format string, x, margin float64, decimals int) Cell {
	switch format {
	case "%":
		return Percent(x, margin)
	case "n":
		return Count(int(math.Round(x)))
	case "g":
		if x == math.Trunc(x) && math.Abs(x) < 1e15 {
			return Count(int(x))
		}
		return Number(x, strconv.FormatFloat(x, 'g', -1, 64))
	case "MB":
		if x >= 1e8 {
			return Number(x/1e6, words.Count(int(math.Round(x/1e6))))
		}
		return Number(x/1e6, strconv.FormatFloat(x/1e6, 'g', 3, 64))
	case "+%":
		c := Percent(x, margin)
		if x >= 0.0005 {
			c.Text = "+" + c.Text
		}
		return c
	case "p":
		return Number(x, PValue(x))
	case "s": // short times stand beside long ones
		return Decimal(x, decimalsOf([]float64{x}), 0)
	}
	if fixed, err := strconv.Atoi(format); err == nil {
		decimals = fixed
	}
	if decimals >= 0 {
		return Decimal(x, decimals, margin)
	}
	return Number(x, strconv.FormatFloat(x, 'g', 4, 64))
}

const (
	mostRows   = 400 // largest number of rows of a table
	mostNames  = 20  // largest number of rows and columns of a matrix of classes
	mostTables = 6   // largest number of matrices
	leastCount = 10  // smallest number of items of a point
)

// addPart adds a table, a chart or tables of matrices to a section.
func (o object) addPart(s *Section, p *part) {
	rows := o.rows(p.Rows)
	if p.Middle != "" {
		var values []any
		for _, row := range rows {
			if v := row[p.Middle]; !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		rows = slices.DeleteFunc(rows,
			func(row object) bool { return row[p.Middle] != values[(len(values)-1)/2] })
	}
	switch {
	case p.Matrix != "":
		for _, row := range rows {
			cells, isThere := row[p.Matrix].([]any)
			if isThere && len(s.Tables) < mostTables && (p.Except == "" || row["method"] != p.Except) {
				s.Tables = append(s.Tables, row.matrix(p, cells))
			}
		}
	case p.Chart != "":
		s.Charts = append(s.Charts, p.chart(rows, o.line(p.Caption)))
	case p.Pivot != "":
		s.Tables = append(s.Tables, p.pivot(rows, o.line(p.Caption)))
	default:
		s.Tables = append(s.Tables, p.table(rows, o.line(p.Caption)))
	}
}

// table returns a table with a column for each key that some of the rows have.
func (p *part) table(rows []object, caption string) *Table {
	t := &Table{Caption: caption, Folded: p.Folded, Bars: map[int]bool{}}
	if p.Needs != "" {
		rows = slices.DeleteFunc(rows,
			func(row object) bool { return row.value(p.Needs) == nil })
	}
	if p.Grouped {
		first := map[any]int{}
		for i, row := range slices.Backward(rows) {
			first[row[p.Columns[0]]] = i
		}
		slices.SortStableFunc(rows,
			func(a, b object) int { return cmp.Compare(first[a[p.Columns[0]]], first[b[p.Columns[0]]]) })
	}
	rows = rows[min(p.Skip, len(rows)):]
	rows = rows[:min(cmp.Or(p.First, mostRows), len(rows))]
	t.Rows = make([][]Cell, len(rows))
	for _, key := range p.Columns {
		var numbers []float64
		isThere := false
		for _, row := range rows {
			isThere = isThere || row.value(key) != nil
			if x := row.number(key); x == x {
				numbers = append(numbers, x)
			}
		}
		if !isThere {
			continue
		}
		t.Bars[len(t.Head)] = fieldOf(key).format == "n"
		t.Head = append(t.Head, fieldOf(key).title)
		for i, row := range rows {
			t.Rows[i] = append(t.Rows[i],
				row.cell(key, decimalsOf(numbers)))
		}
	}
	return t
}

// decimalsOf returns the number of decimals for a column: enough for four digits of the largest number. Zeros at the
// end of all numbers are omitted.
func decimalsOf(numbers []float64) (decimals int) {
	largest := math.SmallestNonzeroFloat64
	for _, x := range numbers {
		largest = max(largest, math.Abs(x))
	}
	limit := min(9, max(0, 3-int(math.Floor(math.Log10(largest)))))
	for _, x := range numbers {
		_, digits, _ := strings.Cut(strconv.FormatFloat(x, 'f', limit, 64), ".")
		decimals = max(decimals, len(strings.TrimRight(digits, "0")))
	}
	return decimals
}

// pivot returns a table with a row for each value of Columns[0] and a column for each value of Pivot. The cells are
// values of Columns[1].
func (p *part) pivot(rows []object, caption string) *Table {
	t := &Table{Caption: caption, Head: []string{fieldOf(p.Columns[0]).title}}
	for _, row := range rows {
		name := text(row[p.Columns[0]])
		column := row.cell(p.Pivot, -1).Text
		if !slices.Contains(t.Head, column) {
			t.Head = append(t.Head, column)
		}
		i := slices.IndexFunc(t.Rows,
			func(cells []Cell) bool { return cells[0].Text == name })
		if i < 0 {
			i = len(t.Rows)
			t.Rows = append(t.Rows, Texts(name))
		}
		t.Rows[i] = append(t.Rows[i],
			row.cell(p.Columns[1], -1))
	}
	if len(t.Head) == 2 {
		t.Bars = map[int]bool{1: true}
	}
	return t
}

func (p *part) chart(rows []object, caption string) *Chart {
	c := &Chart{Name: p.Chart, Caption: caption, X: Axis{Title: fieldOf(p.X).title},
		Y: Axis{Title: fieldOf(p.Y).title}, Diagonal: p.Diagonal}
	for _, row := range rows {
		x, y := row.number(p.X), row.cell(p.Y, -1)
		if fieldOf(p.X).format == "%" {
			x *= 100
		}
		if math.IsNaN(x) || !y.IsNumber || row[p.By] == p.Except ||
			p.Count != "" && row.number(p.Count) < leastCount {
			continue
		}
		c.Add(text(row[p.By]), x, y).Scatter = p.Scatter
	}
	low, high := c.Extent()
	switch {
	case p.Unit:
		c.X.High, c.Y.High = 1, 1
	case p.Diagonal:
		c.X.Low, c.X.High = min(low.X, low.Y), max(high.X, high.Y)
		c.Y.Low, c.Y.High = c.X.Low, c.X.High
	case low.X > 0 && high.X >= 5*low.X:
		c.X.Log = true
		c.X.Title += " (logarithmic)"
	}
	return c
}

func PValue(p float64) string {
	switch {
	case p < 0.001:
		return "< 0.001"
	case p > 0.99:
		return "1"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// matrix returns a table of percentages of the sum of a row, which also shade the cells. It has at most the 20 rows
// with the largest sums, and their columns.
func (o object) matrix(p *part, cells []any) *Table {
	t := &Table{Caption: o.line(p.Caption), Head: []string{"class"}}
	names, _ := o[p.Names].([]any)
	number := func(i, j int) float64 { return cells[i].([]any)[j].(float64) }
	var order []int
	sums := make([]float64, len(cells))
	columnSums := make([]float64, len(cells))
	for i := range cells {
		order = append(order, i)
		for j := range cells {
			sums[i] += number(i, j)
			columnSums[j] += number(i, j)
		}
	}
	if p.Measures || len(order) > mostNames {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sums[b], sums[a]) })
	}
	if len(order) > mostNames {
		order = order[:mostNames]
		t.Caption += " The 20 largest classes."
	}
	if p.Measures {
		t.Head = append(t.Head, "nodes", "precision, %", "recall, %", "F1, %")
	}
	t.Turned = len(t.Head)
	for _, i := range order {
		t.Head = append(t.Head, text(names[i]))
		row := Texts(text(names[i]))
		if p.Measures {
			right := number(i, i)
			row = append(row, Count(int(sums[i])), Percent(right/max(1, columnSums[i]), 0),
				Percent(right/max(1, sums[i]), 0), Percent(2*right/max(1, sums[i]+columnSums[i]), 0))
		}
		for _, j := range order {
			share := number(i, j) / max(1, sums[i])
			c := Number(number(i, j), strconv.FormatFloat(100*share, 'f', 0, 64))
			c.Shade = share
			row = append(row, c)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Caption += " Shade: none at 0, full at 100 %."
	return t
}
