package lines

import (
	"bytes"
	"slices"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

// head is the first data line of an edge list with a sample of later lines.
type head struct {
	s    table.Sample
	c    *Settings
	name string
	lay  *Layout
}

// layoutFrom determines the layout from one line, which has the given number, and from tail, the text after
// it. konect states that the file begins as a KONECT file. If layoutFrom returns an error, only the line
// numbers of the layout are set.
func (c *Settings) layoutFrom(name string, konect bool, number int64,
	line, tail []byte) (*Layout, error) {
	lay := &Layout{hasNamedWeight: c.Weight != "", reciprocal: c.Reciprocal, zerosCount: c.Unweighted,
		line: number, first: number, source: -1, target: -1, weight: -1, kind: -1,
		time: -1, sep: table.Blanks}
	lay.sep = c.separatorOf(name, konect, line)
	lay.text = c.Text
	if c.attributeLayout(name, lay, line, tail) {
		lay.Columns = input.Columns{{Title: "column 1", Use: input.Source},
			{Title: "column 2", Use: input.Target}}
		if lay.weight >= 0 {
			lay.Columns = append(lay.Columns,
				input.Column{Title: "attribute weight", Use: input.Weight})
		}
		(&head{c: c, lay: lay}).separateKinds()
		return lay, nil
	}
	var f table.Fields
	if err := f.Split(line, lay.sep); err != nil {
		return lay, lay.splitFault(name, number, err)
	}
	f.DropEmpty(2)
	h := &head{s: table.Sample{Titles: f.Strings(), Separator: lay.sep, File: name, Line: number,
		SeparatorOf: func(line []byte) byte { return c.separatorOf(name, false, line) }},
		c: c, name: name, lay: lay}
	h.s.ReadRows(tail, nil)
	header := h.s.DropTitles(lay.line == 0)
	if err := h.choose(konect); err != nil {
		return lay, err
	}
	if lay.weight >= 0 {
		lay.numberSettings = h.s.NumberSettings(lay.weight)
		units := h.s.Units(lay.weight)
		if len(units) > 1 {
			e := textio.Fault(name, number, "leave the column out with "+lay.WithoutWeight(), "column %s has amounts in several currencies: %s",
				input.Escape(lay.Columns[lay.weight].Title), strings.Join(units, ", "))
			e.Columns = lay.Columns
			return lay, e
		}
		lay.unit = strings.Join(units, "")
	}
	if lay.HasHeader() && header != nil {
		lay.header = header
		lay.headerLine = []byte(strings.Join(header, string(rune(lay.sep))))
	}
	if lay.HasHeader() {
		h.findDirection()
	}
	lay.integers = [2]bool{!c.TextIDs[0] && table.HasIntegers(&h.s, lay.source, lay.HasHeader()),
		!c.TextIDs[1] && table.HasIntegers(&h.s, lay.target, lay.HasHeader())}
	lay.template = Template{Sep: lay.sep, Weighted: lay.columns == 3,
		Limit: 1 << 32}
	lay.simple = lay.source == 0 && lay.target == 1 &&
		(lay.columns == 2 || lay.columns == 3) && !lay.hasCodes() &&
		!lay.text.HasDecimalComma() && lay.text.Thousands == "" && !lay.zerosCount && !lay.reciprocal
	h.separateKinds()
	return lay, nil
}

// separatorOf returns the separator of the fields of a line. Lines of a KONECT file mix blanks and tabs, and
// its ids contain neither.
func (c *Settings) separatorOf(name string, konect bool, line []byte) byte {
	if konect && c.Text.Delimiter == "" {
		return table.Blanks
	}
	return table.SeparatorOf(c.Text, name, bytes.TrimRight(line, table.Blank))
}

func (h *head) fault(fix, format string, args ...any) error {
	return textio.Fault(h.name, h.lay.line, fix, format, args...)
}

// choose determines the columns, and whether the first data line is a header. In a KONECT file without the
// setting Fields, the columns are source, target and weight, without a header.
func (h *head) choose(konect bool) error {
	lay := h.lay
	c := h.c
	if table.NamesEnds(h.s.Titles) {
		h.s.NameRows()
	}
	r := &table.Request{IsEdges: true, Bipartite: c.Bipartite, Fields: c.Fields, Option: "fields", Header: c.Header, Signed: c.Signed, Reciprocal: c.Reciprocal, Text: c.Text,
		IsTyped: lay.line == 0,
		Named:   map[string]string{input.Weight: c.Weight, input.Kind: c.Kind, input.Time: c.Time}}
	if n := len(h.s.Titles); konect && c.Fields == nil && n > 1 && n < 5 {
		r.Fields = []string{"1", "2", "3"}[:min(n, 3)]
		r.Header = nodefile.NoHeader
	}
	t, err := h.s.Choose(r)
	if t.HasHeader {
		lay.first++
	}
	if err != nil {
		return err
	}
	lay.source = t.Column[input.Source]
	lay.target = t.Column[input.Target]
	lay.weight = t.Column[input.Weight]
	lay.kind = t.Column[input.Kind]
	lay.time = t.Column[input.Time]
	if lay.form = c.TimeForm; lay.time >= 0 {
		lay.form = lay.form.Among(h.s.Values(lay.time))
	}
	if empty := h.emptyTerm(); empty > 0 {
		return h.fault("separate subject, predicate and object by one tab each, by the line of docs/kinds.md#triples",
			"column %d of these triples is empty, because two tabs follow each other", empty)
	}
	lay.AreEvents = t.AreEvents
	lay.Columns = t.Columns
	if lay.weight >= 0 && c.Reciprocal {
		lay.Columns[lay.weight].Note = "reciprocal"
	}
	if r.Fields == nil || !table.Numbers(r.Fields) || konect && len(h.s.Titles) < 4 {
		lay.columns = len(h.s.Titles)
	}
	if t.HasHeader && lay.columns > 0 {
		// It calls a first column without a title "row".
		titles := slices.Clone(h.s.Titles)
		if titles[0] == "" {
			titles[0] = "row"
		}
		text := strings.Join(titles, ", ")
		if len(text) > 200 {
			text = text[:200] + "…"
		}
		lay.titles = text
	}
	if t.Warning != nil {
		c.Warn(h.fault(t.Warning.Fix, "%s", t.Warning.Msg))
	}
	return nil
}

// emptyTerm returns the number of a column without text between the ends of a table whose ends are terms of RDF in angle
// brackets, or 0. Such a column stands for a repeated tab, so that settings of columns by number name other terms.
func (h *head) emptyTerm() int {
	lay := h.lay
	if lay.sep != table.Tab || lay.HasHeader() || len(h.s.Titles) <= max(lay.source, lay.target) {
		return 0
	}
	rows := slices.Concat([][]string{h.s.Titles}, h.s.Rows)
	for i := min(lay.source, lay.target) + 1; i < max(lay.source, lay.target); i++ {
		isTerm := func(row []string) bool {
			return i < len(row) && row[i] == "" && strings.HasPrefix(row[lay.source], "<") && strings.HasSuffix(row[lay.source], ">")
		}
		if !slices.ContainsFunc(rows, func(row []string) bool { return !isTerm(row) }) {
			return i + 1
		}
	}
	return 0
}

// attributeLayout determines the layout of an edge list of NetworkX, whose lines end in {} or {'weight': 3}.
// For other text it returns false.
func (c *Settings) attributeLayout(name string, lay *Layout,
	line, tail []byte) bool {
	ids, _, ok := cutAttributes(line)
	sep := table.SeparatorOf(c.Text, name, ids)
	var f table.Fields
	if c.Kind != "" || c.Time != "" || !ok || f.Split(ids, sep) != nil ||
		len(f.Text) != 2 || c.Fields != nil && !table.Numbers(c.Fields) {
		return false
	}
	lay.sep = sep
	lay.source = 0
	lay.target = 1
	lay.columns = 2
	lay.attributes = true
	switch {
	case c.Fields == nil && (hasWeight(line) || hasWeight(tail)):
		lay.weight = 2
		lay.columns = 3
	case c.Fields != nil:
		lay.columns = 0 // weights may be ignored
		if len(c.Fields) == 3 {
			lay.weight = 2
		}
	}
	return true
}

// cutAttributes removes a dictionary and the separator before it from the end of a line.
func cutAttributes(line []byte) (ids, attributes []byte, ok bool) {
	const separators = table.Blank + ",;"
	line = bytes.TrimRight(line, table.Blank)
	brace := bytes.IndexByte(line, '{')
	if brace < 1 || line[len(line)-1] != '}' ||
		!bytes.ContainsRune([]byte(separators), rune(line[brace-1])) {
		return nil, nil, false
	}
	return bytes.TrimRight(line[:brace], separators), line[brace:], true
}

// weightKeys has the key of a weight as Python writes it and as JSON has it.
var weightKeys = [][]byte{[]byte(`'weight':`), []byte(`"weight":`)}

func hasWeight(text []byte) bool {
	return bytes.Contains(text, weightKeys[0]) ||
		bytes.Contains(text, weightKeys[1])
}

// weightOf returns the text of the weight in a dictionary. If there is none, it returns "1", the default of
// NetworkX. It accepts a NumPy number: np.float64(3.0).
func weightOf(attributes []byte) []byte {
	for _, key := range weightKeys {
		if _, value, ok := bytes.Cut(attributes, key); ok {
			value = value[:bytes.IndexAny(value, ",}")]
			if open := bytes.IndexByte(value, '('); open >= 0 {
				value = bytes.TrimRight(value[open+1:], ") ")
			}
			return bytes.Trim(value, table.Blank)
		}
	}
	return []byte("1")
}

// split splits a line into fields. The weight in a dictionary at the end becomes the third field.
func (lay *Layout) split(f *table.Fields, line []byte) error {
	if !lay.attributes {
		return f.Split(line, lay.sep)
	}
	ids, attributes, ok := cutAttributes(line)
	if !ok {
		return f.Split(line, lay.sep)
	}
	if err := f.Split(ids, lay.sep); err != nil {
		return err
	}
	if lay.weight >= 0 || hasWeight(attributes) {
		f.Text = append(f.Text, weightOf(attributes))
		f.Start = append(f.Start, len(line)-len(attributes))
		f.Padded = append(f.Padded, false)
	}
	return nil
}
