package sparse

import "math"

// Table is a tall matrix of float32 in which rows may be missing, for example the attributes of nodes. The caller must
// set Rows and Cols, and then either Source, from which all rows are read, or each row that is not missing. A set row
// is stored dense or by its nonzero values, whichever is smaller. A table is safe for concurrent reading.
type Table struct {
	Rows, Cols int
	Source     RowSource // reads the rows from disk; nil: rows are set by Set
	Present    int       // number of rows that are not missing
	Entries    int64     // number of nonzero values
	Bytes      int64     // memory; 0 before the first row is set

	slot    []tableRow // nil while all rows are missing
	values  [][]float32
	columns [][]uint32
}

// RowSource reads rows of a dense matrix of finite values from disk. It is safe for concurrent use.
type RowSource interface {
	// Has reports whether row i is not missing.
	Has(i int) bool

	// RowsTo fills dst with consecutive rows, from row lo on. A missing row has zeros.
	RowsTo(dst []float32, lo int)

	// Err returns the first error of RowsTo. After this error RowsTo stores zeros.
	Err() error
}

// tableRow is the place of a row: length values and, for a sparse row, as many columns, each at an offset of a chunk.
// The zero value is a missing row.
type tableRow struct {
	chunk, offset   uint32 // chunk counts from 1
	colChunk, colAt uint32 // colChunk counts from 1; it is 0 for a dense row
	length          uint32
}

const (
	slotBytes  = 20
	tableChunk = 1 << 16 // number of values of an allocation
)

// Set stores a copy of values as row i, which must be missing. The values must be finite.
func (t *Table) Set(i int, values []float32) {
	if t.slot == nil {
		t.slot = make([]tableRow, t.Rows)
		t.Bytes = slotBytes * int64(t.Rows)
	}
	if len(values) != t.Cols || t.slot[i].chunk > 0 {
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
	p := &t.slot[i]
	if 2*entries >= t.Cols {
		p.chunk = room(t, &t.values, t.Cols)
		p.offset = 0
		p.length = uint32(t.Cols)
		c := &t.values[p.chunk-1]
		p.offset = uint32(len(*c))
		*c = append(*c, values...)
		return
	}
	p.length = uint32(entries)
	p.chunk, p.colChunk = room(t, &t.values, entries), room(t, &t.columns, entries)
	v := &t.values[p.chunk-1]
	c := &t.columns[p.colChunk-1]
	p.offset, p.colAt = uint32(len(*v)), uint32(len(*c))
	for j, x := range values {
		if x != 0 {
			*v, *c = append(*v, x), append(*c, uint32(j))
		}
	}
}

// room returns the number, from 1, of a chunk with space for length more elements. It may append the chunk to chunks.
func room[E float32 | uint32](t *Table, chunks *[][]E, length int) uint32 {
	n := len(*chunks)
	if n == 0 || cap((*chunks)[n-1])-len((*chunks)[n-1]) < length {
		size := max(tableChunk, length)
		*chunks = append(*chunks, make([]E, 0, size))
		t.Bytes += 4 * int64(size)
	}
	return uint32(len(*chunks))
}

// Outline estimates the size of a table with the given number of present rows. The rows of t must be the first rows of
// this table. The result has Rows, Cols, Present, Entries and Bytes, but no rows.
func (t *Table) Outline(present int) *Table {
	const ends = 2 * 4 * tableChunk // bytes of the last chunks
	used := t.Bytes - slotBytes*int64(t.Rows) -
		4*int64(spare(t.values)+spare(t.columns))
	share := float64(present) / float64(max(1, t.Present))
	return &Table{
		Rows: t.Rows, Cols: t.Cols, Present: present,
		Entries: int64(share * float64(t.Entries)),
		Bytes:   slotBytes*int64(t.Rows) + int64(share*float64(used)) + ends,
	}
}

func spare[E any](chunks [][]E) int {
	if len(chunks) == 0 {
		return 0
	}
	last := chunks[len(chunks)-1]
	return cap(last) - len(last)
}

// Err returns the first error of reading rows from Source. It must be checked after the last row is read.
func (t *Table) Err() error {
	if t.Source == nil {
		return nil
	}
	return t.Source.Err()
}

// Has reports whether row i is not missing.
func (t *Table) Has(i int) bool {
	if t.Source != nil {
		return t.Source.Has(i)
	}
	return t.slot != nil && t.slot[i].chunk > 0
}

// TableReader reads rows of a table. It is not safe for concurrent use.
type TableReader struct {
	t      *Table
	rows   []float32 // the rows lo ≤ i < hi, read from disk
	lo, hi int
}

// Reader returns a reader of the rows of t. If rows on disk are read in order, the reader reads ahead.
func (t *Table) Reader() *TableReader {
	return &TableReader{t: t}
}

// readAhead is the largest number of values that a reader reads at once. A longer row is read alone.
const readAhead = 1 << 15

// Row returns the values of row i and their columns, in increasing order. columns is nil for a dense row. values is nil
// for a missing row. The slices are valid until the next call.
func (r *TableReader) Row(i int) (columns []uint32, values []float32) {
	t := r.t
	if t.Source == nil {
		return t.row(i)
	}
	if i < r.lo || i >= r.hi {
		count := 1
		if i == r.hi && r.hi > r.lo {
			count = max(1, min(2*(r.hi-r.lo), readAhead/max(1, t.Cols), t.Rows-i))
		}
		if count*t.Cols > len(r.rows) {
			r.rows = make([]float32, count*t.Cols)
		}
		r.lo = i
		r.hi = i + count
		t.Source.RowsTo(r.rows[:count*t.Cols], i)
	}
	if !t.Source.Has(i) {
		return nil, nil
	}
	return nil, r.rows[(i-r.lo)*t.Cols:][:t.Cols:t.Cols]
}

func (t *Table) row(i int) (columns []uint32, values []float32) {
	if t.slot == nil || t.slot[i].chunk == 0 {
		return nil, nil
	}
	p := t.slot[i]
	values = t.values[p.chunk-1][p.offset:][:p.length]
	if p.colChunk > 0 {
		columns = t.columns[p.colChunk-1][p.colAt:][:p.length:p.length]
	}
	return columns, values
}

const badTableValue = "sparse: a value of a table is not finite"
