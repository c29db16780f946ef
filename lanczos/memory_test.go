package lanczos

import (
	"errors"
	"runtime"
	"testing"

	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

// TestBlocksOfLOBPCG: what LOBPCG holds, with the copy that a scaled map makes of a block, is
// at most Bytes, and at least half of that.
func TestBlocksOfLOBPCG(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a fifth of a second")
	}
	const n, k = 20_000, 48
	a := testgraph.Path(n)
	op := sparse.NewOperator[float64](sparse.NormalizedAdjacency, a, degreesOf(t, a))
	op.Workers = 1
	before, most := inUse(), int64(0)
	s := &Settings{Preconditioned: true, Workers: 1, MaxProducts: 60}
	s.Progress = func(string, int64, int64) { most = max(most, inUse()-before) }
	_, err := (&Problem{A: op}).Solve(ctx, k, s)
	if !errors.Is(err, ErrIterationLimit) {
		t.Fatal(err)
	}
	if listed := Bytes(n, k, 0, s); most > listed || 2*most < listed {
		t.Errorf("%d bytes are held, %d listed", most, listed)
	}
}

// TestBlocksOfLanczos: what Lanczos holds is at most Bytes, and at least nine tenths of it.
func TestBlocksOfLanczos(t *testing.T) {
	const n, k = 20_000, 4
	op := &sparse.Operator[float64]{A: testgraph.Path(n), Workers: 1}
	before, most := inUse(), int64(0)
	s := &Settings{Workers: 1, MaxProducts: 20}
	s.Progress = func(string, int64, int64) { most = max(most, inUse()-before) }
	_, err := (&Problem{A: op}).Solve(ctx, k, s)
	if !errors.Is(err, ErrIterationLimit) {
		t.Fatal(err)
	}
	if listed := Bytes(n, k, 0, s); most > listed || most < listed/10*9 {
		t.Errorf("%d bytes are held, %d listed", most, listed)
	}
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools release their memory at the second collection
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
