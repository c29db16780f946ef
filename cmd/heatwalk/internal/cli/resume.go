package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/parts"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/checkpoint"
	"github.com/heatwalk/heatwalk/internal/durable"
	"github.com/heatwalk/heatwalk/sparse"
)

// partial is the .npy file of a matrix that a later run with --resume completes. A small file
// next to it, OUT.journal, counts its finished columns, or rows.
type partial struct {
	file  *durable.Pending // nil: a later run begins again
	path  string           // path of the count
	run   func() (checkpoint.Run, error)
	pause time.Duration // smallest time between two counts
	next  time.Time     // earliest time of the next count
	count
}

// count is the content of the small file.
type count struct {
	Done       int     `json:"done"` // columns, or rows of a matrix that is made by rows
	Sweeps     int     `json:"sweeps"`
	Largest    float64 `json:"largest"`
	ErrorBound float64 `json:"error_bound"`
}

const (
	journalSuffix = ".journal"
	resumeUsage   = "continue a killed run with the same -o, if there was one"
	resumeHint    = "; the same command with --resume continues from here"
	notBeside     = "a run is resumed from the journal of its output; give -o FILE"
)

// beginPartial begins a file that a later run can complete, or with --resume reopens the one of
// an earlier run. If another run writes it, this one goes on without a count.
func (o *outputs) beginPartial(path string) (io.Writer, error) {
	resume := o.resume && isThere(path+journalSuffix)
	if !resume {
		// Remove the count first, so that it never refers to missing columns.
		if err := checkpoint.Remove(path + journalSuffix); err != nil {
			return nil, fault.Machine(err, "remove "+path+journalSuffix, "%s", cause(err))
		}
	}
	f, err := durable.NewPartial(durable.OS, path, resume)
	switch {
	case errors.Is(err, durable.ErrLocked) && !o.resume:
		return o.begin(path)
	case errors.Is(err, durable.ErrLocked):
		return nil, fault.Usage("--resume", "another run is writing %s; wait for its end", path)
	case err != nil:
		return nil, o.notCreated(err, path)
	}
	o.partial = f
	o.add(f)
	return f, nil
}

// isResumable reports whether the output is one that a later run can complete.
func isResumable(o *outputs) bool {
	return o.format == tablefile.NPY && takesPieces(o) && !o.run.estimating && o.run.network == nil
}

// keep registers that the output is a share of a matrix, if it is, and returns the partial output with the
// count of an earlier run. That run must have had the same labels and nodes, parameters, tolerance and
// prior.
func (d *graphRun) keep(command string, s shareFlag, shape parts.Shape, parameters any, tolerance float64, prior *sparse.Block[float64]) (*partial, error) {
	of := parts.Part{Command: command, Share: s.index, Of: s.of, Store: d.g.Store.Manifest.Identity, Matrix: &shape}
	part, err := parts.New(of, parameters, d.l, d.rows, d.cols)
	if err != nil {
		return nil, err
	}
	if s.of > 0 {
		d.part = part
	}
	p := &partial{file: d.partial, path: d.path + journalSuffix, pause: d.run.warmup, next: time.Now().Add(d.run.warmup)}
	if p.file == nil {
		return p, nil
	}
	p.run = sync.OnceValues(d.journalOf(part.Labels+part.Nodes, command, s, shape, string(part.Parameters), tolerance, checkpoint.BlockSum(prior)))
	d.goOnFrom(func() bool { return p.Done > 0 }, func() error { return checkpoint.Remove(p.path) })
	if !p.file.Resumed() {
		return p, nil
	}
	run, err := p.run()
	if err == nil {
		err = checkpoint.Read(p.path, run, func(r io.Reader) error { return json.NewDecoder(r).Decode(&p.count) })
	}
	return p, err
}

// finished writes the number of finished columns from time to time. If the disk fails, the run continues
// without a count.
func (p *partial) finished(c count) {
	start := time.Now()
	if p.file == nil || start.Before(p.next) {
		return
	}
	run, err := p.run()
	if err == nil {
		err = p.file.Keep()
	}
	if err == nil {
		err = checkpoint.Write(p.path, run, func(w io.Writer) error { return json.NewEncoder(w).Encode(c) })
	}
	if err != nil {
		p.file = nil
		return
	}
	p.count = c
	p.next = time.Now().Add(max(p.pause, checkpoint.Rest*time.Since(start)))
}

// journalOf returns the fingerprint of a run on the graph.
func (d *graphRun) journalOf(labels string, options ...any) func() (checkpoint.Run, error) {
	return func() (of checkpoint.Run, err error) {
		of = checkpoint.Run{Version: thisBuild().exact(), Graph: d.g.Store.Manifest.Identity, Labels: labels, Options: fmt.Sprint(options...)}
		if d.g.Report != nil { // a temporary store, whose identity changes with every run
			of.Graph, err = checkpoint.GraphSum(d.run.ctx, d.g.A, d.run.threads)
		}
		return of, err
	}
}
