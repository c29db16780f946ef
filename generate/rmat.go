package generate

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"
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
	Seed       uint64  // rng seed
	Workers    int     // 0 means one for each processor
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

// EdgesTo writes 2^Scale · EdgeFactor lines.
func (g RMAT) EdgesTo(ctx context.Context, w io.Writer) error {
	if err := g.Validate(); err != nil {
		return err
	}
	g = g.withDefaults()
	total := g.EdgeFactor << g.Scale
	blocks := (total + blockLines - 1) / blockLines
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		turn    = sync.NewCond(&mu)
		next    int // block to be made
		written int // blocks
		failed  error
	)
	work := func() {
		var text []byte
		for {
			mu.Lock()
			if failed == nil && ctx.Err() != nil {
				failed = ctx.Err()
			}
			k := next
			next++
			stop := failed != nil || k >= blocks
			mu.Unlock()
			if stop {
				turn.Broadcast()
				return
			}
			text = g.block(text[:0], k, min(blockLines, total-k*blockLines))
			mu.Lock()
			for written != k && failed == nil {
				turn.Wait()
			}
			if failed == nil {
				_, failed = w.Write(text)
				written++
			}
			mu.Unlock()
			turn.Broadcast()
		}
	}
	for range g.Workers {
		group.Go(work)
	}
	group.Wait()
	return failed
}

// block appends the lines of block k.
func (g RMAT) block(text []byte, k, lines int) []byte {
	r := rand.New(rand.NewPCG(g.Seed, edgeStream+uint64(k)<<8))
	// 16 random bits for each level are more than the probabilities' digits.
	const unit = 1 << 16
	a, ab, abc := uint64(g.A*unit), uint64((g.A+g.B)*unit), uint64((g.A+g.B+g.C)*unit)
	scramble := g.scrambler()
	for range lines {
		var u, v uint64
		var random uint64
		for level := range g.Scale {
			if level%4 == 0 {
				random = r.Uint64()
			}
			x := random & (unit - 1)
			random >>= 16
			u, v = u<<1, v<<1
			switch {
			case x < a:
			case x < ab:
				v |= 1
			case x < abc:
				u |= 1
			default:
				u |= 1
				v |= 1
			}
		}
		text = appendEdge(text, int(scramble(u)), int(scramble(v)))
	}
	return text
}

// scrambler returns a permutation of the numbers below 2^Scale: products with
// odd numbers, with shifts between them, modulo 2^Scale.
func (g RMAT) scrambler() func(uint64) uint64 {
	if g.Ordered {
		return func(x uint64) uint64 { return x }
	}
	r := source(g.Seed, idStream)
	mask := uint64(1)<<g.Scale - 1
	shift := max(1, g.Scale/2)
	var factor, offset [3]uint64
	for i := range factor {
		factor[i], offset[i] = r.Uint64()|1, r.Uint64()
	}
	return func(x uint64) uint64 {
		for i := range factor {
			x = (x*factor[i] + offset[i]) & mask
			x ^= x >> shift
		}
		return bits.Reverse64(x) >> (64 - g.Scale)
	}
}
