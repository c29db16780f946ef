package shard

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/heatwalk/heatwalk/file/input"
)

// Kinds of dictionaries, as in the manifest.
const (
	nodesImplicit = "implicit" // the id of row i is the decimal number i
	nodesNumeric  = "numeric"  // ids are increasing numbers
	nodesString   = "string"   // ids are any bytes
)

// Nodes is the dictionary between the rows of a store and the ids of its nodes. [Nodes.Lookup] and [Nodes.ID] convert a
// single node. [Nodes.Rows] gives the rows in the order of the ids, for vectors and blocks. A dictionary never changes
// and is safe for concurrent use.
type Nodes struct {
	// Order has the position of each row in the order of the ids. It is nil if the rows are in the order of the ids. It
	// must not be changed.
	Order []uint32

	ids  dictionary
	name string   // name of the order of the rows; "" for the order of the ids
	rows []uint32 // the inverse of Order
}

// dictionary has the ids by position, which is the row unless rows are reordered.
type dictionary struct {
	kind string
	n    int

	short   []uint32 // numeric: the id at each position, if all ids have 32 bits
	numbers []uint64 // numeric: the id at each position otherwise

	text     []byte   // string: the ids in their order, one after the other
	ends     []uint64 // string: where each id ends in text
	byID     []uint32 // string: positions by increasing id; nil if ids increase
	headSize int      // string: bytes of the file before text, which stay in memory with it
}

// NewNumericNodes returns the dictionary of n rows whose ids are the numbers 0 to n−1. It takes no memory and no file.
func NewNumericNodes(n int) *Nodes {
	return &Nodes{ids: dictionary{kind: nodesImplicit, n: n}}
}

// NumericNodes returns the dictionary in which row i has the id ids[i]. The ids must increase strictly. The slice is
// kept.
func NumericNodes[ID uint32 | uint64](ids []ID) *Nodes {
	for i := 1; i < len(ids); i++ {
		if ids[i] <= ids[i-1] {
			panic(badOrder)
		}
	}
	if len(ids) > 0 && uint64(ids[len(ids)-1]) == uint64(len(ids)-1) {
		return NewNumericNodes(len(ids))
	}
	n := &Nodes{ids: dictionary{kind: nodesNumeric, n: len(ids)}}
	switch ids := any(ids).(type) {
	case []uint32:
		n.ids.short = ids
	case []uint64:
		n.ids.numbers = ids
	}
	return n
}

func (n *dictionary) number(position int) uint64 {
	if n.short != nil {
		return uint64(n.short[position])
	}
	return n.numbers[position]
}

// StringNodes returns the dictionary in which row i has the i-th id. It iterates over the ids twice. It allocates a
// copy of the ids and 28 bytes for each row, of which 16 are freed. If two ids are equal, the error is a
// [*input.Error].
func StringNodes[ID string | []byte](ids iter.Seq[ID]) (*Nodes, error) {
	size := 0
	rows := 0
	for id := range ids {
		size += len(id)
		rows++
	}
	n := &Nodes{ids: dictionary{kind: nodesString, n: rows, text: make([]byte, 0, size),
		ends: make([]uint64, 0, rows)}}
	for id := range ids {
		n.ids.text = append(n.ids.text, id...)
		n.ids.ends = append(n.ids.ends, uint64(len(n.ids.text)))
	}
	order := make([]idWord, rows)
	for i := range order {
		order[i].position = uint32(i)
	}
	if a, b := n.ids.sort(order, 0); a != b {
		return nil, input.Fault("", 0, "give each an id of its own", "%q is at %d and %d",
			n.ids.bytes(a), min(a, b), max(a, b))
	}
	n.ids.byID = make([]uint32, rows)
	for k, w := range order {
		n.ids.byID[k] = w.position
	}
	if slices.IsSorted(n.ids.byID) {
		n.ids.byID = nil
	}
	return n, nil
}

// idWord is a position with some bytes of its id as a number. Most comparisons of ids need only the numbers.
type idWord struct {
	word     uint64
	position uint32
}

// wordBytes is the number of bytes of an id in a word. The last byte of a word is the number of bytes of the id from
// there on, at most wordBytes+1.
const wordBytes = 7

func wordOf(id []byte) uint64 {
	var word [wordBytes + 1]byte
	copy(word[:wordBytes], id)
	word[wordBytes] = byte(min(len(id), wordBytes+1))
	return binary.BigEndian.Uint64(word[:])
}

// sort sorts positions by their ids, which must agree in the bytes before offset. If two ids are equal, it returns
// their positions a ≠ b; otherwise a equals b.
func (n *dictionary) sort(order []idWord, offset int) (a, b int) {
	for i, w := range order {
		order[i].word = wordOf(n.bytes(int(w.position))[offset:])
	}
	slices.SortFunc(order, func(a, b idWord) int { return cmp.Compare(a.word, b.word) })
	for lo, hi := 0, 0; lo < len(order) && a == b; lo = hi {
		for hi = lo + 1; hi < len(order) && order[hi].word == order[lo].word; hi++ {
		}
		switch {
		case hi == lo+1:
		case order[lo].word%(1<<8) > wordBytes:
			a, b = n.sort(order[lo:hi], offset+wordBytes)
		default:
			a, b = int(order[lo].position), int(order[lo+1].position)
		}
	}
	return a, b
}

func (n *dictionary) positionOf(k int) int {
	if n.byID == nil {
		return k
	}
	return int(n.byID[k])
}

func (n *dictionary) bytes(position int) []byte {
	lo := uint64(0)
	if position > 0 {
		lo = n.ends[position-1]
	}
	return n.text[lo:n.ends[position]]
}

// Len returns the number of rows.
func (n *Nodes) Len() int { return n.ids.n }

// ID returns the id of a row.
func (n *Nodes) ID(row int) string {
	var buffer [64]byte
	return string(n.AppendID(buffer[:0], row))
}

// AppendID appends the id of a row to dst.
func (n *Nodes) AppendID(dst []byte, row int) []byte {
	if uint(row) >= uint(n.ids.n) {
		panic(badRow)
	}
	return n.ids.append(dst, n.Position(row))
}

func (n *dictionary) append(dst []byte, position int) []byte {
	switch n.kind {
	case nodesImplicit:
		return strconv.AppendUint(dst, uint64(position), 10)
	case nodesNumeric:
		return strconv.AppendUint(dst, n.number(position), 10)
	}
	return append(dst, n.bytes(position)...)
}

// Lookup returns the row of an id, in time logarithmic in the number of rows. A number must have its canonical form:
// "7", not "07".
func (n *Nodes) Lookup(id string) (row int, ok bool) {
	position, ok := n.ids.find(id)
	if !ok {
		return 0, false
	}
	return n.RowAt(position), true
}

func (n *dictionary) find(id string) (position int, ok bool) {
	if n.kind == nodesString {
		key := []byte(id)
		k, ok := sort.Find(n.n,
			func(k int) int { return bytes.Compare(key, n.bytes(n.positionOf(k))) })
		if !ok {
			return 0, false
		}
		return n.positionOf(k), true
	}
	v, err := strconv.ParseUint(id, 10, 64)
	if err != nil || id[0] == '+' || id[0] == '0' && len(id) > 1 {
		return 0, false
	}
	switch {
	case n.kind == nodesImplicit:
		return int(v), v < uint64(n.n)
	case n.short == nil:
		return slices.BinarySearch(n.numbers, v)
	case v > math.MaxUint32:
		return 0, false
	}
	return slices.BinarySearch(n.short, uint32(v))
}

// Bytes returns the memory of the ids and of the order of the rows.
func (n *Nodes) Bytes() int64 {
	ids := 4*len(n.ids.short) + 8*len(n.ids.numbers) + n.ids.headSize +
		len(n.ids.text) + 8*len(n.ids.ends) + 4*len(n.ids.byID)
	return int64(ids) + 4*int64(len(n.Order)+len(n.rows))
}

// A nodes file has the number of rows after its head. Numeric ids follow as varints of the gaps between them. String
// ids follow as the length of the text, 1 if their order follows and 0 otherwise, the lengths of the ids as varints,
// the order, and the text.
const nodesHead = 8

// write writes the content of the nodes file to w. It ignores errors, because w keeps the first error.
func (n *dictionary) write(w *bufio.Writer) {
	le := binary.LittleEndian
	word := func(v int) { w.Write(le.AppendUint64(w.AvailableBuffer(), uint64(v))) }
	number := func(v uint64) { w.Write(binary.AppendUvarint(w.AvailableBuffer(), v)) }
	word(n.n)
	if n.kind == nodesNumeric {
		next := uint64(0)
		for i := range n.n {
			id := n.number(i)
			number(id - next)
			next = id + 1
		}
		return
	}
	word(len(n.text))
	ordered := 0
	if n.byID != nil {
		ordered = 1
	}
	word(ordered)
	for row := range n.n {
		number(uint64(len(n.bytes(row))))
	}
	writeRows(w, n.byID)
	w.Write(n.text)
}

func writeRows(w *bufio.Writer, rows []uint32) {
	for _, row := range rows {
		w.Write(binary.LittleEndian.AppendUint32(w.AvailableBuffer(), row))
	}
}

func parseNodes(path string, b []byte, m *Manifest) (*Nodes, error) {
	le := binary.LittleEndian
	// Every row has at least a byte, which bounds the allocations.
	if len(b) < nodesHead || le.Uint64(b) != uint64(m.Rows) ||
		int64(len(b)-nodesHead) < m.Rows {
		return nil, newDamage(path, "not a dictionary of %d rows", m.Rows)
	}
	n := &Nodes{ids: dictionary{kind: m.Nodes, n: int(m.Rows)}}
	size := len(b)
	b = b[nodesHead:]
	if n.ids.kind == nodesNumeric {
		last, err := eachNumber(b, n.ids.n, func(int, uint64) {})
		if err != nil {
			return nil, newDamage(path, "%v", err)
		}
		set := func(i int, id uint64) { n.ids.short[i] = uint32(id) }
		if last <= math.MaxUint32 {
			n.ids.short = make([]uint32, n.ids.n)
		} else {
			n.ids.numbers = make([]uint64, n.ids.n)
			set = func(i int, id uint64) { n.ids.numbers[i] = id }
		}
		_, _ = eachNumber(b, n.ids.n, set)
		return n, nil
	}
	if len(b) < 16 || le.Uint64(b[8:]) > 1 {
		return nil, newDamage(path, "dictionary cut short")
	}
	textLen := le.Uint64(b)
	ordered := le.Uint64(b[8:]) == 1
	b = b[16:]
	n.ids.ends = make([]uint64, n.ids.n)
	end := uint64(0)
	for i := range n.ids.ends {
		length, size := binary.Uvarint(b)
		if size <= 0 || length > textLen-end {
			return nil, newDamage(path, "id of row %d", i)
		}
		end += length
		n.ids.ends[i] = end
		b = b[size:]
	}
	orderLen := 0
	if ordered {
		orderLen = 4 * n.ids.n
	}
	if end != textLen || len(b) < orderLen || uint64(len(b)-orderLen) != textLen {
		return nil, newDamage(path, "ids of %d bytes in all, %d announced",
			end, textLen)
	}
	n.ids.text, n.ids.headSize = b[orderLen:], size-len(b)+orderLen
	if ordered {
		n.ids.byID = make([]uint32, n.ids.n)
		for i := range n.ids.byID {
			n.ids.byID[i] = le.Uint32(b[4*i:])
			if int64(n.ids.byID[i]) >= m.Rows {
				return nil, newDamage(path, "row %d in the order of ids",
					n.ids.byID[i])
			}
		}
	}
	return n, nil
}

func eachNumber(b []byte, n int,
	do func(row int, id uint64)) (last uint64, err error) {
	next := uint64(0)
	for i := range n {
		gap, size := binary.Uvarint(b)
		if size <= 0 || gap > math.MaxUint64-next || i > 0 && next == 0 {
			return 0, fmt.Errorf("id of row %d", i)
		}
		do(i, next+gap)
		next += gap + 1
		b = b[size:]
	}
	if len(b) != 0 {
		return 0, fmt.Errorf("%d bytes after the last id", len(b))
	}
	return next - 1, nil
}

func (n *dictionary) isIncreasing() bool {
	for k := 1; k < n.n && n.kind == nodesString; k++ {
		if bytes.Compare(n.bytes(n.positionOf(k-1)),
			n.bytes(n.positionOf(k))) >= 0 {
			return false
		}
	}
	return true
}

const (
	badOrder = "shard: ids do not increase"
	badRow   = "shard: row out of range"
)
