package table

import (
	"fmt"
	"math"
	"strings"

	"github.com/heatwalk/heatwalk/internal/input"
	"github.com/heatwalk/heatwalk/internal/words"
)

// NumberColumn has the values of a column, from which the form of its numbers follows.
type NumberColumn struct {
	Text  input.Text // settings
	Limit float64    // of absolute values; 0: none

	SkipsOthers bool // values that are numbers in no form do not count

	// In each form, the number of values that are numbers, and their sum.
	Count [3]int
	Sum   [3]float64

	total    int
	isWhole  bool   // some value has no point
	IsPlain  bool   // some point cannot be between thousands
	Pointed  string // a value whose point may be there
	hasComma string // a value with a comma
}

// Forms of the numbers of a column.
const (
	UnknownForm  = -1
	GivenForm    = 0 // that of the settings
	DecimalComma = 1
	DecimalPoint = 2 // with commas or other characters between thousands
)

// FormNames has a description of each form.
var FormNames = [...]string{"", "a decimal comma, as in 1.002,27", "a decimal point, as in 1,002.27"}

// TextOf returns the settings for a form.
func (c *NumberColumn) TextOf(form int) input.Text {
	t := c.Text
	if form > GivenForm {
		t.Decimal = ""
		t.Thousands = [...]string{DecimalComma: ".", DecimalPoint: ","}[form]
	}
	return t
}

// Add adds a value. It returns its number by the settings, or why it is none that the column holds.
func (c *NumberColumn) Add(value []byte) (x float64, fault string) {
	c.total++
	text := string(value)
	before := c.Count
	for form := range c.Count {
		y := x
		wrong := fault
		if form == GivenForm || !IsInteger(text) {
			y, wrong = ParseNumber(PlainNumber(value, c.TextOf(form)), 64)
		}
		if wrong == "" && c.Limit > 0 && math.Abs(y) > c.Limit {
			wrong = fmt.Sprintf("is beyond ±%.2g", c.Limit)
		}
		if wrong == "" {
			c.Count[form]++
			c.Sum[form] += y
		}
		if form == GivenForm {
			x = y
			fault = wrong
		}
	}
	if c.SkipsOthers && c.Count == before {
		c.total--
		return x, fault
	}
	integer, fraction, hasPoint := strings.Cut(text, ".")
	switch {
	case len(integer) > 3 || !IsInteger(integer) || hasPoint &&
		(integer == "0" || len(fraction) != 3 || !IsInteger("1"+fraction)):
		c.IsPlain = true
	case !hasPoint:
		c.isWhole = true
	default:
		c.Pointed = text
	}
	if strings.Contains(text, ",") {
		c.hasComma = text
	}
	return x, fault
}

// PointFault says that a number has a point between thousands or in front of three decimals, and PointFix is the remedy.
const (
	PointFault = " may have a point between thousands, or three decimals"
	PointFix   = "pass {thousands=.} or {decimal=.}"
)

// Form returns the form of all values: that of the settings, or else the only other one. It is UnknownForm if some value
// is no number. The error is about numbers with points between thousands or in front of three decimals, where no setting
// decides: some number has no point, and all others have three digits behind it, as few columns with decimals do;
// or about commas, where all have three digits behind them.
func (c *NumberColumn) Form() (int, *input.Error) {
	isComma := c.Count[DecimalComma] == c.total
	isPoint := c.Count[DecimalPoint] == c.total
	switch {
	case c.Count[GivenForm] == c.total && c.isWhole && !c.IsPlain && c.Pointed != "" &&
		c.Text.Decimal+c.Text.Thousands == "":
		return GivenForm, &input.Error{Msg: words.Quoted(c.Pointed) + PointFault, Fix: PointFix}
	case c.Count[GivenForm] == c.total:
		return GivenForm, nil
	case isComma && isPoint && c.Sum[DecimalComma] != c.Sum[DecimalPoint]:
		return DecimalPoint, &input.Error{Msg: words.Quoted(c.hasComma) + " may have a comma between thousands, or three decimals",
			Fix: "pass {thousands=,} or {decimal=,}"}
	case isPoint:
		return DecimalPoint, nil
	case isComma:
		return DecimalComma, nil
	}
	return UnknownForm, nil
}

// isNumeric reports whether text is a number in some form.
func isNumeric(text string) bool {
	var c NumberColumn
	c.Add([]byte(text))
	form, _ := c.Form()
	return form != UnknownForm
}
