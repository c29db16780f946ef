package export

import (
	"io"
	"strconv"
	"strings"
)

type tsv struct {
	w       io.Writer
	columns Columns
	buf     []byte
	order   []int
}

// TSV returns a file of predictions as tab-separated text: a header, then a
// line for each node. Missing scores are empty cells.
func TSV(w io.Writer, c Columns) Predictions {
	t := &tsv{w: w, columns: c, buf: make([]byte, 0, bufferBytes)}
	t.buf = append(t.buf, strings.Join(c.header(), "\t")...)
	t.buf = append(t.buf, '\n')
	return t
}

// Write implements [Predictions].
func (t *tsv) Write(p *Prediction) error {
	t.buf = append(t.buf, p.Node...)
	t.buf = append(t.buf, '\t')
	t.buf = append(t.buf, p.Label...)
	t.buf = append(t.buf, '\t')
	t.buf = strconv.AppendBool(t.buf, p.Reached)
	switch {
	case t.columns.Top == 0:
		for class := range t.columns.Classes {
			t.buf = append(t.buf, '\t')
			if p.Scores != nil {
				t.buf = appendScore(t.buf, p.Scores[class])
			}
		}
	case p.Scores == nil:
		for range 2 * t.columns.top() {
			t.buf = append(t.buf, '\t')
		}
	default:
		t.order = t.columns.best(t.order, p.Scores)
		for _, class := range t.order[:t.columns.top()] {
			t.buf = append(t.buf, '\t')
			t.buf = append(t.buf, t.columns.Classes[class]...)
			t.buf = append(t.buf, '\t')
			t.buf = appendScore(t.buf, p.Scores[class])
		}
	}
	t.buf = append(t.buf, '\n')
	if len(t.buf) < bufferBytes/2 {
		return nil
	}
	return t.flush()
}

func (t *tsv) flush() error {
	_, err := t.w.Write(t.buf)
	t.buf = t.buf[:0]
	return err
}

// Close implements [Predictions].
func (t *tsv) Close() error { return t.flush() }
