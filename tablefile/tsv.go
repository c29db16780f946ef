package tablefile

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

type tsv struct {
	out     *bufio.Writer
	columns Columns
	order   []int
}

// newTSV returns a file of predictions as tab-separated text: a header, then a
// line for each node. Missing scores are empty cells.
func newTSV(w io.Writer, c Columns) predictionWriter {
	t := &tsv{out: bufio.NewWriterSize(w, bufferBytes), columns: c}
	_, _ = t.out.WriteString(strings.Join(c.header(), "\t") + "\n") // bufio keeps the first error
	return t
}

// Write implements [predictionWriter].
func (t *tsv) Write(p *Prediction) error {
	line := append(t.out.AvailableBuffer(), p.Node...)
	line = append(append(line, '\t'), p.Label...)
	line = strconv.AppendBool(append(line, '\t'), p.Reached)
	switch {
	case t.columns.Top == 0:
		for class := range t.columns.Classes {
			line = append(line, '\t')
			if p.Scores != nil {
				line = appendScore(line, p.Scores[class])
			}
		}
	case p.Scores == nil:
		for range 2 * t.columns.top() {
			line = append(line, '\t')
		}
	default:
		t.order = t.columns.best(t.order, p.Scores)
		for _, class := range t.order[:t.columns.top()] {
			line = append(append(line, '\t'), t.columns.Classes[class]...)
			line = appendScore(append(line, '\t'), p.Scores[class])
		}
	}
	_, err := t.out.Write(append(line, '\n'))
	return err
}

// Close implements [predictionWriter].
func (t *tsv) Close() error { return t.out.Flush() }
