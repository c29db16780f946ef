package cli

import (
	"io"

	"github.com/heatwalk/heatwalk/nodefile"
)

// learnRun is a run that learns from the labels of a graph, with all that it has
// read and has begun to write.
type learnRun struct {
	files    *outputs
	out, run io.Writer    // the output and its run file
	dense    *denseOutput // in place of out where the output is a matrix; nil: it is none
	g        *openGraph
	l        *nodefile.Labels
}

// beginLearn begins the output called path, if it is not "", and reads the graph,
// its labels and its attributes, if there are any.
func (in *invocation) beginLearn(name, path, labels string, r *reading, a *attributeFlags) (_ *learnRun, err error) {
	d := &learnRun{files: &outputs{in: in}}
	begun := false
	defer func() {
		if !begun { // by an error, or a panic
			d.end()
		}
	}()
	if path != "" {
		in.keeps(path)
		if err = d.begin(path); err != nil {
			return nil, err
		}
	}
	if d.g, err = in.openFor(name, r, path, true); err != nil {
		return nil, err
	}
	if d.l, err = in.readSeeds(labels, d.g, r); err != nil {
		return nil, err
	}
	if err = in.readAttributes(a, d.g, r); err != nil {
		return nil, err
	}
	begun = true
	return d, nil
}

// begin begins the output and its run file.
func (d *learnRun) begin(path string) (err error) {
	if isScoreMatrix(path) {
		if d.dense, err = d.files.beginDense(path); err == nil {
			d.run = d.dense.run
		}
		return err
	}
	if d.out, err = d.files.begin(path); err == nil {
		d.run, err = d.files.beside(path, "", ".run.json")
	}
	return err
}

// end gives up what is not finished and closes the graph.
func (d *learnRun) end() {
	d.files.abort()
	if d.g != nil {
		d.g.close()
	}
}
