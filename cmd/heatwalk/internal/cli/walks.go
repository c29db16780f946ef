package cli

import (
	"fmt"

	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/spf13/pflag"
)

// walking holds what a walk is made of.
type walking struct {
	labels, prior string
	values        spec.Values // complete values of the parameters of cwk.Spec
}

func (w *walking) alpha() float64 { return w.values.Number("alpha") }
func (w *walking) steps() int     { return w.values.Int("steps") }
func (w *walking) minSteps() int  { return w.values.Int("min-steps") }

// walkFlags declares the flags of w but for those of parameters.
func (in *invocation) walkFlags(flags *pflag.FlagSet, w *walking, labels string) {
	in.labelFlags(flags, &w.labels, "`FILE` of node<TAB>label lines"+labels)
	flags.StringVar(&w.prior, "prior", "uniform", "start of walks at nodes without a label: uniform, empirical, or a `FILE` of distributions")
}

// walkParams returns the parameters of a walk.
func walkParams(otherwise func(p *spec.Param) string) (list declaredParams) {
	list.addAll(&cwk.Spec, cwk.Spec.Takes(), otherwise)
	return list
}

// checkWalk finds the values of a walk whose parameters are not chosen, and notes what is
// wrong with the flags of w together.
func (in *invocation) checkWalk(flags *pflag.FlagSet, w *walking) {
	_, w.values = in.given(flags, &cwk.Spec)
	in.checkSteps(w.values)
	in.checkLabels(w)
}

// checkLabels notes that there are no labels.
func (in *invocation) checkLabels(w *walking) {
	if w.labels == "" {
		in.problem("--labels", "a walk needs labels; write --labels FILE with node<TAB>label lines")
	}
}

// checkSteps notes a first step beyond the last one.
func (in *invocation) checkSteps(v spec.Values) {
	if !v.Has("steps") || !v.Has("min-steps") {
		return
	}
	if first, last := v.Number("min-steps"), v.Number("steps"); first > last {
		in.problem("--min-steps", "%v lies beyond the last step, %v; give at most that", first, last)
	}
}

// priorOf returns the prior that --prior names.
func (in *invocation) priorOf(w *walking, g *openGraph, l *nodefile.Labels) (cwk.Prior, error) {
	switch w.prior {
	case "uniform":
		return cwk.Prior{}, nil
	case "empirical":
		return cwk.Prior{Empirical: true, Pseudo: 1}, nil
	}
	p, err := nodefile.ReadPrior(in.ctx, w.prior, g.Nodes(), l.Names, in.stdin)
	if err != nil {
		return cwk.Prior{}, err
	}
	return cwk.Prior{Given: p}, nil
}

// seedsOf returns the labelled nodes as the seeds of a walk.
func seedsOf(l *nodefile.Labels) cwk.Seeds {
	return cwk.Seeds{Row: l.Row, Class: l.Class, Classes: len(l.Names)}
}

// walkMatrix is a matrix that a walk makes.
type walkMatrix[T sparse.Float] struct {
	rows, cols axis
	lines      lines
	settle     func(w *cwk.Walk[T]) // completes a walk
	memory     func(w *cwk.Walk[T]) (list []spec.Bytes, sweeps int, err error)
	panels     func(w *cwk.Walk[T], sink func(lo int, panel *sparse.Block[T]) error) error

	parameters walkParameters
	command    string
	slab       slabFlag
	shape      evaluate.Shape // of a slab
}

// fewerNodes is what to do where a block of nodes is too large for a disk.
const fewerNodes = "name fewer columns (--cols), rows (--rows), or another disk"

// writeWalk writes a matrix of a walk; advice is what to do where it is too large for the disk.
func writeWalk[T sparse.Float](d *graphRun, f *walking, m *walkMatrix[T], advice string) error {
	in := d.in
	files, err := d.checkMatrix(m.rows, m.cols, m.shape.Dtype, advice)
	if err != nil {
		return err
	}
	prior, err := in.priorOf(f, d.g, d.l)
	if err != nil {
		return err
	}
	var walk *cwk.Walk[T]
	err = in.take(d.g, func() (*needs, error) {
		n, err := d.needs(files)
		if err != nil {
			return n, err
		}
		walk = &cwk.Walk[T]{
			A: d.g.matrix, Degrees: d.g.Degrees(), Seeds: seedsOf(d.l), Prior: prior,
			Steps: f.steps(), Variants: []cwk.Variant{{Absorb: f.alpha()}}, Workers: in.threads, Progress: in.progress.Showing("walking", "sweep"),
		}
		if err := n.Reserve(16*int64(len(d.rows)+len(d.cols)), "picked rows"); err != nil {
			return n, err
		}
		if left, limited := n.Left(); limited {
			walk.Memory = max(1, left)
		}
		m.settle(walk)
		return n, n.walk(m.memory(walk))
	})
	if err != nil {
		return err
	}
	walk.A = d.g.matrix // which is loaded now
	file, err := newDenseFile[T](d.dense, m.rows, m.cols, m.lines)
	if err != nil {
		return err
	}
	err = m.panels(walk, func(_ int, panel *sparse.Block[T]) error { return writeRows(in.ctx, file, panel) })
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = d.setPart(m.command, m.slab, m.parameters, m.shape)
	}
	if err != nil {
		return err
	}
	p := &m.parameters
	r := &matrixDocument{Output: d.path, Rows: m.rows.N, Cols: m.cols.N, Dtype: m.shape.Dtype, Parameters: p}
	return d.finish(r, storeOf(d.g.Manifest()), p, fmt.Sprintf("%s · α = %v, steps %d to %d", shapeOf(m.rows, m.cols, r.Dtype), p.Alpha, p.MinSteps, p.Steps))
}

// walkParameters are what a walk was done with.
type walkParameters struct {
	Kernel   string  `json:"kernel,omitempty"`
	Alpha    float64 `json:"alpha"`
	Steps    int     `json:"steps"`
	MinSteps int     `json:"min_steps"`
	Prior    string  `json:"prior"`
	Features string  `json:"features,omitempty"`
	Folds    int     `json:"folds,omitempty"` // of honest features
	Seed     int64   `json:"seed,omitempty"`  // of their folds
}

// matrixDocument is the JSON document of commands that write a matrix.
type matrixDocument struct {
	Output     string `json:"output"`
	Rows       int    `json:"rows"`
	Cols       int    `json:"cols"`
	Dtype      string `json:"dtype"`
	Kernel     string `json:"kernel,omitempty"`     // of tables and of collections
	Attributes int    `json:"attributes,omitempty"` // of a table
	Parameters any    `json:"parameters,omitempty"`
	Closing
}
