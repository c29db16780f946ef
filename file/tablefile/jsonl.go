package tablefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

// newJSONL writes a JSON object for each prediction, with the columns before the scores and with scores, an object
// from class to score. Missing values are null, and so are the scores of a node without scores. If c.Top < 0, there
// are no scores.
func newJSONL(w io.Writer, _ string, c *Columns) rowFile[*Prediction] {
	out := bufio.NewWriterSize(w, bufferBytes)
	// as JSON
	var titles [][]byte
	var classes [][]byte
	columns := c.fixed()
	for _, column := range columns {
		titles = append(titles, append(appendJSON(nil, column.Title), ':'))
	}
	for _, class := range c.Classes {
		classes = append(classes, append(appendJSON(nil, class), ':'))
	}
	return rowFile[*Prediction]{close: out.Flush, write: func(p *Prediction) error {
		line := out.AvailableBuffer()
		for i := range columns {
			line = append(append(line, "{,"[min(i, 1)]), titles[i]...)
			line = columns[i].appendTo(line, p, appendJSON, "null")
		}
		switch {
		case c.Top < 0:
		case p.Scores == nil:
			line = append(line, `,"scores":null`...)
		default:
			line = append(line, `,"scores":`...)
			for i, class := range p.order {
				line = append(append(line, "{,"[min(i, 1)]), classes[class]...)
				line = strconv.AppendFloat(line, p.Scores[class], 'g', scoreDigits, 64)
			}
			line = append(line, '}')
		}
		_, err := out.Write(append(line, "}\n"...))
		return err
	}}
}

func appendJSON(line []byte, text string) []byte {
	w := bytes.NewBuffer(line) // writing to a buffer never fails
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text)
	return bytes.TrimSuffix(w.Bytes(), []byte{'\n'})
}
