package sparse

import "math"

// Table is a tall matrix of float32, filled row by row, of which rows may be missing:
// what is known of each of many nodes, say. A row lies in memory dense or by its
// entries, whichever is smaller. It is safe for concurrent reading.
type Table struct {
	Rows, Cols int
	Present    int   // rows that are not missing
	Entries    int64 // values that are not 0

	place   []tableRow
	values  [][]float32
	columns [][]uint32
}

// tableRow is where a row lies: length values from at on of a chunk, and if there are
// columns so many of these. The zero value is a missing row.
type tableRow struct {
	chunk, at       uint32 // chunk counts from 1
	colChunk, colAt uint32 // colChunk is 0 where the row is dense
	length          uint32
}

// tableChunk is the number of values that are allocated at once.
const tableChunk = 1 << 16

// NewTable returns a table all of whose rows are missing.
func NewTable(rows, cols int) *Table {
	return &Table{Rows: rows, Cols: cols, place: make([]tableRow, rows)}
}

// Has reports whether row i is there.
func (t *Table) Has(i int) bool { return t.place[i].chunk > 0 }

// Bytes returns what the table takes in memory.
func (t *Table) Bytes() int64 {
	bytes := int64(t.Rows) * 20
	for _, c := range t.values {
		bytes += 4 * int64(cap(c))
	}
	for _, c := range t.columns {
		bytes += 4 * int64(cap(c))
	}
	return bytes
}

// Set copies the values of row i, which must be missing and whose values must be
// finite.
func (t *Table) Set(i int, values []float32) {
	if len(values) != t.Cols || t.Has(i) {
		panic(badShape)
	}
	entries := 0
	for _, v := range values {
		if v != 0 {
			entries++
		}
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			panic(badTableValue)
		}
	}
	t.Present++
	t.Entries += int64(entries)
	p := &t.place[i]
	if 2*entries >= t.Cols {
		p.chunk, p.at, p.length = room(&t.values, t.Cols), 0, uint32(t.Cols)
		c := &t.values[p.chunk-1]
		p.at = uint32(len(*c))
		*c = append(*c, values...)
		return
	}
	p.length = uint32(entries)
	p.chunk, p.colChunk = room(&t.values, entries), room(&t.columns, entries)
	v, c := &t.values[p.chunk-1], &t.columns[p.colChunk-1]
	p.at, p.colAt = uint32(len(*v)), uint32(len(*c))
	for j, x := range values {
		if x != 0 {
			*v, *c = append(*v, x), append(*c, uint32(j))
		}
	}
}

// room returns the number, from 1, of a chunk with room for so many more.
func room[E any](chunks *[][]E, length int) uint32 {
	n := len(*chunks)
	if n == 0 || cap((*chunks)[n-1])-len((*chunks)[n-1]) < length {
		*chunks = append(*chunks, make([]E, 0, max(tableChunk, length)))
	}
	return uint32(len(*chunks))
}

// Row returns the values of row i and their columns, rising; nil columns stand for
// all. Of a missing row there are none. The slices share memory with t.
func (t *Table) Row(i int) (columns []uint32, values []float32) {
	p := t.place[i]
	if p.chunk == 0 {
		return nil, nil
	}
	values = t.values[p.chunk-1][p.at:][:p.length]
	if p.colChunk > 0 {
		columns = t.columns[p.colChunk-1][p.colAt:][:p.length:p.length]
	}
	return columns, values
}

const badTableValue = "sparse: a value of a table is not finite"
