package kernel

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/spec"
)

// sweptMatrix counts sweeps over a matrix.
type sweptMatrix struct {
	sparse.Matrix
	sweeps atomic.Int64
}

func (m *sweptMatrix) Sweep(ctx context.Context, workers int, visit func(worker int, p sparse.Panel) error) error {
	m.sweeps.Add(1)
	return m.Matrix.Sweep(ctx, workers, visit)
}

// records are what a killed run has kept.
type records map[string][]byte

// keptIn returns settings of a run that goes on from records, keeps more in them, and is
// cancelled as soon as there are so many.
func (r records) keptIn(t *testing.T, s Settings, most int, cancel func()) *Settings {
	s.Recall = func(name string) io.Reader {
		if r[name] == nil {
			return nil
		}
		return bytes.NewReader(r[name])
	}
	s.Keep = func(name string, size int64, write func(w io.Writer) error) bool {
		if len(r) == most {
			return false // a kill comes at any moment
		}
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		const head = 400
		if got := int64(b.Len()); got < size || got > size+head {
			t.Errorf("%s has %d bytes, was to have about %d", name, got, size)
		}
		if r[name] = b.Bytes(); len(r) == most {
			cancel()
		}
		return true
	}
	return &s
}

// A run that is cancelled after any of its records ends, taken up again by any number of
// workers, with the block and the report of one that was not, and computes nothing anew of
// what was kept.
func TestTakenUp(t *testing.T) {
	a := &sweptMatrix{Matrix: testgraph.Random(17, 200, 500, true)}
	few, more, most := upTo(40), upTo(70), upTo(140)
	const little = 700_000
	cases := []struct {
		name       string
		given      spec.Values
		rows, cols []int
		memory     int64
		first      string // among the records
	}{
		{"diffusion", nil, most, more, 0, "columns 0-64"},
		{"diffusion", spec.Values{"laplacian": spec.Of(randomWalk)}, more, most, 0, "columns 64-70"},
		{"diffusion", nil, most, most, 0, "products 0-64 0-64"},
		{"diffusion", nil, most, most, little, "root 64-128 again"},
		{"regularized-laplacian", nil, most, most, 0, "root 128-140"},
		{"pseudo-inverse", nil, most, most, 0, "columns 128-140"},
		{"pseudo-inverse", nil, more, most, 0, "columns 64-70"},
		{"commute-time", nil, more, more, 0, "columns 64-70"},
		{"commute-time", nil, more, few, 0, "diagonal 0-40"},
		{"vertex", nil, most, most, 0, "columns 0-64"},
		{"vertex", nil, more, most, 0, "columns 64-70"},
		{"modularity", spec.Values{"rank": spec.Of(5)}, more, few, 0, "features"},
	}
	if testing.Short() {
		cases = cases[2:4]
	}
	for _, c := range cases {
		set := Settings{Memory: c.memory}
		fresh := func(workers int) Kernel { return mustNew(t, newGraph(t, a, workers), c.name, c.given) }
		want, report := mustMatrix(t, fresh(2), c.rows, c.cols, &set)
		all := records{}
		_, _, err := Matrix(background, fresh(2), c.rows, c.cols, all.keptIn(t, set, -1, nil))
		if err != nil || all[c.first] == nil {
			t.Fatalf("%s: %v; there is no %q in %v", c.name, err, c.first, slices.Sorted(maps.Keys(all)))
		}
		for kept := range len(all) + 1 {
			r := records{}
			ctx, cancel := context.WithCancel(background)
			if kept == 0 {
				cancel()
			}
			_, _, err := Matrix(ctx, fresh(2), c.rows, c.cols, r.keptIn(t, set, kept, cancel))
			cancel()
			if err != nil && !errors.Is(err, context.Canceled) || len(r) != kept {
				t.Fatalf("%s: %v after %d of %d records", c.name, err, len(r), kept)
			}
			for _, workers := range []int{1, 2, 7} {
				was := maps.Clone(r)
				k := fresh(workers)
				begun := a.sweeps.Load()
				got, again, err := Matrix(background, k, c.rows, c.cols, was.keptIn(t, set, -1, nil))
				if err != nil {
					t.Fatalf("%s after %d records: %v", c.name, kept, err)
				}
				if !reflect.DeepEqual(again, report) {
					t.Errorf("%s after %d records: %+v, want %+v", c.name, kept, again, report)
				}
				if more := a.sweeps.Load() - begun; kept == len(all) && more > 0 {
					t.Errorf("%s: %d sweeps for what was kept", c.name, more)
				}
				for i := range want.Rows {
					for j, v := range want.Row(i) {
						if got.Row(i)[j] != v {
							t.Fatalf("%s after %d records: (%d, %d) is %v, want %v", c.name, kept, i, j, got.Row(i)[j], v)
						}
					}
				}
				for name, b := range all {
					if !bytes.Equal(was[name], b) {
						t.Errorf("%s: the record %q is another one", c.name, name)
					}
				}
			}
		}
	}
}
