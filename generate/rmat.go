package generate

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
)

// RMAT is the recursive matrix of the Graph500 benchmark: an edge falls into
// one quarter of the adjacency matrix with probabilities A, B, C and the rest,
// then into a quarter of that, and so on. Lines may repeat and join a node to
// itself, and numbers may be missing, as the benchmark has it; ingest merges
// and drops. (Chakrabarti, Zhan, Faloutsos, R-MAT: a recursive model for graph
// mining, 2004.)
type RMAT struct {
	Scale      int     // 1 to 32; the nodes are 0 to 2^Scale − 1; 0 means 16
	EdgeFactor int     // lines for each node; 0 means 16
	A, B, C    float64 // all 0 means 0.57, 0.19, 0.19
	Ordered    bool    // leave the ids as they fall, large degrees first, instead of scrambled
	RNGSeed    uint64
	Workers    int // 0 means one for each processor
}

func (g RMAT) withDefaults() RMAT {
	if g.Scale == 0 {
		g.Scale = 16
	}
	if g.EdgeFactor == 0 {
		g.EdgeFactor = 16
	}
	if g.A == 0 && g.B == 0 && g.C == 0 {
		g.A, g.B, g.C = 0.57, 0.19, 0.19
	}
	if g.Workers <= 0 {
		g.Workers = runtime.GOMAXPROCS(0)
	}
	return g
}

// Validate reports what is wrong with the settings.
func (g RMAT) Validate() error {
	g = g.withDefaults()
	switch {
	case g.Scale < 1 || g.Scale > 32:
		return fmt.Errorf("generate: scale %d, want 1 to 32", g.Scale)
	case g.EdgeFactor < 1 || g.EdgeFactor > 1<<20:
		return fmt.Errorf("generate: %d edges for each node, want 1 to %d", g.EdgeFactor, 1<<20)
	case !(g.A >= 0 && g.B >= 0 && g.C >= 0 && g.A+g.B+g.C <= 1):
		return fmt.Errorf("generate: probabilities %v, %v and %v, want numbers ≥ 0 with a sum of at most 1", g.A, g.B, g.C)
	}
	return nil
}

// blockLines is how many lines share a random stream.
const blockLines = 1 << 15

// EdgesTo writes 2^Scale · EdgeFactor lines. Each worker keeps half a megabyte
// of them.
func (g RMAT) EdgesTo(ctx context.Context, w io.Writer) error {
	if err := g.Validate(); err != nil {
		return err
	}
	g = g.withDefaults()
	total := g.EdgeFactor << g.Scale
	quarters, ids := g.quarters(), g.scramble()
	return inOrder(ctx, w, g.Workers, (total+blockLines-1)/blockLines, func(text []byte, k int) []byte {
		text = slices.Grow(text, blockLines*longestEdge)
		r := rand.NewPCG(g.RNGSeed, edgeStream+uint64(k)<<8)
		for range min(blockLines, total-k*blockLines) {
			u, v := quarters.draw(r)
			if !g.Ordered {
				u, v = ids.of(u), ids.of(v)
			}
			text = appendEdge(text, u, v)
		}
		return text
	})
}

// quarters draws entries of the matrix.
type quarters struct {
	levels     int
	a, ab, abc uint64 // what a random number of a level is compared with, see atLeast
}

// Of each random word a level takes 16 bits, which are more than the
// probabilities' digits; four levels are drawn at once.
const (
	levelBits = 16
	perWord   = 4
	lanes     = 1 | 1<<32 // two numbers in a word, with room for a carry above each
)

func (g RMAT) quarters() quarters {
	const unit = 1 << levelBits
	lane := func(p float64) uint64 { return (unit - uint64(p*unit)) * lanes }
	return quarters{levels: g.Scale, a: lane(g.A), ab: lane(g.A + g.B), abc: lane(g.A + g.B + g.C)}
}

// draw returns the row and the column of an entry. With x the random number of
// a level, the entry lies in the lower half if x ≥ ab, in the right one if
// a ≤ x < ab or x ≥ abc.
func (q *quarters) draw(r *rand.PCG) (u, v uint64) {
	const first = 0xffff * lanes
	for level := 0; level < q.levels; level += perWord {
		word := r.Uint64()
		even, odd := word&first, word>>levelBits&first // levels 0 and 2, 1 and 3
		down := gather(even+q.ab, odd+q.ab)
		right := gather((even+q.a)^(even+q.ab)^(even+q.abc), (odd+q.a)^(odd+q.ab)^(odd+q.abc))
		n := min(perWord, q.levels-level)
		u = u<<n | down>>(perWord-n)
		v = v<<n | right>>(perWord-n)
	}
	return u, v
}

// gather returns the carries of four levels, the first as the highest bit. A
// carry stands above its number: x + (2^16 − p) reaches 2^16 where x ≥ p.
func gather(even, odd uint64) uint64 {
	const carry = 1 << levelBits * lanes
	bits := even&carry<<1 | odd&carry
	return bits>>14&12 | bits>>48
}

// scramble is a permutation of the numbers below 2^Scale: products with odd
// numbers, with shifts between them, modulo 2^Scale, and the bits reversed.
type scramble struct {
	factor, offset [3]uint64
	mask           uint64
	shift, unused  int
}

func (g RMAT) scramble() scramble {
	s := scramble{mask: 1<<g.Scale - 1, shift: max(1, g.Scale/2), unused: 64 - g.Scale}
	r := source(g.RNGSeed, idStream)
	for i := range s.factor {
		s.factor[i], s.offset[i] = r.Uint64()|1, r.Uint64()
	}
	return s
}

func (s *scramble) of(x uint64) uint64 {
	for i := range s.factor {
		x = (x*s.factor[i] + s.offset[i]) & s.mask
		x ^= x >> (s.shift & 63)
	}
	return bits.Reverse64(x) >> (s.unused & 63)
}
