package graphfile

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/bits"
)

// Graph6 is the formats graph6, digraph6 and sparse6 of B. McKay's programs nauty and Traces: a
// line of printable characters, of which each holds six bits, for a graph.
var Graph6 = &Format{
	Title: "graph6", Endings: []string{".g6", ".graph6", ".d6", ".digraph6", ".s6", ".sparse6"}, Text: true,
	Begins: func(head []byte) bool { _, _, ok := cutGraph6(head); return ok },
	Read:   reading(readGraph6),
}

// cutGraph6 cuts the header of a file, which is optional; kind is that of the header.
func cutGraph6(head []byte) (kind string, rest []byte, ok bool) {
	for _, kind := range []string{"graph6", "digraph6", "sparse6"} {
		if rest, ok := bytes.CutPrefix(head, []byte(">>"+kind+"<<")); ok {
			return kind, rest, true
		}
	}
	return "", head, false
}

// sixBits reads a line of characters with six bits each.
type sixBits struct {
	*sink
	in    *bufio.Reader
	at    int64 // of the next byte
	have  int   // bits that are left of the last character
	bits  byte
	ended bool // the line has ended
	whole bool // a line feed has ended it
}

const fixGraph6 = "is this a graph in graph6 or sparse6?"

func readGraph6(s *sink) (*Summary, error) {
	s.inBytes, s.numbered = true, true
	b := &sixBits{sink: s, in: bufio.NewReaderSize(s.Text, 64<<10)}
	head, err := b.in.Peek(len(">>digraph6<<:"))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	_, rest, _ := cutGraph6(head)
	b.skip(len(head) - len(rest))
	kind := byte(0)
	if len(rest) > 0 && (rest[0] == ':' || rest[0] == '&' || rest[0] == ';') {
		kind = rest[0]
		b.skip(1)
	}
	if kind == ';' {
		return nil, b.fault(b.at, "write each graph as a whole", "incremental sparse6, which is a change of the graph before, is not read")
	}
	n, err := b.size()
	if err != nil {
		return nil, err
	}
	if n > MaxNodes {
		return nil, b.fault(b.at, "", "%d nodes; limit %d", n, uint64(MaxNodes))
	}
	if err := b.declare(&Summary{Numbered: true, Nodes: n}, true); err != nil {
		return nil, err
	}
	summary := &Summary{Direction: Undirected, Numbered: true, Nodes: n}
	switch kind {
	case ':':
		err = b.sparse(n)
	case '&':
		summary.Direction = Directed
		err = b.dense(n, func(row uint64) uint64 { return n }, true)
	default:
		err = b.dense(n, func(row uint64) uint64 { return row }, false)
	}
	if err != nil {
		return nil, err
	}
	if err := b.end(); err != nil {
		return nil, err
	}
	if kind == ':' && !b.whole { // alone of the three, it does not declare the number of its characters
		summary.Notes = []error{b.fault(b.at, fetchAgain, "no line feed follows the graph; if the file is cut, edges are missing")}
	}
	return summary, nil
}

func (b *sixBits) skip(n int) {
	_, _ = b.in.Discard(n)
	b.at += int64(n)
}

// next returns the six bits of the next character; false at the end of the line.
func (b *sixBits) next() (six byte, ok bool, err error) {
	c, err := b.in.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		b.ended = true
		return 0, false, nil
	case err != nil:
		return 0, false, err
	case c == '\n' || c == '\r':
		b.ended, b.whole = true, true
		b.at++
		return 0, false, nil
	case c < 63 || c > 126:
		return 0, false, b.fault(b.at, fixGraph6, "a character that is none of ? to ~")
	}
	b.at++
	return c - 63, true, nil
}

// number returns the number of the next characters, the highest bits first.
func (b *sixBits) number(characters int) (n uint64, err error) {
	for range characters {
		six, ok, err := b.next()
		if err != nil {
			return 0, err
		}
		if !ok {
			return 0, b.short()
		}
		n = n<<6 | uint64(six)
	}
	return n, nil
}

// short is the error of a line that ends too early.
func (b *sixBits) short() error { return b.fault(b.at, fetchAgain, "the line ends within the graph") }

// size returns the number of nodes: in one character, or in 3 or 6 of them behind one or two ~.
func (b *sixBits) size() (uint64, error) {
	n, err := b.number(1)
	if err != nil || n < 63 {
		return n, err
	}
	if n, err = b.number(1); err != nil {
		return 0, err
	}
	if n == 63 {
		return b.number(6)
	}
	low, err := b.number(2)
	return n<<12 | low, err
}

// bit returns the next bit; false at the end of the line.
func (b *sixBits) bit() (bit byte, ok bool, err error) {
	if b.have == 0 {
		if b.bits, ok, err = b.next(); !ok || err != nil {
			return 0, false, err
		}
		b.have = 6
	}
	b.have--
	return b.bits >> b.have & 1, true, nil
}

// dense reads the bits of a matrix row by row, of each row the first columns. A bit of an undirected
// graph is at row v and column u < v.
func (b *sixBits) dense(n uint64, columns func(row uint64) uint64, directed bool) error {
	for row := range n {
		for column := range columns(row) {
			bit, ok, err := b.bit()
			switch {
			case err != nil:
				return err
			case !ok:
				return b.short()
			case bit == 0:
				continue
			case directed:
				err = b.numbers(row, column, 1)
			default:
				err = b.numbers(column, row, 1)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// sparse reads pairs of a bit and a number of the fewest bits that hold n−1: the bit moves to the
// next node v, and the number x is a neighbour of v if x ≤ v, and else the new v. The last character
// is filled with ones.
func (b *sixBits) sparse(n uint64) error {
	width := 0
	if n > 0 {
		width = bits.Len64(n - 1)
	}
	v := uint64(0)
	for {
		step, ok, err := b.bit()
		if err != nil || !ok {
			return err
		}
		x := uint64(0)
		for range width {
			bit, ok, err := b.bit()
			if err != nil || !ok {
				return err
			}
			x = x<<1 | uint64(bit)
		}
		v += uint64(step)
		switch {
		case v >= n || x >= n: // the filling
			return nil
		case x > v:
			v = x
		default:
			if err := b.numbers(x, v, 1); err != nil {
				return err
			}
		}
	}
}

// end checks that nothing follows the graph but the rest of the last character and blank lines.
func (b *sixBits) end() error {
	for {
		_, ok, err := b.next()
		if err != nil {
			return err
		}
		if ok {
			fix := fixGraph6
			if b.ended {
				fix = "write each into a file of its own"
			}
			return b.fault(b.at-1, fix, "text behind the graph")
		}
		if _, err := b.in.Peek(1); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
