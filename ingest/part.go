package ingest

import (
	"unsafe"

	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// part holds the lines of one chunk of an input, two codes for each line in the order of the text. Package
// ingest defines codes. Parts that exceed the memory are on disk. lineStore.load reads parts in memory and on
// disk.
type part struct {
	seq      int       // position among all chunks of the input
	file     int       // number of the input that the part comes from
	first    int64     // the number of the chunk's first line; 0 if there are no lines
	edges    int       // lines with an edge
	top      uint32    // the largest code; of a matrix, the code of the last row
	code     []uint32  // source and target of each line; nil if the part is spilled
	weight   []float64 // of each line; nil if the part is spilled or values is not set
	weighted bool      // the file has weights
	values   bool      // lines have weights, or codes that are packed with a weight
	gaps     []uint32  // for every line of text without an edge, how many edges come before it
	inDict   bool      // codes are the dictionary's
	leaving  bool      // a worker moves the part to disk; guarded by task.mu
	bad      lines.Faults
	stats    lines.Tally
	spilled  *sort.Record // where the part is on disk; nil: in memory
	mapped   int          // number of maps of the lineStore that were applied before it was spilled
}

// line returns the line number of edge i in the text. It returns 0 if the file has no lines.
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

// position returns the position of the first token of chunk seq in the input. Positions increase by one from
// token to token within a chunk, and from chunk to chunk.
func position(seq int) uint64 { return uint64(seq) << tokenBits }

// tokenBits is the number of bits for the tokens of a chunk. Each token takes at least two bytes of text.
const tokenBits = 20
