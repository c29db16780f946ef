package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/heatwalk/heatwalk/internal/words"
)

// Table is a table of a page. Every row must have len(Head) cells; its first cell is its title.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]Cell
	Bars    map[int]bool // numbers of the columns that have bars
	Folded  bool         // the page shows the table only on demand
	Turned  int          // from this column on, titles read from bottom to top; 0: none do
}

type Cell struct {
	Text     string
	IsNumber bool
	Value    float64
	Margin   float64 // standard error of a number; 0: none
	Mark     string  // a sign in front of the text; bestMark makes it bold
	Shade    float64 // shade of the background, 0 to 1
}

const bestMark = "*"

func Texts(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}

// Number returns the cell of a number that is written as text. The text of NaN is a dash.
func Number(value float64, text string) Cell {
	if math.IsNaN(value) {
		return Cell{Text: "–"}
	}
	return Cell{Text: text, IsNumber: true, Value: value}
}

// Decimal returns the cell of a number with the given number of decimals. If stderr is not 0, the standard error
// follows in parentheses.
func Decimal(value float64, decimals int, stderr float64) Cell {
	c := Number(value, strings.Replace(strconv.FormatFloat(value, 'f', decimals,
		64), "-", "−", 1))
	c.Margin = stderr
	if stderr > 0 {
		c.Text += " (" + strconv.FormatFloat(stderr, 'f', decimals, 64) + ")"
	}
	return c
}

func Percent(share, stderr float64) Cell {
	return Decimal(100*share, 1, 100*stderr)
}

// Count returns the cell of a count, with commas between groups of three digits.
func Count(n int) Cell {
	return Number(float64(n), words.Count(n))
}

func (t *Table) numeric(column int) bool {
	return slices.ContainsFunc(t.Rows,
		func(row []Cell) bool { return row[column].IsNumber })
}

func (t *Table) largest() []float64 {
	list := make([]float64, len(t.Head))
	for _, row := range t.Rows {
		for i, c := range row {
			list[i] = max(list[i], c.Value)
		}
	}
	return list
}

// Text returns the table as text with aligned columns. The mark of a cell is before its text.
func (t *Table) Text() string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 1, ' ', 0)
	for _, row := range slices.Concat([][]Cell{Texts(t.Head...)}, t.Rows) {
		for i, c := range row[:len(t.Head)] {
			if i > 0 {
				fmt.Fprintf(w, "\t%1s ", c.Mark)
			}
			fmt.Fprint(w, c.Text)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	return trailing.ReplaceAllString(b.String(), "")
}

var trailing = regexp.MustCompile(`(?m) +$`)

// CSV returns the table as CSV. A column that has standard errors or marks is followed by a column of them.
func (t *Table) CSV() string {
	rows := make([][]string, 1+len(t.Rows))
	for column, title := range t.Head {
		hasMargin := false
		hasMark := false
		rows[0] = append(rows[0], title)
		for i, row := range t.Rows {
			c := row[column]
			hasMargin = hasMargin || c.Margin > 0
			hasMark = hasMark || c.Mark != ""
			if c.IsNumber {
				c.Text = plain(c.Value)
			}
			rows[1+i] = append(rows[1+i], c.Text)
		}
		if hasMargin {
			rows[0] = append(rows[0], title+", standard error")
			for i, row := range t.Rows {
				rows[1+i] = append(rows[1+i], plain(row[column].Margin))
			}
		}
		if hasMark {
			rows[0] = append(rows[0], title+", mark")
			for i, row := range t.Rows {
				rows[1+i] = append(rows[1+i], row[column].Mark)
			}
		}
	}
	var b strings.Builder
	_ = csv.NewWriter(&b).WriteAll(rows)
	return b.String()
}

func plain(x float64) string {
	return strconv.FormatFloat(x, 'g', 6, 64)
}
