package report

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is a table of a page. Every row is as long as Head; its first cell is its title.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]Cell

	// Data are the rows of the CSV, the first one the titles; nil: the texts of Head and Rows.
	Data [][]string

	Turned bool // titles of columns are read from bottom to top, so that columns are narrow
	Prose  bool // the last column is text, not numbers; the page offers no copy
}

// Cell is a cell of a table.
type Cell struct {
	Text   string
	Mark   string // a sign in front of the text
	Strong bool
	Shade  float64 // 0 to 1, of the background
}

// shades is the number of different backgrounds of cells.
const shades = 10

// Class returns the class of the background, "" for none.
func (c Cell) Class() string {
	if n := int(math.Round(shades * min(1, max(0, c.Shade)))); n > 0 {
		return "h" + strconv.Itoa(n)
	}
	return ""
}

// Texts returns cells of texts.
func Texts(texts ...string) []Cell {
	var cells []Cell
	for _, t := range texts {
		cells = append(cells, Cell{Text: t})
	}
	return cells
}

// rows returns the texts of a table, the titles first.
func (t *Table) rows() [][]string {
	rows := [][]string{t.Head}
	for _, row := range t.Rows {
		var texts []string
		for _, c := range row {
			texts = append(texts, c.Text)
		}
		rows = append(rows, texts)
	}
	return rows
}

// CSV returns the table as lines of values separated by commas.
func (t *Table) CSV() (string, error) {
	rows := t.Data
	if rows == nil {
		rows = t.rows()
	}
	var b strings.Builder
	err := csv.NewWriter(&b).WriteAll(rows)
	return b.String(), err
}

// LaTeX returns the table as an environment tabular with the lines of package booktabs.
func (t *Table) LaTeX() string {
	var b strings.Builder
	b.WriteString("% requires \\usepackage{booktabs}\n\\begin{tabular}{l" + strings.Repeat("r", len(t.Head)-1) + "}\n\\toprule\n")
	line := func(cells []string) { b.WriteString(strings.Join(cells, " & ") + " \\\\\n") }
	escaped := slices.Clone(t.Head)
	for i := range escaped {
		escaped[i] = latex(escaped[i])
	}
	line(escaped)
	b.WriteString("\\midrule\n")
	for _, row := range t.Rows {
		var cells []string
		for _, c := range row {
			text := latex(c.Text)
			if c.Strong {
				text = "\\textbf{" + text + "}"
			}
			cells = append(cells, latex(c.Mark)+text)
		}
		line(cells)
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	return b.String()
}

var latexSigns = strings.NewReplacer(
	"\\", "\\textbackslash{}", "{", "\\{", "}", "\\}", "&", "\\&", "%", "\\%", "$", "\\$", "#", "\\#", "_", "\\_",
	"~", "\\textasciitilde{}", "^", "\\textasciicircum{}", "<", "$<$", ">", "$>$", "|", "$|$",
	"±", "$\\pm$", "≈", "$\\approx$", "−", "$-$", "≥", "$\\geq$", "≤", "$\\leq$", "·", "$\\cdot$", "†", "$\\dagger$",
	"α", "$\\alpha$", "β", "$\\beta$", "γ", "$\\gamma$", "λ", "$\\lambda$", "ν", "$\\nu$", "κ", "$\\kappa$", "₀", "$_0$",
)

// latex escapes a text for LaTeX.
func latex(text string) string { return latexSigns.Replace(text) }
