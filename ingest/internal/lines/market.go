package lines

import (
	"bytes"
	"errors"
	"io"

	"github.com/heatwalk/heatwalk/file/graphfile"
	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

const fetchAgain = "fetch the file again"

// marketLayout reads the head of a Matrix Market file and determines the layout.
func (c *Settings) marketLayout(in *textio.Reader, sum *Tally) (*Layout, error) {
	m := &graphfile.MarketReader{Name: in.Name(), Signed: c.Signed}
	for {
		chunk, err := in.Head()
		if errors.Is(err, io.EOF) {
			return nil, textio.Fault(m.Name, 0, fetchAgain,
				"ends before its sizes")
		}
		if err != nil {
			return nil, err
		}
		number := chunk.First
		for tail := chunk.Data; len(tail) > 0; number++ {
			var line []byte
			line, tail, _ = bytes.Cut(tail, []byte{'\n'})
			last, bad := m.Line(line, number, c.MaxNodes)
			if bad != nil {
				return nil, bad
			}
			if last {
				lay := layoutOfMarket(m, number)
				lay.zerosCount = c.Unweighted
				lay.simple = !c.Unweighted
				return lay, nil
			}
		}
		sum.addComments(chunk)
		in.Drop()
	}
}

// layoutOfMarket returns the layout of the entries of a Matrix Market file. number is the line number of the
// last line of its head.
func layoutOfMarket(m *graphfile.MarketReader, number int64) *Layout {
	valued := m.Field != graphfile.PatternField
	lay := &Layout{sep: table.Blanks, target: 1, weight: -1, kind: -1, time: -1,
		columns: 2, line: number, first: number + 1, simple: true, Market: m}
	if valued {
		lay.weight = 2
		lay.columns = 3
	}
	lay.template = Template{
		Sep: table.Blanks, Weighted: valued, Whole: m.Field == graphfile.IntegerField,
		Base: 1, Limit: m.Rows,
		Lower: m.Symmetry != graphfile.General, Strict: m.Symmetry == graphfile.Skew,
	}
	return lay
}
