package ingest

import (
	"math"
	"math/bits"
	"slices"

	"github.com/heatwalk/heatwalk/ingest/internal/ids"
	"github.com/heatwalk/heatwalk/ingest/internal/lines"
)

// sampled is what samples tell of the ids of a graph, in memory that does not grow with
// them. Blocks of them are counted by turns in one of two ways.
type sampled struct {
	whole   bool       // the samples are all there is
	turn    int        // of the block that is looked at, 0 or 1
	tokens  [2]int     // ids looked at, by turn
	known   [2]*sketch // the distinct ids looked at, by turn
	often   []uint32   // number of ids looked at with each remainder of their hash
	digits  int        // binary digits of the numbers among the samples
	bytes   int        // of the ids that are not numbers
	numeric bool       // small numbers only
	top     uint32     // the largest of the numbers
	seen    *ids.Set   // the small integers among the ids, where all are looked at; or else nil
}

// oftenCounts is how many counts tell of the most frequent id.
const oftenCounts = 1 << 16

func newSampled() sampled {
	return sampled{whole: true, numeric: true, known: [2]*sketch{newSketch(), newSketch()}, often: make([]uint32, oftenCounts)}
}

// next begins another block.
func (s *sampled) next() { s.turn = 1 - s.turn }

// id takes note of an id.
func (s *sampled) id(id []byte) {
	if v, ok := lines.SmallNumber(id); ok {
		s.number(uint64(v))
		return
	}
	s.numeric = false
	s.bytes += len(id)
	s.add(hashOf(id))
}

// number takes note of an id that is a number.
func (s *sampled) number(n uint64) {
	if n > math.MaxUint32 {
		s.numeric = false
	} else {
		s.top = max(s.top, uint32(n))
		if s.seen != nil {
			s.seen.Add([]uint32{uint32(n)}, uint32(n))
		}
	}
	s.digits += bits.Len64(n | 1)
	s.add(mix(n))
}

func (s *sampled) add(hash uint64) {
	s.often[hash%oftenCounts]++
	s.tokens[s.turn]++
	s.known[s.turn].add(hash)
}

// count returns how many ids were looked at.
func (s *sampled) count() float64 { return float64(s.tokens[0] + s.tokens[1]) }

// idBytes returns the mean length of the sampled ids. Frequent ones count as
// often as they occur, which matters little.
func (s *sampled) idBytes() float64 {
	const rounded = 1 // digit of a number, at the most
	return rounded + (float64(s.bytes)+math.Log10(2)*float64(s.digits))/max(1, s.count())
}

// hubs bounds how many entries the longest rows of a graph of so many lines have before
// lines of one edge are merged: of so many rows.
func (s *sampled) hubs(rows int, lines float64) []int {
	hubs := make([]int, rows)
	if s.count() == 0 {
		return hubs
	}
	often := slices.Sorted(slices.Values(s.often))
	for i := range min(rows, len(often)) {
		n := float64(often[len(often)-1-i])
		hubs[i] = int((n + 3*math.Sqrt(n)) * max(1, 2*lines/s.count()))
	}
	return hubs
}

// gapless reports whether all ids are known to be numbers from 0 on.
func (s *sampled) gapless() bool {
	return s.seen != nil && s.numeric && !s.seen.Sparse && ids.NewRanks(s.seen.Words).N == int(s.top)+1
}

// distinct bounds how many distinct ids a graph of so many lines has. They grow with the
// lines, more and more slowly: the power with which they grow from every other block of
// the sample to all of it bounds what comes behind. No graph has more than two
// for each line, nor more small numbers than the largest one says.
func (s *sampled) distinct(lines float64) float64 {
	if s.gapless() {
		return float64(s.top) + 1
	}
	const off, offBoth = 1.005, 1.015 // how far the counting may be off, and two counts together
	all := s.known[0].count(s.known[1])
	n := all * off
	if !s.whole {
		power := 1.0
		if half := s.known[0].count(s.known[0]); half > 0 && s.tokens[1] > 0 {
			power = min(1, max(0, math.Log(all/half)/math.Log(s.count()/float64(s.tokens[0]))))
		}
		n *= offBoth * math.Pow(max(1, 2*lines/max(1, s.count())), power)
	}
	n = min(n, max(s.count(), 2*lines))
	if s.numeric {
		n = min(n, float64(s.top)*1.01+1)
	}
	return n
}
