package cwk_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

func TestWalksOnSeveralProcesses(t *testing.T) {
	whole := randomWalk[float64](t, 5)
	n, classes := len(whole.Degrees), whole.Seeds.Classes
	whole.Prior.Given = givenPrior(6, n, classes)
	named := append([]int{0, 3, 39}, whole.Seeds.Row...) // seeds and other nodes of the block
	slices.Sort(named)
	named = slices.Compact(named)
	weights := sparse.NewBlock[float64](classes*(whole.Steps+1), 2)
	for i := range weights.Rows {
		weights.Row(i)[0], weights.Row(i)[1] = math.Sin(float64(i)), math.Cos(float64(i))
	}
	fold := make([]int, len(whole.Seeds.Row))
	for i := range fold {
		fold[i] = i % 3
	}
	whole.Variants = cwk.FoldVariants(0.5, fold)
	results := func(w *cwk.Walk[float64], rows []int) (k, scores *sparse.Block[float64], err error) {
		picks := cwk.Picks(rows, w.Seeds, fold)
		k = sparse.NewBlock[float64](len(rows), len(rows)+w.Seeds.Classes*(w.Steps+1))
		err = w.Gram(t.Context(), 0, picks, picks, func(lo int, panel *sparse.Block[float64]) error {
			for i := range panel.Rows {
				copy(k.Row(lo+i), panel.Row(i))
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		f, err := w.Features(t.Context(), 0, picks, nil)
		if err != nil {
			return nil, nil, err
		}
		for i := range rows {
			copy(k.Row(i)[len(rows):], f.Row(i))
		}
		scores = sparse.NewBlock[float64](len(w.Degrees), weights.Cols)
		return k, scores, w.Scores(t.Context(), scores, 0, weights, []float64{1, 2}, nil)
	}
	want, wantScores, err := results(whole, named)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{2, 3} {
		blocks := make([][2]*sparse.Block[float64], size) // blocks of the last run
		for run := range 2 {
			err := testgraph.Processes(size, func(network sparse.Network) error {
				bounds := []int{0, 10, 25, n}
				d := sparse.NewDivision(n, network, append(bounds[:size:size], n), named)
				a, err := sparse.Divide(t.Context(), whole.A, d, 0, 1)
				if err != nil {
					return err
				}
				w := *whole
				w.A, w.Degrees, w.Workers = a, make([]float64, len(d.Team.Rows)), 1+network.Rank()
				w.Prior.Given = sparse.NewBlock[float64](len(d.Team.Rows), classes)
				for i, row := range d.Team.Rows {
					if !d.Team.IsPadding(i) {
						w.Degrees[i] = whole.Degrees[row]
						copy(w.Prior.Given.Row(i), whole.Prior.Given.Row(int(row)))
					}
				}
				w.Seeds.Row = make([]int, len(fold))
				for i, row := range whole.Seeds.Row {
					w.Seeds.Row[i], _ = d.Local(row)
				}
				rows := make([]int, len(named))
				for i, row := range named {
					rows[i], _ = d.Local(row)
				}
				got, gotScores, err := results(&w, rows)
				if err != nil {
					return err
				}
				for i := range got.Rows {
					for j, v := range got.Row(i) {
						if math.Abs(v-want.Row(i)[j]) > 1e-14 {
							return fmt.Errorf("process %d: value (%d, %d) is %v, want %v", network.Rank(), i, j, v, want.Row(i)[j])
						}
					}
				}
				for i, row := range d.Team.Rows {
					for j, v := range gotScores.Row(i) {
						if !d.Team.IsPadding(i) && math.Abs(v-wantScores.Row(int(row))[j]) > 1e-13 {
							return fmt.Errorf("process %d: score (%d, %d) is %v, want %v", network.Rank(), row, j, v, wantScores.Row(int(row))[j])
						}
					}
				}
				before := blocks[network.Rank()]
				blocks[network.Rank()] = [2]*sparse.Block[float64]{got, gotScores}
				if run > 0 && !(slices.Equal(before[0].Data, got.Data) && slices.Equal(before[1].Data, gotScores.Data)) {
					return fmt.Errorf("process %d: another run has other bits", network.Rank())
				}
				return nil
			})
			if err != nil {
				t.Fatalf("%d processes: %v", size, err)
			}
			for rank, b := range blocks {
				if !slices.Equal(b[0].Data, blocks[0][0].Data) {
					t.Errorf("process %d of %d has other kernel values than process 0", rank, size)
				}
			}
		}
	}
}

// A seed must be a row of every process.
func TestSeedsAreNamedRows(t *testing.T) {
	whole := randomWalk[float32](t, 5)
	err := testgraph.Processes(2, func(network sparse.Network) error {
		d := sparse.NewDivision(40, network, []int{0, 20, 40}, nil)
		a, err := sparse.Divide(t.Context(), whole.A, d, 0, 1)
		if err != nil {
			return err
		}
		w := *whole
		w.A, w.Degrees = a, make([]float64, len(d.Team.Rows))
		if err := w.Validate(); err == nil {
			return fmt.Errorf("seeds that other processes lack are accepted")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
