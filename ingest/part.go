package ingest

import (
	"unsafe"

	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// part holds the lines of one chunk of an input in the order of the text, in memory or on disk. A code stands
// for an id: the id itself if ids are small integers, and otherwise the code of the dictionary.
type part struct {
	seq      int // position among all chunks
	file     int
	first    int64 // number of the chunk's first line; 0 if the input has no lines
	edges    int
	top      uint32    // the largest code; for a matrix, the code of the last row
	code     []uint32  // source and target of each line; nil if the part is spilled
	weight   []float64 // nil if the part is spilled or values is not set
	weighted bool
	values   bool     // lines have weights, or codes that are packed with a weight
	gaps     []uint32 // for each line without an edge, the number of edges before it
	inDict   bool     // codes are places in the dictionary
	leaving  bool     // a worker moves the part to disk; guarded by task.mu
	bad      lines.Faults
	stats    lines.Tally
	spilled  *sort.Record // place on disk; nil: in memory
	mapped   int          // number of the lineStore's maps that were applied before the part was spilled
}

func (p *part) line(i int) int64 {
	if p.first == 0 {
		return 0
	}
	n := p.first + int64(i)
	for _, gap := range p.gaps {
		if int(gap) <= i {
			n++
		}
	}
	return n
}

func (p *part) bytes() int64 {
	const head = int64(unsafe.Sizeof(part{}) + unsafe.Sizeof(sort.Record{}))
	return head + int64(len(p.gaps))*4 + p.lineBytes()
}

func (p *part) lineBytes() int64 {
	return int64(len(p.code))*4 + int64(len(p.weight))*8
}

// position returns the position of the first token of chunk seq. Positions increase by one from token to
// token, and from chunk to chunk.
func position(seq int) uint64 { return uint64(seq) << tokenBits }

// tokenBits suffices for the tokens of a chunk, because each token takes at least two bytes of text.
const tokenBits = 20
