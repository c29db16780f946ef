package bench

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"os"
)

// scalingJob is a call of heatwalk on a graph.
type scalingJob struct {
	name       string
	workload   string // of bench, whose document has the times and the checksum; "": the whole call counts
	hasColumns bool
	hasSources bool // it also reads a store from disk in every sweep
	learns     bool // from labels and attributes
	words      func(c *Cell, g *scalingGraph, output string) []string
	check      func(output string) []string // the call whose checksum is that of the output; nil: that of its bytes

	width  int // columns of each sweep; 0: those of the cell
	bytes  int // of a number in a sweep; 0: the job has no sweeps of known width
	sweeps int // of peers, 0: not known
}

// scalingJobs are the jobs of [Scaling] in their order.
var scalingJobs = []scalingJob{
	{name: "decode", workload: "decode", width: 1, bytes: 4, sweeps: 1, words: func(_ *Cell, g *scalingGraph, _ string) []string {
		return []string{"bench", "decode", g.store, "--repeat=5"}
	}},
	{name: "spmm", workload: "spmm", hasColumns: true, hasSources: true, bytes: 4, sweeps: 1, words: func(c *Cell, g *scalingGraph, _ string) []string {
		return []string{"bench", "spmm", g.store, "--repeat=5", fmt.Sprintf("--columns=%d", c.Columns), "--source=" + c.Source}
	}},
	{name: "walk", workload: "walk", hasSources: true, width: walkClasses, bytes: 4, sweeps: walkSteps, words: func(c *Cell, g *scalingGraph, _ string) []string {
		return []string{"bench", "walk", g.store, "--repeat=3", "--source=" + c.Source}
	}},
	{name: "solve", hasColumns: true, bytes: 8, words: columnsOf("pseudo-inverse")},
	{name: "exp", hasColumns: true, bytes: 8, words: columnsOf("diffusion:beta=10")},
	{name: "eigen", hasColumns: true, words: func(c *Cell, g *scalingGraph, output string) []string {
		return []string{"eigen", g.store, "--matrix=normalized-adjacency", "--which=largest", fmt.Sprintf("--k=%d", c.Columns), "-o", output + ".npy"}
	}},
	{name: "ingest", width: 1, check: decodeOnce, words: func(_ *Cell, g *scalingGraph, output string) []string {
		return []string{"ingest", g.text, "--order=degree", "--force", "-o", output}
	}},
	{name: "classify", learns: true, width: 1, words: func(_ *Cell, g *scalingGraph, output string) []string {
		return []string{"classify", g.store, "-o", output + ".tsv"}
	}},
	{name: "kernel", hasColumns: true, words: func(c *Cell, g *scalingGraph, output string) []string {
		return []string{"kernel", g.store, "--kernel=regularized-laplacian", "--dtype=float64",
			"--rows", g.rows, "--cols", g.columns[c.Columns], "-o", output + ".npy"}
	}},
}

// columnsOf returns the words of the call that computes columns of a kernel.
func columnsOf(kernel string) func(c *Cell, g *scalingGraph, output string) []string {
	return func(c *Cell, g *scalingGraph, output string) []string {
		return []string{"kernel", g.store, "--kernel", kernel, "--dtype=float64", "--cols", g.columns[c.Columns], "-o", output + ".npy"}
	}
}

// ScalingJobs returns the names of the jobs that [Scaling] has.
func ScalingJobs() []string {
	names := make([]string, len(scalingJobs))
	for i, job := range scalingJobs {
		names[i] = job.name
	}
	return names
}

// decodeOnce returns the words of a sweep over a store.
func decodeOnce(store string) []string { return []string{"bench", "decode", store, "--repeat=1"} }

// checksumOf returns the checksum of the answer of a job.
func (s *Scaling) checksumOf(ctx context.Context, j *scalingJob, d *childDocument, output string) (float64, error) {
	var err error
	if j.check != nil {
		d, _, err = s.call(ctx, 0, j.check(output)...)
	}
	if err != nil {
		return 0, err
	}
	if d.Checksum != nil {
		return *d.Checksum, nil
	}
	data, err := os.ReadFile(output)
	return float64(crc32.ChecksumIEEE(data)), err
}

// row returns the columns and the bytes of a row in each sweep.
func (j *scalingJob) row(columns int) (width, bytes int) {
	width = cmp.Or(j.width, columns)
	return width, width * j.bytes
}
