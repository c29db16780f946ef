// Package words writes numbers, amounts, times and nouns of messages, and finds the known word that is most similar to
// a mistyped one.
package words

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Count writes 1234567 as 1,234,567.
func Count[N int | int64 | uint64](n N) string {
	if n < 0 {
		return "-" + Count(-n)
	}
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Counted writes a number and its noun: 1 edge, 1,204 edges, 2 entries.
func Counted[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(n) + " " + Plural(noun)
}

// Part is a number of items for [Parts]. Noun is the noun of the items, and Rest an optional text after the noun.
type Part struct {
	N          int64
	Noun, Rest string
}

// Parts writes the numbers that are not 0: 4 duplicate edges, 3 edges in both directions.
func Parts(list []Part) string {
	var parts []string
	for _, p := range list {
		text := Count(p.N)
		if p.Noun != "" {
			text = Counted(p.N, p.Noun)
		}
		if p.N > 0 {
			parts = append(parts, text+p.Rest)
		}
	}
	return strings.Join(parts, ", ")
}

// Bytes writes a number of bytes: 17.9 MB, 612 MB.
func Bytes(n int64) string {
	x := float64(n)
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	prefixes := "KMGTPE"
	i := -1
	for x >= 999.5 && i < len(prefixes)-1 {
		x /= 1000
		i++
	}
	digits := 2 - int(math.Log10(x)+1e-9)
	return fmt.Sprintf("%.*f %cB", max(0, digits), x, prefixes[i])
}

// Seconds writes a duration: 0.02 s, 24.1 s, 1 min 52 s, 2 h 5 min.
func Seconds(d time.Duration) string {
	s := d.Seconds()
	switch {
	case s < 0.995:
		return fmt.Sprintf("%.2f s", s)
	case s < 99.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 3600:
		seconds := int(s + 0.5)
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	default:
		minutes := int(s/60 + 0.5)
		return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
	}
}

// Round writes a number ≥ 0 with three significant digits or more: 0.219, 2.19, 2,190.
func Round(x float64) string {
	if x < 999.5 || x > 1e15 {
		return fmt.Sprintf("%.3g", x)
	}
	return Count(10 * int64(x/10+0.5))
}

// Percent writes 0.741 as 74.1 %.
func Percent(fraction float64) string {
	return fmt.Sprintf("%.1f %%", 100*fraction)
}

// Quoted quotes a text from a file. It cuts a text of more than 64 bytes.
func Quoted[S []byte | string](b S) string {
	if len(b) > 64 {
		return fmt.Sprintf("%q…", b[:64])
	}
	return fmt.Sprintf("%q", b)
}

// Plural returns the plural of a noun, for example "classes", "entries" and "vertices".
func Plural(noun string) string {
	if stem, hasSuffix := strings.CutSuffix(noun, "ex"); hasSuffix {
		return stem + "ices"
	}
	if stem, hasSuffix := strings.CutSuffix(noun, "y"); hasSuffix {
		return stem + "ies"
	}
	if strings.HasSuffix(noun, "ss") {
		return noun + "es"
	}
	return noun + "s"
}
