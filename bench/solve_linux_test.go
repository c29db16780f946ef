package bench

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/iterative"
	"github.com/heatwalk/heatwalk/sparse"
)

// BenchmarkSolve reports the processor seconds of the set-up and of the first solve of eight columns of L⁺ of the
// store HEATWALK_STORE. peers/solvers.py runs it.
func BenchmarkSolve(b *testing.B) {
	path := os.Getenv("HEATWALK_STORE")
	if path == "" {
		b.Skip("HEATWALK_STORE names no store")
	}
	opened, err := heatwalk.Open(b.Context(), path, &heatwalk.Options{LargestComponent: true})
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	job, err := opened.Begin(b.Context(), &heatwalk.Needs{Structure: true})
	if err != nil {
		b.Fatal(err)
	}
	n := len(job.Degrees)
	x := sparse.NewBlock[float64](n, 8)
	y := sparse.NewBlock[float64](n, 8)
	for j := range x.Cols {
		x.Row(j * n / x.Cols)[j] = 1
	}
	for b.Loop() {
		before := processorTime(b)
		s, err := iterative.ShiftedLaplacian(job.Graph, false, 1, 0)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.SolveTo(b.Context(), y, x, &iterative.Settings{Tolerance: 1e-8}); err != nil {
			b.Fatal(err)
		}
		first := processorTime(b)
		if _, err := s.SolveTo(b.Context(), y, x, &iterative.Settings{Tolerance: 1e-8}); err != nil {
			b.Fatal(err)
		}
		second := processorTime(b)
		b.ReportMetric((first - before - (second - first)).Seconds(), "setup-s")
		b.ReportMetric((second - first).Seconds(), "solve-s")
	}
}

func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
