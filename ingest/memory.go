package ingest

import (
	"math"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
	"github.com/heatwalk/heatwalk/internal/sched"
)

type memory struct {
	t         *task
	c         *Config
	lines     *lineStore
	names     *names
	numbering *numbering
}

func newMemory(t *task) *memory {
	s := &lineStore{t: t, loaders: make([]sort.Lines, t.workers),
		slabs: newSlabs(t.c.Memory, t.workers)}
	return &memory{t: t, c: &t.c, lines: s,
		names: &names{t: t, dict: lines.NewDict()}, numbering: new(numbering)}
}

// extent holds the sizes by which [Run] decides which lines go to disk and whether the limit is exceeded.
type extent struct {
	c       *Config
	workers int
	values  bool

	lines   int64
	held    int64 // bytes of the parts in memory
	readers int64 // bytes of open inputs beyond workerBytes

	nodes  int64
	bits   int64 // number of bits of the bitmap of ids; 0: no bitmap
	dict   int64 // bytes of the dictionary while ids are read
	text   int64 // bytes of the ids in the dictionary
	rowIDs int64 // bytes of the ids once they have rows
	order  Order
	placed bool // rows have their order already
}

const (
	workerBytes = 3 << 20 // for each worker: a chunk of text, inflated text ahead of it, its codes, and a record; or a bucket twice and its rows
	rowBytes    = 2       // for each row: the degree, mostly in one byte, and whether the row is isolated
	heavyBytes  = 10      // for each row with weights: degrees as bytes and as numbers while they are converted
	pageBytes   = 2 << 20 // pages of the store that are being written
)

// extent returns the sizes of the part of the graph that has been read.
func (m *memory) extent() *extent {
	e := &extent{c: &m.t.c, workers: m.t.workers, values: m.hasValues(),
		lines: int64(m.lines.count), held: m.lines.held}
	for _, in := range m.t.inputs {
		e.readers += unusualWindow(in)
	}
	if m.names.matrix == nil {
		e.bits = m.bitmapLimit()
	}
	switch {
	case m.numbering.nodes != nil:
		e.nodes, e.rowIDs, e.placed = int64(m.numbering.nodes.Len()),
			m.numbering.nodes.Bytes(), m.numbering.order != nil
	case m.names.useDict.Load():
		e.nodes = int64(m.names.dict.Len())
		e.dict = m.names.dict.Bytes()
		e.text = m.names.dict.TextBytes()
		e.rowIDs = 16*e.nodes + e.text // and where each text ends, its place in the order, and the row of its code
	default:
		e.nodes = int64(m.lines.top) + 1
	}
	e.order = m.c.Order.possible(int(e.nodes), m.lines.count)
	return e
}

// bitmapLimit returns a number above every id, or 0 if an id is not a number or a bitmap would take too much
// memory.
func (m *memory) bitmapLimit() int64 {
	tokens := 2 * int64(m.lines.count)
	for _, p := range m.names.listed {
		tokens += int64(len(p.code))
	}
	top := int64(m.lines.top)
	if m.names.useDict.Load() || top >= max(lines.DenseBits, lines.IDBits*tokens) {
		return 0
	}
	return top + 1
}

// fixedBytes returns the memory that workers and readers need during the whole run.
func (e *extent) fixedBytes() int64 {
	bytes := int64(e.workers)*workerBytes + pageBytes + e.readers
	for _, s := range e.c.Sources {
		bytes += s.Bytes
	}
	return bytes
}

// namingBytes returns the memory for the dictionary or the bitmap of ids, including the memory for numbering
// the ids of the dictionary.
func (e *extent) namingBytes() int64 {
	if e.dict == 0 {
		return e.bits / 8
	}
	return e.dict + lines.NumberingBytes(e.nodes, e.text)
}

func (e *extent) readingBytes() int64 {
	return e.held + e.fixedBytes() + e.namingBytes()
}

// numberedBytes returns the memory of a run once its ids are numbered. It does not count lines and entries.
func (e *extent) numberedBytes() int64 {
	const (
		count = 4 // bytes for each node: its lines, then the row
		rank  = 3 // sixteenths of a byte for each bit of the bitmap: the bit, and the number of ids before it
	)
	row := int64(rowBytes)
	if e.values {
		row = heavyBytes
	}
	bytes := e.fixedBytes() + e.rowIDs + e.nodes*row + e.bits*rank/16
	if e.order != DefaultOrder {
		bytes += count * e.nodes
	}
	if !e.placed && e.order == LocalityOrder {
		bytes += localityBytes * e.nodes
	}
	return bytes
}

// graph returns the memory for building the graph from which the rows of LocalityOrder are computed. It
// returns 0 for other orders.
func (e *extent) graph() int64 {
	if e.order != LocalityOrder {
		return 0
	}
	const entryBytes = 4 + 8 // entries, and links for sorting them
	return 2*e.lines*entryBytes + 8*(e.nodes+1)
}

// Shares of the memory limit for lines; the rest is for sorting. If lines take more than spillAbove and not
// everything fits, lines go to disk until they take less than spillBelow.
const (
	spillAbove = 0.6
	spillBelow = 0.25
)

// fits reports whether the lines in memory may stay there. They may if reading takes at most spillAbove of
// the limit. In the default order they may also stay if the memory suffices for all later steps.
func (e *extent) fits() bool {
	reading := e.readingBytes()
	if e.c.Memory == 0 || reading <= int64(spillAbove*float64(e.c.Memory)) {
		return true
	}
	if e.order != DefaultOrder {
		return false // ordering takes more memory
	}
	sorting := e.held + e.fixedBytes() + e.rowIDs +
		e.entries()*sort.EntryBytes(int(e.nodes), e.values)
	return max(reading, sorting) <= e.c.Memory
}

// entries returns an upper bound of the number of entries of one direction.
func (e *extent) entries() int64 {
	if e.c.Directed {
		return e.lines
	}
	return 2 * e.lines
}

func (m *memory) hasValues() bool {
	return m.lines.values || m.c.Duplicates == SumDuplicates
}

// fits returns a [LimitError] if the memory of reading and the extra bytes exceed the limit. If lines may go
// to disk, call fit instead.
func (m *memory) fits(extra int64) error {
	if m.c.Memory == 0 {
		return nil
	}
	e := m.extent()
	need := extra + e.readingBytes()
	if need <= m.c.Memory {
		return nil
	}
	growth := m.growth()
	for _, size := range []*int64{&e.nodes, &e.bits, &e.text, &e.rowIDs} {
		*size = int64(growth * float64(*size))
	}
	if e.dict > 0 {
		e.dict = lines.DictBytes(e.nodes, e.text)
	}
	need = extra + max(e.readingBytes(), e.numberedBytes()+sort.LeastBytes)
	need += need / 4 // for concurrent workers, and ids that recur later than random ids
	return &LimitError{Need: need, Limit: m.c.Memory}
}

// growth estimates the ratio of the number of ids in all inputs to the number of ids read so far. It assumes
// that each token is drawn from N ids at random, so that t tokens contain N·(1 − e^(−t/N)) ids.
func (m *memory) growth() float64 {
	share := m.t.shareRead()
	if text := float64(m.names.text.Load()); text > 0 {
		share = min(share, text/float64(m.t.inputBytes)) // chunks that were read ahead have no codes yet
	}
	distinct := float64(m.names.dict.Len()) / float64(m.names.tokens.Load())
	if !(distinct < 1) {
		return 1 / share
	}
	least, most := 0.0, 1/distinct // bounds of t/N
	for range 60 {
		mean := (least + most) / 2
		if -math.Expm1(-mean) > distinct*mean {
			least = mean
		} else {
			most = mean
		}
	}
	return math.Expm1(-most/share) / math.Expm1(-most)
}

// otherBytes returns the memory that neither the lines nor their dictionary take.
func (m *memory) otherBytes() int64 {
	if m.numbering.nodes == nil {
		return m.extent().fixedBytes()
	}
	return m.extent().numberedBytes()
}

func (m *memory) left() int64 {
	return budget.Subtract(m.c.Memory, m.lines.held+m.otherBytes())
}

// fit moves lines to disk until the memory of reading and the extra bytes fit the limit. Other workers may
// have read new ids since the lines were admitted.
func (m *memory) fit(worker int, extra int64) error {
	if m.c.Memory == 0 {
		return nil
	}
	m.t.mu.Lock()
	var evict []*part
	if over := extra + m.extent().readingBytes() - m.c.Memory; over > 0 {
		m.lines.spilling = true
		evict = m.lines.evict(max(0, m.lines.held-over))
	}
	m.t.mu.Unlock()
	if err := m.lines.moveAll(worker, evict); err != nil {
		return err
	}
	m.t.mu.Lock()
	defer m.t.mu.Unlock()
	return m.fits(extra)
}

// admit reports whether the lines of p may stay in memory. The caller must move the parts in evict to disk,
// and p too if keep is false.
func (m *memory) admit(p *part) (keep bool, evict []*part) {
	m.t.mu.Lock()
	defer m.t.mu.Unlock()
	m.lines.count += p.edges
	m.lines.top = max(m.lines.top, p.top)
	m.lines.weighted = m.lines.weighted || p.weighted
	m.lines.values = m.lines.values || p.values
	if m.c.Memory == 0 {
		m.lines.held += p.bytes()
		return true, nil
	}
	e := m.extent()
	e.held += p.bytes()
	if !m.lines.spilling && e.fits() {
		m.lines.held = e.held
		return true, nil
	}
	limit := m.c.Memory - m.otherBytes() - e.namingBytes()
	if !m.lines.spilling {
		m.lines.spilling = true
		limit = min(limit, int64(spillBelow*float64(m.c.Memory)))
	}
	return false, m.lines.evict(limit)
}

// makeRoom moves parts to disk until the given bytes are free.
func (m *memory) makeRoom(bytes int64) error {
	if m.c.Memory == 0 || m.left() >= bytes {
		return nil
	}
	var move []*part
	for need := bytes - m.left(); need > 0 && len(move) < len(m.lines.parts); {
		p := m.lines.parts[len(move)]
		if p.spilled == nil {
			need -= p.lineBytes()
		}
		move = append(move, p)
	}
	err := sched.Run(m.t.ctx, m.t.workers, len(move), func(worker, i int) error {
		if move[i].spilled != nil {
			return nil
		}
		return m.lines.moveToDisk(worker, move[i])
	})
	m.lines.held = 0
	for _, p := range m.lines.parts {
		m.lines.held += p.bytes()
	}
	return err
}
