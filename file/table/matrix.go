package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
)

// Commands that write the values of a matrix that are not 0 as rows. SEPARATOR stands for its separator.
const (
	entriesOfTable = `python3 -c "import csv, sys; t, *rows = csv.reader(open(sys.argv[1], encoding='utf-8-sig'), delimiter='SEPARATOR'); ` +
		`w = csv.writer(sys.stdout, delimiter='SEPARATOR'); w.writerow(['source', 'target', 'weight']); ` +
		`w.writerows([r[0], t[i], r[i]] for r in rows for i in range(1, len(r)) if r[i] and float(r[i]))" {file} > {copy}`
	entriesOfBlanks = `awk 'NR == 1 { split($0, t); print "source", "target", "weight"; next } ` +
		`{ for (i = 2; i <= NF; i++) if ($i != 0) print $1, t[i], $i }' {file} > {copy}`
	entriesOfNumbers = `awk -F 'SEPARATOR' -v OFS='\t' '{ for (j = 1; j <= NF; j++) if ($j != 0) print NR, j, $j }' {file} > {copy}`
)

// isBit reports whether a text is 0 or 1.
func isBit(text string) bool { return slices.Contains([]string{"0", "1", "0.0", "1.0"}, text) }

// bitColumns returns the columns with the values 0 and 1 alone.
func (c *chooser) bitColumns() (columns []int) {
	for i := range c.s.Titles {
		if values := c.values(i); len(values) > 0 && all(values, isBit) {
			columns = append(columns, i)
		}
	}
	return columns
}

// takeWide takes all columns but the first as labels if they have the values 0 and 1 alone and the request allows it.
func (c *chooser) takeWide() {
	bits := c.bitColumns()
	if !c.r.Wide || !c.HasHeader || c.r.Fields != nil || len(bits) < 2 || !slices.Equal(bits, count(1, len(c.s.Titles))) {
		return
	}
	c.assign(0, input.Node)
	for _, i := range bits {
		c.use[i] = input.Label
	}
	c.Wide = bits
}

// askMatrix returns the question about a table whose columns are the columns of a matrix: columns of 0 and 1 behind a
// column of names, or columns titled as its first column, or columns of 0 and 1 alone. To choose two of the columns
// would lose the others. It returns nil for other tables.
func (c *chooser) askMatrix() *input.Error {
	titles := c.s.Titles
	rows := c.rows()
	isLabel := !c.r.IsEdges && c.r.Value == input.Label
	if c.r.IsTyped || c.r.Option == "" || len(rows) < 2 || len(titles) < 3 || !(c.r.IsEdges || isLabel) {
		return nil
	}
	bits := c.bitColumns()
	isAdjacency := c.HasHeader && len(rows) == len(titles)-1
	for i, row := range rows {
		isAdjacency = isAdjacency && len(row) == len(titles) && row[0] == titles[i+1] && all(row[1:], IsNumber)
	}
	separator := strings.Trim(strconv.QuoteRune(rune(c.s.Separator)), "'")
	command := strings.ReplaceAll(entriesOfTable, "SEPARATOR", separator)
	if c.s.Separator == Blanks {
		command = entriesOfBlanks
	}
	switch {
	case c.HasHeader && slices.Equal(bits, count(1, len(titles))) && isLabel:
		return &input.Error{Msg: "columns of 0 and 1, one for each label", Fix: "pass {multi-label} to read all of them, or name one of them with {" + c.r.Option + "}"}
	case isLabel:
		return nil
	case isAdjacency:
		return &input.Error{Msg: "a matrix with a row and a column for each node", Fix: "write its entries as rows: " + command}
	case c.HasHeader && slices.Equal(bits, count(1, len(titles))):
		return &input.Error{Msg: "a matrix of 0 and 1", Fix: "write its entries as rows: " + command}
	case !c.HasHeader && slices.Equal(bits, count(0, len(titles))):
		return &input.Error{Msg: "a matrix of 0 and 1", Fix: "write its entries as rows: " + strings.ReplaceAll(entriesOfNumbers, "SEPARATOR", separator)}
	}
	return nil
}

// count returns the numbers lo ≤ i < hi.
func count(lo, hi int) (numbers []int) {
	for i := lo; i < hi; i++ {
		numbers = append(numbers, i)
	}
	return numbers
}
