package propagation

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/heatwalk/heatwalk/method/choose"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/test/contract"
)

func TestOutOfFold(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 60, 20, 3, 8, 1)
	fold := make([]int, len(p.Row))
	for i := range fold {
		fold[i] = i % 4
	}
	testOutOfFold(t, p, fold)
}

// Conjugate gradients take hundreds of steps on a path, so that it is reduced if it is not a forest; the harmonic function is linear between
// labels.
func TestOutOfFoldReduced(t *testing.T) {
	p := pathWithTriangle(t, 6000)
	p.Row = []int{3, 1500, 2000, 4000, 5990}
	p.Class = []int{0, 1, 1, 0, 1}
	l := &Propagation{P: p, Alpha: 1, Rough: true}
	if !reduces(l) {
		t.Fatal("is not reduced")
	}
	fold := []int{0, 1, 0, 1, 2}
	held, err := l.OutOfFold(t.Context(), &choose.Task{Problem: p, Fold: fold})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{1, 1497.0 / 1997, 0.8, 1, 0}
	for i, row := range held.Scores {
		if math.Abs(float64(row[1])-want[i]) > 1e-4 {
			t.Errorf("label %d: %v, want %v", i, row, want[i])
		}
	}
}

func testOutOfFold(t *testing.T, p *problem.Problem, fold []int) {
	l := &Propagation{P: p, Alpha: 1, Rough: true}
	folds := slices.Max(fold) + 1
	held, err := l.OutOfFold(t.Context(), &choose.Task{Problem: p, Fold: fold})
	if err != nil {
		t.Fatal(err)
	}
	for f := range folds {
		want := withoutFold(t, l, fold, f)
		for i, row := range p.Row {
			if fold[i] != f {
				continue
			}
			for c, got := range held.Scores[i] {
				if math.Abs(float64(got)-want.At(row, c)) > 1e-4 {
					t.Errorf("label %d, class %d: %v, want %v", i, c, got, want.At(row, c))
				}
			}
		}
	}
}

// withoutFold returns L_UU⁻¹·A_UL·F_L of the labels outside a fold.
func withoutFold(t *testing.T, l *Propagation, fold []int, f int) *mat.Dense {
	p := l.P
	n := len(p.Degrees)
	system, values := mat.NewDense(n, n, nil), mat.NewDense(n, len(p.Names), nil)
	system.CloneFrom(p.A.(mat.Matrix))
	system.Scale(-1, system)
	for i, d := range p.Degrees {
		system.Set(i, i, system.At(i, i)+d)
	}
	for i, row := range p.Row {
		if fold[i] != f {
			for j := range n {
				system.Set(row, j, 0)
			}
			system.Set(row, row, 1)
			values.Set(row, p.Class[i], 1)
		}
	}
	var out mat.Dense
	if err := out.Solve(system, values); err != nil {
		t.Fatal(err)
	}
	return &out
}

func TestOutOfFoldAsksEnough(t *testing.T) {
	p, _ := contract.Blocks(t, 3, 3000, 2500, 2, 6, 1)
	fold := make([]int, len(p.Row))
	for i := range fold {
		fold[i] = i % 5
	}
	held, err := (&Propagation{P: p, Alpha: 1, Rough: true}).OutOfFold(t.Context(), &choose.Task{Problem: p, Fold: fold})
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range held.Scores {
		if asked := fold[i] < 2; asked != (row != nil) {
			t.Fatalf("label %d of fold %d: %v", i, fold[i], row)
		}
	}
}
