package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/heatwalk/heatwalk/internal/report"
)

// Job is one run of the command on a block model of a number of edges: the text of the graph into a store,
// or the labels of all nodes from some by a method.
type Job struct {
	Edges      int64   `json:"edges"` // expected number of the model
	Nodes      int64   `json:"nodes"`
	Name       string  `json:"job"` // ingest, auto, lp or cwk
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
	PeakBytes  int64   `json:"peak_memory_bytes"`
	Accuracy   float64 `json:"accuracy,omitempty"` // of nodes without a label
}

const (
	jobDegree   = 20     // mean degree of the models
	jobClasses  = 6      // of unequal sizes
	jobLabels   = 10_000 // expected number of labels, of large models
	jobFraction = 0.02   // largest share of labels

	// mostJobSeconds bounds the processor time of a method on one model; a method that exceeds it is left
	// out of larger ones, which take four times as long.
	mostJobSeconds = 240

	// JobStep is the factor between the numbers of edges of two models, as a power of 2.
	JobStep = 2
)

var jobMethods = []string{"auto", "lp", "cwk"}

// Jobs runs the command program on block models of 2^minScale, 2^(minScale+JobStep), … 2^maxScale edges, which it
// makes in dir, and calls report after each job. An empty memory means no limit.
func Jobs(ctx context.Context, program, dir, memory string, lowest, highest int, report func(Job)) error {
	slow := map[string]bool{}
	for scale := lowest; scale <= highest; scale += JobStep {
		j := &jobRun{ctx: ctx, program: program, dir: dir, memory: memory, edges: 1 << scale}
		j.nodes = max(2*jobClasses, 2*j.edges/jobDegree)
		text, store, labels, truth := j.path("edges.tsv"), j.path("store"), j.path("labels.tsv"), j.path("truth.tsv")
		fraction := min(jobFraction, jobLabels/float64(j.nodes))
		if _, err := j.run("generate", "sbm", "--nodes", fmt.Sprint(j.nodes), "--edges", fmt.Sprint(j.edges), "--classes", fmt.Sprint(jobClasses),
			"--homophily", "0.9", "-o", text, "--labels", labels, "--fraction", fmt.Sprint(fraction), "--truth", truth); err != nil {
			return err
		}
		job, err := j.run("ingest", text, "-o", store)
		if err != nil {
			return err
		}
		job.Name = "ingest"
		report(*job)
		if err := os.Remove(text); err != nil {
			return err
		}
		for _, method := range jobMethods {
			if slow[method] {
				continue
			}
			job, err := j.run("classify", store, "--labels", labels, "--truth", truth, "--method", method, "-o", j.path("out.tsv"))
			if err != nil {
				return err
			}
			job.Name = method
			report(*job)
			slow[method] = job.CPUSeconds > mostJobSeconds
		}
		if err := os.RemoveAll(store); err != nil {
			return err
		}
	}
	return nil
}

// jobRun runs commands on one model.
type jobRun struct {
	ctx                  context.Context
	program, dir, memory string
	nodes, edges         int64
}

func (j *jobRun) path(name string) string { return filepath.Join(j.dir, name) }

// run runs the command with arguments and returns its cost and accuracy.
func (j *jobRun) run(args ...string) (*Job, error) {
	args = append(args, "--json")
	if j.memory != "" {
		args = append(args, "--max-memory", j.memory)
	}
	cmd := exec.CommandContext(j.ctx, j.program, args...)
	start := time.Now()
	out, err := cmd.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		return nil, fmt.Errorf("bench: heatwalk %s: %w: %s", args[0], err, failed.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: heatwalk %s: %w", args[0], err)
	}
	var reported struct {
		Peak int64 `json:"peak_memory_bytes"`
	}
	var scored struct {
		Truth struct {
			Accuracy float64 `json:"accuracy"`
		} `json:"truth"`
	}
	err = json.Unmarshal(out, &reported)
	if err == nil && args[0] == "classify" {
		err = json.Unmarshal(out, &scored)
	}
	if err != nil {
		return nil, fmt.Errorf("bench: output of heatwalk %s: %w", args[0], err)
	}
	state := cmd.ProcessState
	return &Job{
		Edges: j.edges, Nodes: j.nodes, Seconds: time.Since(start).Seconds(), CPUSeconds: (state.UserTime() + state.SystemTime()).Seconds(),
		PeakBytes: reported.Peak, Accuracy: scored.Truth.Accuracy,
	}, nil
}

// JobsSVG draws the processor time and the memory of jobs over the number of edges, on logarithmic axes.
func JobsSVG(w io.Writer, jobs []Job) error {
	return report.WriteSVG(w, "",
		jobsChart("seconds of processor time", jobs, func(j Job) float64 { return j.CPUSeconds }),
		jobsChart("peak memory, GB", jobs, func(j Job) float64 { return float64(j.PeakBytes) / 1e9 }),
	)
}

// leastDrawn replaces smaller values, which a logarithmic axis cannot have.
const leastDrawn = 1e-3

// jobsChart draws a value of each job, a curve for each kind of job.
func jobsChart(title string, jobs []Job, value func(Job) float64) *report.Chart {
	c := &report.Chart{X: report.Axis{Title: "edges", Log: true}, Y: report.Axis{Title: title, Log: true}}
	for _, name := range append([]string{"ingest"}, jobMethods...) {
		line := report.Line{Name: name}
		for _, j := range jobs {
			if j.Name == name {
				line.Points = append(line.Points, report.Point{X: float64(j.Edges), Y: max(value(j), leastDrawn)})
			}
		}
		if line.Points != nil {
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}
