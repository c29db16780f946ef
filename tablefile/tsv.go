package tablefile

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// newTSV returns a file of predictions as tab-separated text: a header, then a
// line for each node. Missing scores are empty cells.
func newTSV(w io.Writer, c Columns) predictionFile {
	out := bufio.NewWriterSize(w, bufferBytes)
	_, _ = out.WriteString(strings.Join(c.header(), "\t") + "\n") // bufio keeps the first error
	return predictionFile{close: out.Flush, write: func(p *Prediction, order []int) error {
		line := append(out.AvailableBuffer(), p.Node...)
		line = append(append(line, '\t'), p.Label...)
		line = strconv.AppendBool(append(line, '\t'), p.Reached)
		for _, class := range order {
			if c.Top > 0 {
				line = append(line, '\t')
				if p.Scores != nil {
					line = append(line, c.Classes[class]...)
				}
			}
			line = append(line, '\t')
			if p.Scores != nil {
				line = appendScore(line, p.Scores[class])
			}
		}
		_, err := out.Write(append(line, '\n'))
		return err
	}}
}
