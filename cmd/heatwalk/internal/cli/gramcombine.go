package cli

import (
	"context"
	"fmt"
	"iter"

	"github.com/heatwalk/heatwalk/tablefile"
)

// How the kernels of several files become one. Both are kernels if these are.
const (
	sumOfKernels     = "sum"
	productOfKernels = "product"
)

// openOthers opens the further files of --gram, whose rows and columns must be those of
// the first.
func (r *gramRun) openOthers() error {
	for _, name := range r.f.gram.others {
		f, err := tablefile.Inspect(r.in.ctx, name, &tablefile.Options{Name: name})
		if err != nil {
			return err
		}
		for _, a := range []struct {
			which string
			want  axis
		}{{"rows", r.rows}, {"cols", r.cols}} {
			got, err := r.in.axisOfFile(f, a.which)
			if err != nil {
				return err
			}
			if got.N != a.want.N {
				return &dataError{name, fmt.Sprintf("has %s %s, and %s has %s; kernels are combined between the same nodes", formatCount(int64(got.N)), a.which, r.f.gram.file, formatCount(int64(a.want.N)))}
			}
			for i := range got.N {
				if got.ID(i) != a.want.ID(i) {
					return &dataError{name, fmt.Sprintf("number %d of its %s is %s, and that of %s is %s; kernels are combined between the same nodes, in the same order", i+1, a.which, quoted(got.ID(i)), r.f.gram.file, quoted(a.want.ID(i)))}
				}
			}
		}
		r.others = append(r.others, f)
	}
	return nil
}

// axisOfFile reads the ids of the rows or cols of a file, from the archive or beside it.
func (in *invocation) axisOfFile(f *tablefile.File, which string) (axis, error) {
	ids, missing, err := f.Axis(in.ctx, which)
	if missing != "" {
		err = &dataError{missing, fmt.Sprintf("is missing; write there the ids of the %s of %s, one a line", which, f.Name)}
	}
	return ids, err
}

// rowsOfFile goes through the rows of a file.
func rowsOfFile(ctx context.Context, f *tablefile.File) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		ended := false
		err := tablefile.Read(ctx, f, func(_ []byte, values []float64) error {
			if ended = !yield(values, nil); ended {
				stop()
				return context.Canceled
			}
			return nil
		})
		if err != nil && !ended {
			yield(nil, err)
		}
	}
}

// combined returns a function that combines each row of the first file, in turn, with
// those of the others, and what ends their reading.
func (r *gramRun) combined() (next func(values []float64) error, stop func()) {
	rows := make([]func() ([]float64, error, bool), len(r.others))
	stops := make([]func(), len(r.others))
	for k, f := range r.others {
		rows[k], stops[k] = iter.Pull2(rowsOfFile(r.in.ctx, f))
	}
	next = func(values []float64) error {
		for k, row := range rows {
			other, err, more := row()
			switch {
			case err != nil:
				return err
			case !more:
				return &dataError{r.f.gram.others[k], "has become shorter while it was read; run the command again"}
			}
			for j, v := range other {
				if r.f.gram.combine == productOfKernels {
					values[j] *= v
				} else {
					values[j] += v
				}
			}
		}
		return nil
	}
	return next, func() {
		for _, end := range stops {
			end()
		}
	}
}
