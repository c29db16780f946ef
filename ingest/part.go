package ingest

import (
	"unsafe"

	"github.com/heatwalk/heatwalk/ingest/internal/lines"
	"github.com/heatwalk/heatwalk/ingest/internal/sort"
)

// part is what was read from one chunk of an edge list: a line for every two
// codes, in the order of the text. Codes are the ids themselves while all of
// them are small canonical integers, or the dictionary's codes. Parts that
// memory has no room for are on disk; see run.load for how all of them are read.
type part struct {
	seq      int       // position among all chunks of the input
	file     int       // number of the input that the part comes from
	first    int64     // the number of the chunk's first line; 0 if there are no lines
	edges    int       // lines with an edge
	top      uint32    // the largest code; of a matrix, the code of the last row
	code     []uint32  // source and target of each line; nil if the part is spilled
	weight   []float64 // of each line; nil if the part is spilled or weighted is not set
	weighted bool      // the file has weights
	gaps     []uint32  // for every line of text without an edge, how many edges come before it
	inDict   bool      // codes are the dictionary's
	leaving  bool      // a worker moves the part to disk; guarded by run.mu
	bad      lines.Faults
	stats    lines.Tally
	spilled  *sort.Record // where the part is on disk; nil: in memory
	mapped   int          // how many of the run's maps were applied before it was spilled
}

// line returns the number of the line of text that edge i came from, 0 if the
// file is not one of lines.
func (p *part) line(i int) int64 {
	if p.first == 0 {
		return 0
	}
	n := p.first + int64(i)
	for _, before := range p.gaps {
		if int(before) <= i {
			n++
		}
	}
	return n
}

// bytes returns how much memory a part holds.
func (p *part) bytes() int64 {
	const head = int64(unsafe.Sizeof(part{}) + unsafe.Sizeof(sort.Record{}))
	return head + int64(len(p.gaps))*4 + p.lineBytes()
}

// lineBytes returns how much of that goes with its lines to disk.
func (p *part) lineBytes() int64 { return int64(len(p.code))*4 + int64(len(p.weight))*8 }

// position returns where in the input the first token of chunk seq stands: what comes
// earlier has a lower number, and the next token the next one.
func position(seq int) uint64 { return uint64(seq) << tokenBits }

// tokenBits holds the number of tokens of a chunk, each of which takes two
// bytes at least.
const tokenBits = 20
