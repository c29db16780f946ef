package table

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// currencies are codes of ISO 4217.
var currencies = strings.Fields("AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MAD MXN MYR NGN NOK NZD " +
	"PEN PHP PLN RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR")

// SplitAmount divides an amount such as 12.50 USD, EUR 10,00, €5 or 3 % into its number and its unit: a symbol or a
// code of a currency, a percent or a per mille sign. An amount in brackets, as in (5.00), and an amount before a minus
// sign, as in 5.00-, are negative. isAmount is false for other text, and for a number with neither.
func SplitAmount(text []byte) (number []byte, unit string, isAmount bool) {
	const blanks = Blank + "\u00a0\u202f"
	text = bytes.Trim(text, blanks)
	if len(text) < 2 || isDigit(text[len(text)-1]) && (isDigit(text[0]) || strings.IndexByte("+-.", text[0]) >= 0 && (isDigit(text[1]) || text[1] == '.')) {
		return nil, "", false // a usual number
	}
	inner, isNegative := bytes.CutPrefix(text, []byte("("))
	if isNegative {
		if inner, isNegative = bytes.CutSuffix(inner, []byte(")")); !isNegative {
			return nil, "", false
		}
		text = inner
	}
	first := bytes.IndexAny(text, "0123456789")
	last := bytes.LastIndexAny(text, "0123456789")
	if first < 0 {
		return nil, "", false
	}
	before := string(bytes.Trim(text[:first], blanks))
	after := string(bytes.Trim(text[last+1:], blanks))
	for _, sign := range []string{"-", "+", "\u2212"} {
		for _, side := range []*string{&before, &after} {
			plain, isSigned := strings.CutPrefix(*side, sign)
			if !isSigned {
				plain, isSigned = strings.CutSuffix(*side, sign)
			}
			if !isSigned {
				continue
			}
			if isNegative || isAmount || sign == "+" && side == &after {
				return nil, "", false // two signs
			}
			*side = strings.Trim(plain, blanks)
			isAmount = side == &after
			isNegative = sign != "+"
		}
	}
	unit = before + after
	if before != "" && after != "" || unit != "" && !isUnit(unit) {
		return nil, "", false
	}
	if isNegative {
		number = append(number, '-')
	}
	isAmount = isAmount || unit != "" || len(inner) == len(text) && isNegative
	return append(number, text[first:last+1]...), unit, isAmount
}

func isDigit(c byte) bool { return c-'0' <= 9 }

func isUnit(text string) bool {
	symbol, size := utf8.DecodeRuneInString(text)
	return size == len(text) && (unicode.Is(unicode.Sc, symbol) || symbol == '%' || symbol == '‰') || slices.Contains(currencies, text)
}

// UnitOf returns the unit of an amount, see [SplitAmount], or "".
func UnitOf(text []byte) string {
	_, unit, _ := SplitAmount(text)
	return unit
}

// Units returns the units of the amounts in column i, in order of first appearance.
func (s *Sample) Units(i int) (units []string) {
	for _, text := range s.Values(i) {
		if unit := UnitOf([]byte(text)); unit != "" && !slices.Contains(units, unit) {
			units = append(units, unit)
		}
	}
	return units
}
