package lines

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/sparse/shard"
)

// Codes numbers the kinds of edges and reads their times. It is safe for concurrent use.
type Codes struct {
	HasKinds, HasTimes bool

	mu         sync.Mutex
	number     map[string]uint32
	Names      []string // names of the kinds by number, which depends on the order of reading
	Unit       string   // unit of times; "" before the first time
	hasOffset  bool     // a time has an offset from UTC
	precisions []string // distinct precisions
}

const (
	noKind = "(blank)"
	noTime = "of the edge is missing"
)

const mostNames = 1 << 16

// TimeWarnings returns warnings about times whose meaning differs from their text: times with an offset from
// UTC, and dates of different precisions. setting is the setting of the column of times.
func (c *Codes) TimeWarnings(setting string) (list []error) {
	column, _ := table.SplitTimeSetting(setting)
	warn := func(what, fix string) {
		list = append(list, textio.Fault("time "+words.Quoted(column), 0, fix, "%s", what))
	}
	if c.hasOffset {
		warn("times with an offset count on their day in UTC", "cut the offsets off to count the days that are written")
	}
	if len(c.precisions) > 1 {
		warn("years and months among dates count on their first day", "write another day if it is known")
	}
	return list
}

// Kind returns the number of a kind. For a new kind, if there are mostNames kinds already, it returns 0.
func (c *Codes) Kind(name string) uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	number, ok := c.number[name]
	if !ok && len(c.Names) < mostNames {
		if c.number == nil {
			c.number = map[string]uint32{}
		}
		number = uint32(len(c.Names))
		name = strings.Clone(name)
		c.number[name] = number
		c.Names = append(c.Names, name)
	}
	return number
}

// Code returns the code of an edge, which combines the number of its kind with its time. It ignores kind if
// edges have no kinds, and time if edges have no times. fault describes a wrong time.
func (c *Codes) Code(form table.TimeForm,
	kind, time string) (code uint32, fault string) {
	if c.HasKinds {
		code = c.Kind(cmp.Or(kind, noKind)) % shard.MaxKinds
	}
	switch {
	case !c.HasTimes:
		return code, ""
	case time == "":
		return code, noTime
	}
	t, fault := c.Time(form, time)
	return shard.CodeOf(uint8(code), t), fault
}

// Time returns a time in the unit of the first time. If the text is wrong, it returns a description of the
// fault.
func (c *Codes) Time(form table.TimeForm, text string) (uint16, string) {
	t, fault := form.Parse(text)
	if fault != "" {
		return 0, fault
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Unit == "" {
		c.Unit = t.Unit
	}
	if t.Unit != c.Unit {
		return 0, fmt.Sprintf("is a %s, and other times are %ss", t.Unit, c.Unit)
	}
	c.hasOffset = c.hasOffset || t.HasOffset
	if !slices.Contains(c.precisions, t.Precision) {
		c.precisions = append(c.precisions, t.Precision)
	}
	return t.Value, ""
}

const OutOfRange = "is too large or too small for edges with kinds or times"

// pack packs the weight of the edge in p.fields with the code of the edge, see [sort.Pack]. number is the
// line number for errors.
func (p *Parser) pack(weight float64, number int64) (float64, error) {
	lay := p.Layout
	code := uint32(0)
	if !sort.IsPackable(weight) {
		return 0, p.fault(number, lay.weight, FixLine, "weight %g "+OutOfRange, weight)
	}
	if lay.kind >= 0 {
		name := bytes.Trim(p.fields.Text[lay.kind], table.Blank)
		number, ok := p.kinds[string(name)]
		if !ok {
			if p.kinds == nil {
				p.kinds = map[string]uint32{}
			}
			number = p.Codes.Kind(cmp.Or(string(name), noKind))
			p.kinds[string(name)] = number
		}
		code = number % shard.MaxKinds
	}
	if lay.time >= 0 {
		text := bytes.Trim(p.fields.Text[lay.time], table.Blank)
		if table.IsMissing(string(text), table.Doubtful) {
			e := textio.Fault(p.Name, number, "leave out {time}, or add a time", "time %s "+noTime, words.Quoted(text))
			e.Otherwise = skipLine + " to leave such edges out"
			return 0, e
		}
		t, wrong := p.Codes.Time(lay.form, string(text))
		if wrong != "" {
			return 0, p.fault(number, lay.time, lay.form.Fix(string(text)), "time %s %s", words.Quoted(text), wrong)
		}
		code = shard.CodeOf(uint8(code), t)
	}
	return sort.Pack(weight, code), nil
}
