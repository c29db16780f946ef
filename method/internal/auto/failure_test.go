package auto

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/graph"
	"github.com/heatwalk/heatwalk/method/engine"
	"github.com/heatwalk/heatwalk/method/problem"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/test/contract"
	"github.com/heatwalk/heatwalk/test/testgraph"
)

var errSweep = errors.New("a sweep failed")

type failing struct {
	sparse.Matrix
	fail func() bool
}

func (f failing) SweepRows(ctx context.Context, lo, hi, workers int, visit func(worker int, p sparse.Panel) error) error {
	if f.fail() {
		return errSweep
	}
	return f.Matrix.SweepRows(ctx, lo, hi, workers, visit)
}

// problems returns small problems that take every path of a prediction.
func problems(t *testing.T) map[string]*problem.Problem {
	few, class := contract.Blocks(t, 4, 80, 12, 3, 5, 0.5)
	many, _ := contract.Blocks(t, 4, 80, 30, 3, 5, 0.5)
	words, _ := contract.Blocks(t, 4, 80, 30, 3, 5, 0.5)
	words.Attributes = wordsOf(rand.New(rand.NewPCG(1, 1)), class, 0.5, 0.1)
	numbers, _ := contract.Blocks(t, 4, 80, 30, 3, 5, 0.5)
	numbers.Attributes = noiseOf(rand.New(rand.NewPCG(1, 1)), 80, 4)
	directed, _ := contract.Blocks(t, 4, 80, 30, 3, 5, 0.5)
	directed.Directed = true
	return map[string]*problem.Problem{"few labels": few, "many": many, "words": words, "numbers": numbers, "directed": directed}
}

// The first and the last sweep of each chain of calls fail.
func TestSweepsFail(t *testing.T) {
	for name, p := range problems(t) {
		predict := func(fail func() bool) error {
			q := *p
			q.Graph = &graph.Graph{A: failing{p.A, fail}, Degrees: p.Degrees}
			_, err := predict(t.Context(), &q, &settings{Settings: engine.Settings{Workers: 1}})
			return err
		}
		sweeps, first, last := 0, map[string]int{}, map[string]int{}
		err := predict(func() bool {
			var calls [64]uintptr
			chain := fmt.Sprint(calls[:runtime.Callers(0, calls[:])])
			if _, known := first[chain]; !known {
				first[chain] = sweeps
			}
			last[chain] = sweeps
			sweeps++
			return false
		})
		if err != nil || sweeps == 0 {
			t.Fatalf("%s: %d sweeps, %v", name, sweeps, err)
		}
		ends := slices.Concat(slices.Collect(maps.Values(first)), slices.Collect(maps.Values(last)))
		for _, at := range testgraph.Sample(t, len(ends)/3, ends) {
			left := at
			if err := predict(func() bool { left--; return left == -1 }); !errors.Is(err, errSweep) {
				t.Errorf("%s: sweep %d of %d fails, the prediction ends with %v", name, at, sweeps, err)
			}
		}
	}
}

func TestCancelled(t *testing.T) {
	for name, p := range problems(t) {
		run := func(last int) (reported int, err error) {
			q := *p
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err = predict(ctx, &q, &settings{Settings: engine.Settings{Workers: 1, Progress: func(string, int64, int64) {
				if reported++; reported == last {
					cancel()
				}
			}}})
			return reported, err
		}
		steps, err := run(-1)
		if err != nil || steps == 0 {
			t.Fatalf("%s: %d steps, %v", name, steps, err)
		}
		for last := 1; last <= steps; last++ {
			if reported, err := run(last); reported != last || !errors.Is(err, context.Canceled) {
				t.Errorf("%s: cancelled at step %d of %d, reported %d, and ended with %v", name, last, steps, reported, err)
			}
		}
	}
}
