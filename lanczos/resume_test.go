package lanczos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/heatwalk/heatwalk/internal/testgraph"
	"github.com/heatwalk/heatwalk/sparse"
)

// errKilled ends a run that a test kills.
var errKilled = errors.New("killed")

// TestResume kills runs of every method after many of their checkpoints, and takes them up by
// other numbers of threads: they end with the bits and counts of a run that was not killed.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range resumedCases(t) {
		t.Run(name, func(t *testing.T) {
			states := [][]byte{}
			whole := c.settings
			whole.Save = func(write func(io.Writer) error) error {
				var b bytes.Buffer
				err := write(&b)
				states = append(states, b.Bytes())
				return err
			}
			want, err := c.solve(c.problem, c.k, &whole)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d states, %d products, %d restarts, degree %d, basis %d, %d bytes at the end", want.Method, len(states), want.Products, want.Restarts, want.Degree, want.Basis, len(states[len(states)-1]))
			if want.Method != c.method || len(states) < 5 {
				t.Fatalf("by %s with %d states, want %s", want.Method, len(states), c.method)
			}
			for at := 0; at < len(states); at += 1 + len(states)/c.kills {
				set := c.settings
				set.Workers = []int{1, 2, 7}[at%3]
				set.Resume = func(read func(io.Reader) error) error { return read(bytes.NewReader(states[at])) }
				next := at + 1
				set.Save = func(write func(io.Writer) error) error { // the states that follow are the same
					var b bytes.Buffer
					err := write(&b)
					if next >= len(states) || !bytes.Equal(b.Bytes(), states[next]) {
						t.Errorf("state %d after a kill at %d differs", next, at)
						return errKilled
					}
					if next++; next > at+3 && at%4 > 0 {
						set.Save = nil
					}
					return err
				}
				got, err := c.solve(c.problem, c.k, &set)
				if err != nil {
					t.Fatal(err)
				}
				if d := differ(got, want); d != "" {
					t.Fatalf("killed after state %d of %d: %s", at, len(states), d)
				}
			}
		})
	}
}

// differ names what two results differ in, "" if nothing.
func differ(a, b *Pairs) string {
	same := func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	}
	switch {
	case !same(a.Values, b.Values):
		return "values"
	case !same(a.Residuals, b.Residuals):
		return "residuals"
	case !same(a.Vectors.Data, b.Vectors.Data):
		return "vectors"
	case a.Products != b.Products || a.Restarts != b.Restarts || a.Basis != b.Basis || a.Degree != b.Degree || a.Method != b.Method:
		return "counts"
	case a.Norm != b.Norm || a.Converged != b.Converged || a.Known != b.Known:
		return "norm"
	}
	return ""
}

type resumedCase struct {
	problem  *Problem
	k, kills int
	settings Settings
	method   string
	solve    func(p *Problem, k int, s *Settings) (*Pairs, error)
}

// resumedCases are small problems that come to every part of every method.
func resumedCases(t *testing.T) map[string]resumedCase {
	const n = 900
	laplacian := func(a *sparse.CSR) *sparse.Operator[float64] {
		return sparse.NewOperator[float64](sparse.Laplacian, a, degreesOf(t, a))
	}
	random, path, cube := testgraph.Random(9, n, 4*n, false), testgraph.Path(n), hypercube(t, 9)
	deg := degreesOf(t, path)
	lower := &Problem{
		A: laplacian(path), Which: Smallest, Known: &Known{Components: componentsOf(t, path)},
		Precondition: func(context.Context, int64) (func(ctx context.Context, dst, r *sparse.Block[float64]) error, error) {
			return tridiagonalInverse{deg: deg, shift: 1e-7}.ApplyTo, nil
		},
	}
	diagonal := make([]float64, n)
	for i := range diagonal {
		diagonal[i] = 10 * math.Sin(math.Pi/2*(2*float64(i*7%n)/n-1))
	}
	copy(diagonal, []float64{-400, -390, -200})
	with := func(p *Problem, k int, s *Settings) (*Pairs, error) { return p.Solve(ctx, k, s) }
	return map[string]resumedCase{
		"filter":   {&Problem{A: sparse.NewOperator[float64](sparse.NormalizedAdjacency, random, degreesOf(t, random))}, 5, 12, Settings{Tolerance: 1e-10, Basis: 24}, "lanczos", with},
		"copies":   {&Problem{A: &sparse.Operator[float64]{A: cube}}, 14, 12, Settings{Basis: 40}, "lanczos", with},
		"no more":  {&Problem{A: &sparse.Operator[float64]{A: cube}}, 6, 40, Settings{Basis: 40}, "lanczos", with},
		"few":      {&Problem{A: &sparse.Operator[float64]{A: pathAndPairs(t, n)}}, 9, 40, Settings{}, "lanczos", with},
		"far":      {&Problem{A: &sparse.Operator[float64]{A: testgraph.Random(1, n, 0, false), Diag: diagonal}}, 8, 8, Settings{Basis: 40}, "lanczos", with},
		"grows":    {&Problem{A: laplacian(path), Which: Smallest}, 3, 12, Settings{Basis: 16, Tolerance: 1e-10}, "lanczos", with},
		"changes":  {lower, 8, 8, Settings{Tolerance: 1e-11}, "lobpcg", with},
		"iterates": {lower, 20, 8, Settings{Tolerance: 1e-12, Patience: -1}, "lobpcg", with},
		"interior": {&Problem{A: laplacian(path), Near: 2 - 2*math.Cos(math.Pi*100.5/n)}, 3, 8, Settings{}, "lanczos", byFolding},
		"passes":   {&Problem{A: laplacian(pathAndPairs(t, n)), Near: 1.01}, 7, 8, Settings{MaxProducts: 20_000}, "lanczos", byFolding},
	}
}

// pathAndPairs is a short path and pairs of nodes, whose Laplacian has 0 and 2 many times.
func pathAndPairs(t *testing.T, n uint32) *sparse.CSR {
	var entries []sparse.Triplet
	for i := range n - 1 {
		if i < 11 || i >= 12 && i%2 == 0 {
			entries = append(entries, sparse.Triplet{Row: i, Col: i + 1, Val: 1}, sparse.Triplet{Row: i + 1, Col: i, Val: 1})
		}
	}
	a, err := sparse.FromTriplets(int(n), int(n), entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A state of another problem, or less than one, is an error.
func TestResumeOfAnother(t *testing.T) {
	c := resumedCases(t)["filter"]
	var state bytes.Buffer
	set := c.settings
	set.Save = func(write func(io.Writer) error) error { return errors.Join(write(&state), errKilled) }
	if _, err := c.solve(c.problem, c.k, &set); !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	given := state.Bytes()
	set.Save, set.Resume = nil, func(read func(io.Reader) error) error { return read(bytes.NewReader(given)) }
	if _, err := c.solve(c.problem, c.k+1, &set); !errors.Is(err, errState) {
		t.Errorf("for more pairs: %v", err)
	}
	for _, at := range []int{0, 5, 100, len(given) / 2, len(given) - 1} {
		given = state.Bytes()[:at]
		if out, err := c.solve(c.problem, c.k, &set); err == nil || out != nil {
			t.Errorf("of the first %d bytes: %v", at, err)
		}
	}
}
