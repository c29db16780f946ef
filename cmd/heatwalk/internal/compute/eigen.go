package compute

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/lanczos"
	"github.com/heatwalk/heatwalk/param"
	"github.com/heatwalk/heatwalk/sparse"
)

type eigenOptions struct {
	graph shell.GraphInputs
	eigenParameters
	products int
	out      string
}

type eigenParameters struct {
	Matrix     string  `json:"matrix"`
	Which      string  `json:"which"`
	K          int     `json:"k"`
	Tolerance  float64 `json:"tolerance"`
	Resolution float64 `json:"resolution,omitempty"` // only for modularity
	Seed       int64   `json:"seed"`
}

func matrixNames() []string {
	names := make([]string, len(sparse.Kinds))
	for i, m := range sparse.Kinds {
		names[i] = string(m)
	}
	return names
}

// spectrumParts are the words of --which, in the order of [lanczos.Which].
var spectrumParts = []string{"largest", "smallest"}

var eigenFormats = slices.Concat(tablefile.NPY.Endings, tablefile.NPZ.Endings, tablefile.CSV.Endings, tablefile.Market.Endings)

func NewEigen(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "eigen GRAPH --matrix NAME --which largest|smallest --k K -o E.npy",
		"Eigenvalues and eigenvectors of a matrix of the graph; spectral embedding",
		checkEigen, runEigen)
	flags.AddOutput(&c.out, "output", "", "of the eigenvectors: .npy, .npz, .csv or .mtx", eigenFormats)
	flags.AddChoice(&c.Matrix, "matrix", "", matrixNames(), "which matrix")
	flags.AddChoice(&c.Which, "which", "", spectrumParts,
		"which end of the spectrum, by sign and size")
	flags.AddLetter(&c.K, "k", 10, param.From(1),
		"number of eigenpairs, at most the number of nodes")
	shell.NumberVar(flags, &c.Tolerance, "tolerance", 1e-8, lanczos.Tolerances, "tolerance",
		"largest residual, relative to the norm of the matrix")
	shell.NumberVar(flags, &c.Resolution, "resolution", 1, param.Above(0), "γ",
		"γ of modularity")
	shell.NumberVar(flags, &c.products, "max-products", 100_000, param.From(1), "N",
		"products with four columns after which to stop")
	c.graph.DeclareLargest(flags)
	c.graph.Declare(flags)
	return cmd
}

func checkEigen(line *shell.CommandLine, c *eigenOptions, _ []string) {
	line.Require("matrix", "which")
	line.Refuse(c.Matrix != string(sparse.Modularity) && c.Matrix != "", "resolution",
		c.Matrix+" has no such parameter; leave it out, or take --matrix modularity")
	if c.Matrix != string(sparse.Modularity) {
		c.Resolution = 0
	}
}

type eigenDocument struct {
	Output     string          `json:"output"`
	Rows       int             `json:"rows"`
	Cols       int             `json:"cols"`
	Components int             `json:"components"`
	signed     bool            // the graph has negative weights
	Parameters eigenParameters `json:"parameters"`
	*lanczos.GraphPairs
	shell.Closing
}

func runEigen(run *shell.Session, c *eigenOptions, name string) error {
	c.Seed = run.Seed
	format := shell.MatrixFormatOf(c.out, eigenFormats)
	var values, ids io.Writer // separate files, which an archive does not need
	d, err := run.BeginRun(&c.graph, name, c.out, nil, func(d *shell.GraphRun) (err error) {
		if format != tablefile.NPZ {
			values, err = d.Out.Companion(c.out, filepath.Ext(c.out), ".values"+format.Endings[0])
		}
		if err == nil && format.SeparateIDs {
			ids, err = d.Out.Companion(c.out, filepath.Ext(c.out), ".rows.ids")
		}
		if err == nil {
			d.Rows, err = run.ReadRows(&c.graph.Tables, "", d.Graph)
		}
		return err
	})
	if err != nil {
		return err
	}
	g := d.Graph
	rows := d.Rows
	if g.Directed {
		return shell.RefuseDirected(name, "the spectrum of "+c.Matrix, "")
	}
	n := len(rows)
	if c.K > n {
		return shell.UsageError("--k", "%d is more than %s has nodes; give 1 to %d",
			c.K, name, n)
	}
	size := format.Size(n, c.K, "float64")
	if err := shell.CheckSpace(c.out, size, shell.ShapeOf(c.out, n, c.K, "float64").String(),
		"ask for fewer pairs (--k), or another disk"); err != nil {
		return err
	}
	settings := &lanczos.Settings{
		Tolerance: c.Tolerance, MaxProducts: c.products, RNGSeed: uint64(c.Seed),
		Progress: showProducts(run),
	}
	run.Costs.Disk += size + format.Size(c.K, 1, "float64") + shell.RunFileBytes
	if run.Costs.DryRun {
		run.Costs.Disk += shell.IDBytes(g.SelectNodes(rows))
	}
	problem := &lanczos.GraphProblem{
		Matrix:     sparse.Kind(c.Matrix),
		Which:      lanczos.Which(slices.Index(spectrumParts, c.Which)),
		Resolution: c.Resolution,
	}
	pairs, err := heatwalk.Eigenpairs(run.Context, g.Graph, problem, c.K, settings)
	if err != nil {
		return eigenError(err, c, pairs)
	}
	number := func(j int) string { return strconv.Itoa(j + 1) }
	m := &tablefile.Matrix{Rows: g.SelectNodes(rows), Cols: shell.Axis{N: c.K, ID: number}, RowIDs: ids}
	if err := tablefile.WritePairs(run.Context, d.Out.Writer, values, format, m, pairs.Values,
		func(i int) []float64 { return pairs.Vectors.Row(rows[i]) }); err != nil {
		return err
	}
	r := &eigenDocument{
		Output: c.out, Rows: n, Cols: c.K, Components: pairs.Components,
		signed: d.Graph.Signed, Parameters: c.eigenParameters,
		GraphPairs: pairs,
	}
	return d.Out.Finish(r, r.Parameters, r.lines()...)
}

func eigenError(err error, f *eigenOptions, pairs *lanczos.GraphPairs) error {
	if errors.Is(err, lanczos.ErrIterationLimit) {
		remedy := "loosen --tolerance, or ask for other pairs"
		if pairs.Products >= f.products {
			remedy = "allow more with --max-products, " + remedy
		}
		return shell.MachineError(err, "eigen", "%d of %d pairs after %s; %s",
			pairs.Converged, f.K, words.Counted(pairs.Products, "product"), remedy)
	}
	return err
}

// ofComponents returns how many of the eigenvalues come from connected components, and their value: 0
// of Laplacians, 1 of S and T. It returns 0, 0 for other matrices. If the graph has negative weights,
// count is 0.
func (r *eigenDocument) ofComponents() (count int, value float64) {
	switch sparse.Kind(r.Parameters.Matrix) {
	case sparse.Laplacian, sparse.NormalizedLaplacian:
	case sparse.NormalizedAdjacency, sparse.Transition:
		value = 1
	default:
		return 0, 0
	}
	for j, v := range r.Values {
		if math.Abs(v-value) <= max(r.ErrorBounds[j], 1e-12) {
			count++
		}
	}
	if r.signed {
		return 0, value
	}
	return min(count, r.Components), value
}

func showProducts(run *shell.Session) func(stage string, done, total int64) {
	show := run.Progress.StageCallback("iterating", "product")
	return func(_ string, done, _ int64) {
		show("", done, 0)
		run.Reached = words.Counted(int(done), "product")
	}
}

func (r *eigenDocument) lines() (lines []string) {
	const most = 20
	for j, v := range r.Values {
		if j == most && len(r.Values) > most+1 {
			lines = append(lines,
				fmt.Sprintf("… %s more", words.Count(len(r.Values)-most)))
			break
		}
		lines = append(lines,
			fmt.Sprintf("%-22.15g residual %.1e", v, r.Residuals[j]))
	}
	p := r.Parameters
	title := fmt.Sprintf("%s %s of %s", p.Which,
		words.Counted(p.K, "eigenvalue"), p.Matrix)
	if p.Matrix == string(sparse.Modularity) {
		title += fmt.Sprintf(", γ = %v", p.Resolution)
	}
	if n, v := r.ofComponents(); n > 1 {
		lines = append(lines, fmt.Sprintf("%s %v belong to components, of which the graph has %s; --largest-component leaves out all but the largest",
			words.Counted(n, "eigenvalue"), v, words.Count(r.Components)))
	}
	return append(lines, fmt.Sprintf("%s · %s, %s · one within %.1e of each", title,
		r.Method, words.Counted(r.Products, "product"), slices.Max(r.ErrorBounds)))
}
