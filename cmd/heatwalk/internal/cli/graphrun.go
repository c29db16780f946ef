package cli

import (
	"fmt"
	"io"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/method"
)

// finish publishes the output of a run and prints its result: d with --json, else lines and time and
// memory of the run.
func (o *outputs) finish(d document, store, parameters any, lines ...string) error {
	if err := o.publish(store, parameters, nil); err != nil {
		return err
	}
	return o.run.printResult(d, func(w io.Writer) { o.print(w, lines) }, o.path)
}

// print writes the lines that are not empty, and time and memory of the run.
func (o *outputs) print(w io.Writer, lines []string) {
	for _, line := range lines {
		if line != "" {
			fmt.Fprintln(w, line)
		}
	}
	cost := o.run.cost()
	if o.path != "" && o.path != "-" {
		cost += " · " + o.path
	}
	fmt.Fprintln(w, cost)
}

// graphRun is a run on a graph with an output: its inputs and its open output.
type graphRun struct {
	out        *outputs
	g          *openGraph
	l          *nodefile.Labels // may be nil
	rows, cols []int            // rows and columns of a matrix that are nodes
	shares     []float64        // known shares of the classes among all nodes; nil: unknown
}

// beginRun begins the outputs, opens the graph, and reads the other inputs with read.
func beginRun(run *session, r *graphInputs, name string, o *outputs, matrix *tablefile.Format, read func(d *graphRun) error) (d *graphRun, err error) {
	d = &graphRun{out: o}
	if err = o.beginAll(matrix); err == nil {
		d.g, err = readGraph(run, r, name, o.path)
	}
	if err == nil {
		err = read(d)
	}
	return d, err
}

// beginLearning begins a run that learns from labels, and from attributes if they are given.
func beginLearning(run *session, f *learningFlags, name, path string) (*graphRun, error) {
	return beginRun(run, &f.graph, name, newOutputs(run, path), matrixFormatOf(path, scoreFormats), func(d *graphRun) (err error) {
		run.progress.Wait("reading " + f.walk.labels)
		if d.l, err = readSeeds(run, &f.graph, f.walk.labels, d.g); err != nil {
			return err
		}
		if err = readAttributes(run, &f.graph, &f.attributes, d.g); err == nil {
			warnLeaks(run, &f.graph, &f.attributes, d.g, d.l)
		}
		return err
	})
}

// problem returns the learning problem: graph, labels and attributes.
func (d *graphRun) problem() *method.Problem {
	p := problemOf(d.g, d.l)
	p.Shares = d.shares
	return p
}

// learnerBytes is the memory of the code of learners, and of small tables.
const learnerBytes = 3 << 20

// labelBytes is the memory of a label: its row and its class.
const labelBytes = 16

// denseInputs holds the other input files of a run that writes a matrix; "" means that a file is not
// given. Without a list of rows or columns all nodes are used.
type denseInputs struct {
	labels     string
	seeds      bool // labels are the seeds of a walk
	rows, cols string
	block      bool // the columns are nodes
}

// beginDense begins the output and reads the inputs.
func beginDense(run *session, r *graphInputs, name, path string, inputs denseInputs) (*graphRun, error) {
	return beginRun(run, r, name, newOutputs(run, path), matrixFormatOf(path, denseFormats), func(d *graphRun) (err error) {
		d.g.Store.Forward = true // walks follow edges in their direction only
		read := readLabels
		if inputs.seeds {
			read = readSeeds
		}
		if inputs.labels != "" {
			d.l, err = read(run, r, inputs.labels, d.g)
		}
		if err == nil {
			d.rows, err = rowsOf(run, &r.tables, inputs.rows, d.g)
		}
		if err == nil && inputs.block {
			d.cols, err = rowsOf(run, &r.tables, inputs.cols, d.g)
		}
		const row, class = 8, 4 // bytes of an element of a list of rows; of the class of a node, for LIBSVM text
		lists := row * int64(len(d.rows)+len(d.cols))
		if d.l != nil {
			lists += labelBytes*int64(len(d.l.Row)) + class*int64(len(d.g.Degrees))
		}
		heatwalk.Reserve(d.g.Graph, lists, "lists of nodes")
		return err
	})
}

// pick returns the picks of a walk, see [cwk.Picks].
func (d *graphRun) pick(rows []int, seeds cwk.Seeds, fold []int) []cwk.Pick {
	const pick = 16 // bytes
	heatwalk.Reserve(d.g.Graph, pick*int64(len(rows)), "lists of nodes")
	return cwk.Picks(rows, seeds, fold)
}

// runFileBytes is the approximate size of a run file.
const runFileBytes = 4 << 10

// labelOf returns the label of row i for LIBSVM text.
func (d *graphRun) labelOf() func(i int) string {
	number := classNumbers(d.l, len(d.g.Degrees))
	return func(i int) string { return number(d.rows[i]) }
}
