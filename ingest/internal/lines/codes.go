package lines

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/table"
	"github.com/heatwalk/heatwalk/internal/textio"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Codes numbers the kinds of edges and reads their times. It is safe for concurrent use.
type Codes struct {
	mu     sync.Mutex
	number map[string]uint32
	names  []string // of kinds, by number
	unit   string   // of times, "" before the first one
}

// mostNames bounds the kinds that are counted for the message about too many of them.
const mostNames = 1 << 16

// Names returns the names of the kinds by their numbers, which depend on the order of reading.
func (c *Codes) Names() []string { return c.names }

// Unit returns the unit of times, "" without times.
func (c *Codes) Unit() string { return c.unit }

// Kind returns the number of a kind. From mostNames kinds on, all have the same.
func (c *Codes) Kind(name string) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	number, ok := c.number[name]
	if !ok && len(c.names) < mostNames {
		if c.number == nil {
			c.number = map[string]uint32{}
		}
		number = uint32(len(c.names))
		name = strings.Clone(name)
		c.number[name], c.names = number, append(c.names, name)
	}
	return number
}

// Time returns a time in the unit of all of them, which is that of the first one, or the fault of the text.
func (c *Codes) Time(text string) (uint16, string) {
	t, unit, fault := ParseTime(text)
	if fault != "" {
		return 0, fault
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unit == "" {
		c.unit = unit
	}
	if unit != c.unit {
		return 0, fmt.Sprintf("is a %s, and other times are %ss", unit, c.unit)
	}
	return t, ""
}

// firstDay is day 0.
var firstDay = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)

// DateOf returns the date of a day.
func DateOf(day uint16) string { return firstDay.AddDate(0, 0, int(day)).Format(time.DateOnly) }

const (
	leastSeconds = 1e8  // a number from here on counts seconds since 1970
	leastMillis  = 1e11 // a number from here on counts milliseconds
)

// ParseTime parses a time: a date year-month-day with or without a time of day, seconds or milliseconds since 1970 (a
// number of 1e8 or more), which are days, or a number from 0 to 65535, which is a step.
func ParseTime(text string) (t uint16, unit, fault string) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		if n >= leastMillis {
			n /= 1000
		}
		switch {
		case n >= leastSeconds:
			return dayOf(time.Unix(int64(n), 0).UTC())
		case n >= 0 && n <= math.MaxUint16:
			return uint16(n), "step", ""
		}
		return 0, "", "is not a time; times are dates such as 2024-01-31, seconds since 1970 or numbers from 0 to 65535"
	}
	date, clock := text, ""
	if len(text) > len(time.DateOnly) {
		date, clock = text[:len(time.DateOnly)], text[len(time.DateOnly):]
	}
	day, err := time.Parse(time.DateOnly, date)
	if err != nil || clock != "" && clock[0] != 'T' && clock[0] != ' ' {
		return 0, "", "is not a time; times are dates such as 2024-01-31, seconds since 1970 or numbers from 0 to 65535"
	}
	return dayOf(day)
}

// dayOf returns a date as a day.
func dayOf(date time.Time) (t uint16, unit, fault string) {
	days := math.Floor(date.Sub(firstDay).Hours() / 24)
	if days < 0 || days > math.MaxUint16 {
		return 0, "", "is before 1900-01-01 or after " + DateOf(math.MaxUint16)
	}
	return uint16(days), "day", ""
}

// pack returns the weight of the edge of the fields at hand, packed with its code, see [sort.Pack].
func (p *Parser) pack(weight float64, number int64) (float64, error) {
	lay, code := p.Layout, uint32(0)
	fault := func(column int, format string, args ...any) error {
		e := textio.Fault(p.Name, number, FixLine, format, args...)
		e.Column, e.Otherwise = p.fields.Start[column]+1, skipLine
		return e
	}
	if math.Abs(weight) > math.MaxFloat32 {
		return 0, fault(lay.weight, "weight %g is too large for edges with kinds or times", weight)
	}
	if lay.kind >= 0 {
		name := bytes.Trim(p.fields.Text[lay.kind], table.Blank)
		number, ok := p.kinds[string(name)]
		if !ok {
			if len(name) == 0 {
				return 0, fault(lay.kind, "an edge without a kind")
			}
			if p.kinds == nil {
				p.kinds = map[string]uint32{}
			}
			number = p.Codes.Kind(string(name))
			p.kinds[string(name)] = number
		}
		code = number % shard.MaxKinds
	}
	if lay.time >= 0 {
		text := bytes.Trim(p.fields.Text[lay.time], table.Blank)
		t, wrong := p.Codes.Time(string(text))
		if wrong != "" {
			return 0, fault(lay.time, "time %s %s", table.Quoted(text), wrong)
		}
		code = shard.CodeOf(uint8(code), t)
	}
	return sort.Pack(weight, code), nil
}
