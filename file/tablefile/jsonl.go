package tablefile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

// newJSONL returns a writer of predictions with one JSON object a line: node, label (null
// without a label), reached, known, probability (of the label; null if it is not known), and scores, an object from class to score (null if the node has
// no scores, absent if c.Top < 0).
func newJSONL(w io.Writer, c *Columns) predictionFile {
	out := bufio.NewWriterSize(w, bufferBytes)
	var names [][]byte // the classes as JSON strings
	for _, class := range c.Classes {
		names = append(names, appendJSON(nil, class))
	}
	return predictionFile{close: out.Flush, write: func(p *Prediction, order []int) error {
		line := appendJSON(append(out.AvailableBuffer(), `{"node":`...), p.Node)
		line = append(line, `,"label":`...)
		if p.Label == "" {
			line = append(line, "null"...)
		} else {
			line = appendJSON(line, p.Label)
		}
		line = strconv.AppendBool(append(line, `,"reached":`...), p.Reached)
		line = append(strconv.AppendBool(append(line, `,"known":`...), p.Known), `,"probability":`...)
		if x, has := p.probability(c.number); has {
			line = appendScore(line, x)
		} else {
			line = append(line, "null"...)
		}
		switch {
		case c.Top < 0:
		case p.Scores == nil:
			line = append(line, `,"scores":null`...)
		default:
			line = append(line, `,"scores":`...)
			for i, class := range order {
				line = append(append(line, "{,"[min(i, 1)]), names[class]...)
				line = appendScore(append(line, ':'), p.Scores[class])
			}
			line = append(line, '}')
		}
		_, err := out.Write(append(line, "}\n"...))
		return err
	}}
}

// appendJSON appends text as a JSON string to line.
func appendJSON(line []byte, text string) []byte {
	w := bytes.NewBuffer(line) // writes to it never fail
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text)
	return bytes.TrimSuffix(w.Bytes(), []byte{'\n'})
}
