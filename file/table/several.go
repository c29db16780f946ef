package table

import (
	"slices"
	"strconv"
	"strings"

	"github.com/heatwalk/heatwalk/file/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// rowsOfCells is the command that writes a row for each pair of ids of a table whose cells of two columns have several
// ids. SEPARATOR, FIRST and SECOND stand for the separator and the columns.
const rowsOfCells = `python3 -c "import csv, re, sys; ids = lambda cell: [i.strip() for i in re.split('[;,]', cell) if i.strip()] or ['']; ` +
	`csv.writer(sys.stdout, delimiter='SEPARATOR').writerows([*r[:FIRST], a, *r[FIRST+1:SECOND], b, *r[SECOND+1:]] ` +
	`for r in csv.reader(open(sys.argv[1], encoding='utf-8-sig'), delimiter='SEPARATOR') for a in ids(r[FIRST]) for b in ids(r[SECOND]))" {file} > {copy}`

// checkCells returns a question if cells of the ends have several ids, joined by semicolons or commas. This is so if in
// most cells with such a character all parts are addresses with @, or ids of other cells.
func (c *chooser) checkCells() error {
	if !c.r.IsEdges || c.r.Fields != nil || c.r.IsTyped || c.s.Separator == Blanks {
		return nil
	}
	ends := []int{c.Column[input.Source], c.Column[input.Target]}
	slices.Sort(ends)
	alone := map[string]bool{}
	var joined []string
	for _, row := range c.rows() {
		if len(row) != len(c.s.Titles) { // a bad line
			continue
		}
		for _, i := range ends {
			cell := row[i]
			if strings.ContainsAny(cell, ";,") {
				joined = append(joined, cell)
			} else {
				alone[cell] = true
			}
		}
	}
	first := ""
	count := 0
	for _, cell := range joined {
		parts := strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == ',' })
		areIDs := len(parts) > 1 && all(parts, func(part string) bool {
			part = strings.TrimSpace(part)
			return alone[part] || strings.Contains(part, "@")
		})
		if areIDs {
			if count++; count == 1 {
				first = cell
			}
		}
	}
	if count == 0 || 2*count < len(joined) {
		return nil
	}
	command := strings.NewReplacer("SEPARATOR", strings.Trim(strconv.QuoteRune(rune(c.s.Separator)), "'"),
		"FIRST", strconv.Itoa(ends[0]), "SECOND", strconv.Itoa(ends[1])).Replace(rowsOfCells)
	return &input.Error{Msg: words.Quoted(first) + " has several ids (" + words.Counted(count, "such cell") + ")",
		Fix: "write each pair on a row: " + command + ", or name the columns with {" + c.r.Option + "} if such a cell is one id"}
}
