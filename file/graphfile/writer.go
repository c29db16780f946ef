package graphfile

import (
	"bytes"
	"math/bits"
	"slices"
	"strconv"

	"github.com/heatwalk/heatwalk/file/table"
	"github.com/heatwalk/heatwalk/file/textio"
)

type batchWriter struct {
	*Input
	visit Visitor
	batch Batch
	held  int64 // bytes that Hold knows of

	numbered bool // numbers are positions of nodes
	weighted bool // the file gives weights; before, all are 1

	rounded   int64
	roundedAt string
}

// batchIDs bounds the ids of a batch, and batchBytes roughly its text.
const (
	batchIDs   = 1 << 15
	batchBytes = 1 << 20
)

func (s *batchWriter) flush() error {
	b := &s.batch
	if b.len() == 0 {
		return nil
	}
	err := s.visit(b)
	*b = Batch{Number: b.Number[:0], Text: b.Text[:0], End: b.End[:0],
		Weight: b.Weight[:0], Code: b.Code[:0]}
	return err
}

// begin prepares the batch for two more ids: ends of an edge if edges is set, as text if text is set and otherwise as
// numbers. If the batch is full or holds other ids, begin passes it on first.
func (s *batchWriter) begin(edges, text bool) error {
	b := &s.batch
	if n := b.len(); n > 0 &&
		(b.Edges != edges || (len(b.End) > 0) != text || n+2 > batchIDs ||
			len(b.Text) > batchBytes) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	b.Edges = edges
	b.Numbered = s.numbered
	return nil
}

// weigh sets the weight of the edge that was added last.
func (s *batchWriter) weigh(w float64) {
	b := &s.batch
	edges := b.len() / 2
	if !s.weighted {
		return
	}
	for len(b.Weight) < edges-1 {
		b.Weight = append(b.Weight, 1)
	}
	b.Weight = append(b.Weight, w)
}

func (s *batchWriter) round(place string) {
	if s.rounded++; s.rounded == 1 {
		s.roundedAt = place
	}
}

// word parses a weight as [table.ParseWeight] does, and counts a rounded weight. wrong says what is wrong with the
// word, or is "".
func (s *batchWriter) word(line int64, word []byte) (w float64, wrong string) {
	w, wrong = s.parse(word)
	if wrong == "" && textio.IsRounded(word, w) {
		s.round(place(line))
	}
	return w, wrong
}

// parse parses a weight, or its reciprocal if the settings say so.
func (s *batchWriter) parse(word []byte) (w float64, wrong string) {
	w, wrong = table.ParseWeight(word, s.Signed)
	if wrong == "" && s.Reciprocal {
		return table.Reciprocal(w, word)
	}
	return w, wrong
}

func place(line int64) string { return ":" + strconv.FormatInt(line, 10) }

func isExact(n uint64) bool {
	return bits.Len64(n)-bits.TrailingZeros64(n) <= 53
}

func (s *batchWriter) numbers(u, v uint64, w float64) error {
	if err := s.begin(true, false); err != nil {
		return err
	}
	s.batch.Number = append(s.batch.Number, u, v)
	s.weigh(w)
	return nil
}

func (s *batchWriter) texts(u, v []byte, w float64) error {
	if err := s.begin(true, true); err != nil {
		return err
	}
	s.batch.AddText(u)
	s.batch.AddText(v)
	s.weigh(w)
	return nil
}

func (s *batchWriter) addCode(code uint32, err error) error {
	if s.Kind != "" || s.Time != "" {
		s.batch.Code = append(s.batch.Code, code)
	}
	return err
}

func (s *batchWriter) hold(bytes int64) error {
	const step = 1 << 20
	if s.Hold == nil || bytes < s.held+step {
		return nil
	}
	s.held = bytes
	return s.Hold(bytes)
}

// fault returns an error about a line, or about the file if line is 0.
func (s *batchWriter) fault(line int64, fix, format string,
	args ...any) *textio.Error {
	if slices.Contains(args, any(table.Negative)) {
		fix = table.NegativeFix
	}
	return textio.Fault(s.Name, line, fix, format, args...)
}

const blank = " \t\r\n\v\f"

const emptyID = "is empty"

// faultOfID returns what is wrong with an id, or "". Blanks around an id are part of it.
func faultOfID(id []byte) string {
	switch {
	case len(bytes.Trim(id, blank)) == 0:
		return emptyID
	case bytes.IndexByte(id, '\t') >= 0:
		return "holds a tab"
	case bytes.IndexByte(id, '\n') >= 0 || bytes.IndexByte(id, '\r') >= 0:
		return "holds a line break"
	case bytes.IndexByte(id, 0) >= 0:
		return "holds a NUL byte"
	}
	return ""
}
