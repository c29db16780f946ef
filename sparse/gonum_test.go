package sparse_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/sparse"
)

func TestBlocksAreGonums(t *testing.T) {
	whole := sparse.NewBlock[float64](4, 7)
	for _, b := range []*sparse.Block[float64]{whole, whole.Columns(2, 6), whole.Columns(6, 7)} {
		d := sparse.DenseOf(b)
		d.Set(3, 0, 5)
		if b.At(3, 0) != 5 {
			t.Error("what gonum writes is not in the block")
		}
		b.Row(2)[0] = 6
		if d.At(2, 0) != 6 || !mat.Equal(d, b) {
			t.Errorf("the block %v is gonum's %v", mat.Formatted(b), mat.Formatted(d))
		}
		if again := sparse.BlockOfDense(d); &again.Data[0] != &b.Data[0] || !mat.Equal(again, b) {
			t.Error("the block of a block's matrix is another")
		}
	}
	dense := mat.NewDense(5, 6, nil)
	part := dense.Slice(1, 4, 2, 5).(*mat.Dense)
	sparse.BlockOfDense(part).Row(1)[2] = 7
	if dense.At(2, 4) != 7 {
		t.Error("a change of the block is not visible in the gonum matrix")
	}
	panics(t, mismatch, func() { sparse.BlockOfDense(new(mat.Dense)) })
}

func TestStepOnGonumsMemory(t *testing.T) {
	rng := newRand(t, 13)
	for _, cols := range []int{1, 3, 8, 17} {
		a := random(t, rng, pattern{rows: 50, cols: 50, mean: 6})
		op := &sparse.Operator[float64]{A: a, Scale: 1}
		x, want := sparse.NewBlock[float64](50, cols), sparse.NewBlock[float64](50, cols)
		from, to := mat.NewDense(50, cols+5, vector(rng, 50*(cols+5))), mat.NewDense(50, cols+5, vector(rng, 50*(cols+5)))
		in, out := from.Slice(0, 50, 2, 2+cols).(*mat.Dense), to.Slice(0, 50, 3, 3+cols).(*mat.Dense)
		sparse.DenseOf(x).Copy(in)
		before := mat.DenseCopyOf(to)
		step := sparse.Step[float64]{Alpha: 1, Beta: 0.5}
		if err := op.StepTo(t.Context(), want, x, step); err != nil {
			t.Fatal(err)
		}
		if err := op.StepTo(t.Context(), sparse.BlockOfDense(out), sparse.BlockOfDense(in), step); err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(out, want) {
			t.Errorf("%d columns: another result in gonum's memory", cols)
		}
		out.Zero()
		before.Slice(0, 50, 3, 3+cols).(*mat.Dense).Zero()
		if !mat.Equal(to, before) {
			t.Errorf("%d columns: something else was written", cols)
		}
	}
}
