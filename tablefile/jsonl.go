package tablefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

type jsonl struct {
	out     *bufio.Writer
	columns Columns
	names   [][]byte     // the classes as JSON strings
	buf     bytes.Buffer // a line
	enc     *json.Encoder
	number  []byte
	order   []int
}

// newJSONL returns a file of predictions with one JSON object a line: node, label
// (null: none), reached, and scores, an object from class to score (null: none;
// absent: not asked for).
func newJSONL(w io.Writer, c Columns) predictionWriter {
	j := &jsonl{out: bufio.NewWriterSize(w, bufferBytes), columns: c}
	j.enc = json.NewEncoder(&j.buf)
	j.enc.SetEscapeHTML(false)
	for _, class := range c.Classes {
		j.text(class)
		j.names = append(j.names, bytes.Clone(j.buf.Bytes()))
		j.buf.Reset()
	}
	return j
}

// text writes a JSON string; a bytes.Buffer takes everything.
func (j *jsonl) text(s string) {
	_ = j.enc.Encode(s)
	j.buf.Truncate(j.buf.Len() - 1) // the encoder's newline
}

// Write implements [predictionWriter].
func (j *jsonl) Write(p *Prediction) error {
	j.buf.WriteString(`{"node":`)
	j.text(p.Node)
	j.buf.WriteString(`,"label":`)
	if p.Label == "" {
		j.buf.WriteString("null")
	} else {
		j.text(p.Label)
	}
	j.buf.WriteString(`,"reached":`)
	j.buf.WriteString(strconv.FormatBool(p.Reached))
	if j.columns.Top >= 0 {
		j.buf.WriteString(`,"scores":`)
		j.scores(p.Scores)
	}
	j.buf.WriteString("}\n")
	_, err := j.buf.WriteTo(j.out)
	return err
}

func (j *jsonl) scores(scores []float64) {
	if scores == nil {
		j.buf.WriteString("null")
		return
	}
	if j.columns.Top > 0 {
		j.order = j.columns.best(j.order, scores)
	} else {
		j.order = j.order[:0]
		for class := range scores {
			j.order = append(j.order, class)
		}
	}
	for i, class := range j.order {
		j.buf.WriteByte("{,"[min(i, 1)])
		j.buf.Write(j.names[class])
		j.buf.WriteByte(':')
		j.number = appendScore(j.number[:0], scores[class])
		j.buf.Write(j.number)
	}
	j.buf.WriteByte('}')
}

// Close implements [predictionWriter].
func (j *jsonl) Close() error { return j.out.Flush() }
