package cli

import (
	"context"
	"io"

	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
)

// product is the output of a run and the run file beside it, which appear together. They
// are begun before any input is read.
type product struct {
	*outputs
	path  string       // "" for none
	text  io.Writer    // of the output, nil if it is a matrix
	dense *denseOutput // of the output, nil if it is none
	run   io.Writer
}

// beginProduct begins the output called path, a matrix if matrix is true.
func (in *invocation) beginProduct(path string, matrix bool) (_ *product, err error) {
	o := &product{outputs: &outputs{in: in}, path: path}
	if path == "" {
		return o, nil
	}
	in.keeps(path)
	if matrix {
		if o.dense, err = o.beginDense(path); err == nil {
			o.run = o.dense.run
		}
	} else if o.text, err = o.begin(path); err == nil {
		o.run, err = o.beside(path, "", ".run.json")
	}
	if err != nil {
		o.abort()
		return nil, err
	}
	return o, nil
}

// publish writes the run file of a run on the given store with the given parameters, and
// makes all files appear.
func (o *product) publish(store, parameters any) error {
	if o.path == "" {
		return nil
	}
	if err := o.in.writeRun(o.run, store, parameters); err != nil {
		return err
	}
	return o.commit()
}

// fill writes a matrix: values stores row i.
func (o *product) fill(dtype string, rows, cols axis, l lines, values func(i int, row []float64) error) error {
	if dtype == "float64" {
		return fillOf[float64](o, rows, cols, l, values)
	}
	return fillOf[float32](o, rows, cols, l, values)
}

func fillOf[T sparse.Float](o *product, rows, cols axis, l lines, values func(i int, row []float64) error) error {
	file, err := newDenseFile[T](o.dense, rows, cols, l)
	if err != nil {
		return err
	}
	row, written := make([]float64, cols.N), make([]T, cols.N)
	for i := range rows.N {
		if o.in.ctx.Err() != nil {
			return context.Cause(o.in.ctx)
		}
		if err = values(i, row); err == nil {
			err = tablefile.Narrow(written, row)
		}
		if err == nil {
			err = file.Row(written)
		}
		if err != nil {
			return err
		}
	}
	return file.Close()
}

// elementOf returns the bytes of a number of a precision.
func elementOf(dtype string) int {
	if dtype == "float64" {
		return 8
	}
	return 4
}

// learnRun is a run that learns from the labels of a graph, with all that it has
// read and has begun to write.
type learnRun struct {
	*product
	g *openGraph
	l *nodefile.Labels
}

// beginLearn begins the output called path, if it is not "", and reads the graph,
// its labels and its attributes, if there are any.
func (in *invocation) beginLearn(name, path, labels string, r *reading, a *attributeFlags) (_ *learnRun, err error) {
	d := new(learnRun)
	if d.product, err = in.beginProduct(path, isScoreMatrix(path)); err != nil {
		return nil, err
	}
	begun := false
	defer func() {
		if !begun { // by an error, or a panic
			d.end()
		}
	}()
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

// end gives up what is not finished and closes the graph.
func (d *learnRun) end() {
	d.abort()
	if d.g != nil {
		d.g.close()
	}
}
