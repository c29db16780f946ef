package generate

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/heatwalk/heatwalk/param"
)

// recursiveMatrix is the recursive matrix (R-MAT) of the Graph500 benchmark. An edge is put into a quarter of
// the adjacency matrix with probabilities a, b, c and 1−a−b−c, then into a quarter of this quarter, and
// so on. Edges may repeat, self loops occur, and some nodes have no edge. (Chakrabarti, Zhan, Faloutsos,
// R-MAT: a recursive model for graph mining, 2004.)
var recursiveMatrix = &Model{
	Spec: param.Spec{Name: "rmat", Title: "The recursive matrix model of the Graph500 benchmark", Works: param.Undirected, Params: []param.Param{
		wholeNumber("scale", "2^scale nodes", between(1, 32), 16),
		wholeNumber("edge-factor", "lines for each node; some repeat",
			between(1, 1<<20), 16),
		share("a", "share of the first quarter of the matrix", 0.57),
		share("b", "share of the second quarter", 0.19),
		withCheck(share("c", "share of the third quarter", 0.19), func(v param.Values) error {
			if sum := v.Number("a") + v.Number("b") + v.Number("c"); sum > 1 {
				return fmt.Errorf("a + b + c = %.4g; give shares with a sum of at most 1", sum)
			}
			return nil
		}),
		onOff("ordered", "leave large degrees at small numbers"),
	}},
	graph: func(v param.Values, d draws) Graph {
		return rmat{
			scale: v.Int("scale"), factor: v.Int("edge-factor"), a: v.Number("a"),
			b: v.Number("b"), c: v.Number("c"),
			ordered: v.On("ordered"), draws: d,
		}
	},
}

type rmat struct {
	scale, factor int
	a, b, c       float64
	ordered       bool // ids are not permuted
	draws
	noClasses
}

func (g rmat) Size() Size {
	return sizeOf(1<<g.scale, int64(g.factor)<<g.scale,
		blockLines*longestEdge*int64(g.workers))
}

// blockLines is the number of lines that are drawn from one random stream.
const blockLines = 1 << 15

// EdgesTo writes 2^scale · factor lines. Memory: half a megabyte for each worker.
func (g rmat) EdgesTo(ctx context.Context, w io.Writer) error {
	total := g.factor << g.scale
	const unit = 1 << levelBits
	lane := func(p float64) uint64 { return (unit - uint64(p*unit)) * lanes }
	quarters := quarters{levels: g.scale, a: lane(g.a), ab: lane(g.a + g.b),
		abc: lane(g.a + g.b + g.c)}
	ids := g.scramble()
	return inOrder(ctx, w, g.workers, (total+blockLines-1)/blockLines, func(text []byte, k int) []byte {
		text = slices.Grow(text, blockLines*longestEdge)
		r := rand.NewPCG(g.rngSeed, edgeStream+uint64(k)<<8)
		for range min(blockLines, total-k*blockLines) {
			u, v := quarters.draw(r)
			if !g.ordered {
				u, v = ids.of(u), ids.of(v)
			}
			text = appendEdge(text, u, v)
		}
		return text
	})
}

// quarters draws entries of the matrix. At each level it chooses a quarter: it compares a random number x
// below 2^16 with the cumulated probabilities a, a+b and a+b+c. To compare x with a bound, it adds 2^16 −
// bound to x; the sum carries into bit 16 if x ≥ bound. One addition compares several levels, and [gather]
// collects the carries.
type quarters struct {
	levels     int
	a, ab, abc uint64
}

// A level uses 16 bits of a random word, more than the digits of the probabilities, so that one word serves
// four levels.
const (
	levelBits = 16
	perWord   = 4
	lanes     = 1 | 1<<32 // two 16-bit numbers in a word, with space for a carry above each
)

// draw returns the row and the column of a random entry. At a level with random number x, the entry is in the
// lower half if x ≥ ab. It is in the right half if a ≤ x < ab or x ≥ abc.
func (q *quarters) draw(r *rand.PCG) (u, v uint64) {
	const first = 0xffff * lanes
	for level := 0; level < q.levels; level += perWord {
		word := r.Uint64()
		// levels 0 and 2, 1 and 3
		even := word & first
		odd := word >> levelBits & first
		down := gather(even+q.ab, odd+q.ab)
		right := gather((even+q.a)^(even+q.ab)^(even+q.abc),
			(odd+q.a)^(odd+q.ab)^(odd+q.abc))
		n := min(perWord, q.levels-level)
		u = u<<n | down>>(perWord-n)
		v = v<<n | right>>(perWord-n)
	}
	return u, v
}

// gather returns the carries of four levels, with the carry of the first level as the highest bit. even has
// the sums of levels 0 and 2, and odd the sums of levels 1 and 3. The carry is the bit above a sum.
func gather(even, odd uint64) uint64 {
	const carry = 1 << levelBits * lanes
	bits := even&carry<<1 | odd&carry
	return bits>>14&12 | bits>>48
}

// scramble is a permutation of the numbers below 2^scale, which hides the order of degrees in the ids:
// products with odd numbers modulo 2^scale, shifts, and a reversal of the bits.
type scramble struct {
	factor, offset [3]uint64
	mask           uint64
	shift, unused  int
}

// scramble draws the permutation from its own random stream, so that edges do not depend on it.
func (g rmat) scramble() scramble {
	s := scramble{mask: 1<<g.scale - 1, shift: max(1, g.scale/2),
		unused: 64 - g.scale}
	r := source(g.rngSeed, idStream)
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
