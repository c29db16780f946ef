package learn

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/sched"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method"
	"github.com/heatwalk/heatwalk/param"
)

type rankOptions struct {
	graph                       shell.GraphInputs
	seeds, weights, out, listed string
	targets                     string      // file of the nodes to rank, or allTargets; "": the side of the seeds
	spec                        *param.Spec // nil: chosen
	userValues                  param.Values
}

func NewRank(run *shell.Session) *cobra.Command {
	cmd, c, flags := shell.NewCommand(run, "rank GRAPH --seeds FILE -o OUT.tsv",
		"Nodes by similarity to known nodes", checkRank, runRank)
	flags.AddInput(&c.seeds, "seeds", "of the ids of the known nodes, one a line")
	flags.AddInput(&c.weights, "seed-weights", "of node and weight, one pair a line, in place of --seeds")
	flags.AddOutput(&c.out, "output", "-", "of the ranking: .tsv, .csv, or .npz for arrays in the order of the ids; - is stdout", tablefile.NumberEndings)
	flags.StringVar(&c.listed, "kernel", "", "`SPEC` of the kernel, as in diffusion:beta=2; see heatwalk methods (default: regularized-commute-time:alpha=0.95, or with five seeds what held-out seeds choose)")
	flags.AddInputOrWord(&c.targets, "targets", "", []string{allTargets},
		"`FILE` of ids of the nodes to rank; or all (default: all, or one side of a bipartite graph if the other side has no seeds)")
	c.graph.Declare(flags)
	return cmd
}

func checkRank(line *shell.CommandLine, c *rankOptions, _ []string) {
	if c.weights == "" {
		line.Require("seeds")
	}
	line.Refuse(c.weights != "", "seeds",
		"--seed-weights names the seeds; leave one of them out")
	if c.listed == "" {
		return
	}
	if name, _, _ := strings.Cut(c.listed, ":"); name == cwk.Spec.Name {
		line.Problem("--kernel",
			"%s: its walks start at labels of classes, which seeds do not have; give another kernel, such as %s", name, kernel.Families()[0].Name)
		return
	}
	var n param.Term
	c.spec, n = line.ParseNamed("--kernel", c.listed,
		append(kernel.Families().Specs(), kernel.PersonalizedPageRank))
	if c.spec == nil {
		return
	}
	c.userValues, _ = line.ParseGiven("--kernel", n.Texts, c.spec)
	if f := kernel.Families().Named(n.Name); f != nil && f.Distance != "" {
		line.Problem("--kernel", "%s is a distance; give %s", n.Name, f.Distance)
	}
}

// readWeightedSeeds reads the seeds, and their weights if the file has weights.
func readWeightedSeeds(run *shell.Session, c *rankOptions,
	g *shell.OpenGraph) ([]int, []float64, error) {
	if c.weights == "" {
		rows, err := run.ReadIDs(&c.graph.Tables, c.seeds, g.Nodes)
		return rows, nil, err
	}
	v, err := nodefile.ReadValues(run.Context, c.weights, g.Nodes,
		run.Console.NodeLabels(&c.graph, g))
	if err != nil {
		return nil, nil, err
	}
	run.Console.NoteColumns(c.weights, v.Columns)
	for i, weight := range v.Value {
		if !(weight > 0) {
			return nil, nil, shell.DataError(c.weights,
				"the weight of %s is %v; give weights above 0, and leave other nodes out", g.Nodes.ID(v.Row[i]), weight)
		}
	}
	return v.Row, v.Value, nil
}

type rankDocument struct {
	Output     string       `json:"output"`
	Nodes      int          `json:"nodes"`
	Seeds      int          `json:"seeds"`
	Kernel     string       `json:"kernel"`
	Parameters param.Values `json:"parameters"`
	AUC        *float64     `json:"auc,omitempty"`
	Stderr     *float64     `json:"auc_stderr,omitempty"`
	Folds      int          `json:"folds"`
	Sweeps     int          `json:"sweeps"`
	shell.Closing
}

// chooseNodes sets d.Rows to the nodes to rank: the seeds and the targets. Without --targets, these are the nodes on the side
// of the seeds, if the graph has sides and seeds on one alone, or else all nodes.
func (c *rankOptions) chooseNodes(run *shell.Session, d *shell.GraphRun) (side *heatwalk.Side, err error) {
	path := c.targets
	if path == allTargets {
		path = ""
	}
	if d.Rows, err = run.ReadRows(&c.graph.Tables, path, d.Graph); err != nil {
		return nil, err
	}
	switch {
	case c.targets == allTargets || run.Costs.DryRun:
	case path != "":
		isTarget := sched.Mark(len(d.Graph.Degrees), d.Rows)
		for _, seed := range d.Cols {
			if !isTarget[seed] {
				d.Rows = append(d.Rows, seed)
			}
		}
	default:
		if side, err = d.Graph.LabelledSide(run.Context, d.Cols); side != nil {
			d.Rows = side.Rows
		}
	}
	return side, err
}

func runRank(run *shell.Session, c *rankOptions, name string) error {
	var weights []float64
	d, err := run.BeginRun(&c.graph, name, c.out, nil, func(d *shell.GraphRun) (err error) {
		d.Cols, weights, err = readWeightedSeeds(run, c, d.Graph)
		return err
	})
	if err != nil {
		return err
	}
	g := d.Graph
	side, err := c.chooseNodes(run, d)
	if err != nil {
		return err
	}
	kernelName := ""
	if c.spec != nil {
		kernelName = c.spec.Name
	}
	if g.Directed && (c.spec == nil || c.spec.Works&param.Directed == 0) {
		return shell.RefuseDirected(name, cmp.Or(kernelName, "the default kernel"),
			"--kernel="+kernel.PersonalizedPageRank.Name)
	}
	ids := g.SelectNodes(d.Rows)
	run.Costs.ReserveNumbers(ids)
	r, chosen, err := heatwalk.RankNodes(run.Context, g.Graph,
		&method.RankProblem{Nodes: d.Rows, Seeds: d.Cols, Weight: weights, RNGSeed: uint64(run.Seed)}, kernelName,
		c.userValues, &kernel.Settings{Progress: run.Progress.Phases()})
	if errors.Is(err, method.ErrSeeds) {
		return shell.DataError(cmp.Or(c.weights, c.seeds),
			"%s of %s; at least one seed and one other node are needed",
			words.Counted(len(d.Cols), "seed"), words.Counted(len(d.Rows), "node"))
	}
	if err != nil {
		return run.Costs.GraphError(err, name,
			"take parameters farther from the end of their range, or another --kernel")
	}
	spec := c.spec
	if spec == nil {
		spec = &kernel.Families().Named(chosen.Name).Spec
	}
	doc := &rankDocument{
		Output: c.out, Nodes: len(d.Rows), Seeds: len(d.Cols), Kernel: chosen.Name,
		Parameters: chosen.Given, Folds: r.Folds, Sweeps: r.Sweeps,
	}
	isSeed := sched.Mark(len(g.Degrees), d.Cols)
	position := make([]int, len(g.Degrees)) // position of each row in d.Rows
	order := make([]int, len(r.Order))
	place := make([]int, len(d.Rows))
	for i, row := range d.Rows {
		position[row] = i
	}
	for i, row := range r.Order {
		order[i] = position[row]
		place[order[i]] = i + 1
	}
	columns := []tablefile.Column[int]{
		{Title: "score", Number: func(i int) float64 { return r.Score[d.Rows[i]] }},
		{Title: "rank", Whole: func(i int) int { return place[i] }},
		{Title: "seed", Truth: func(i int) bool { return isSeed[d.Rows[i]] }},
	}
	run.Progress.Wait("writing")
	if err := tablefile.WriteNumbers(run.Context, d.Out.Writer, shell.Ending(c.out), order,
		ids.ID, columns); err != nil {
		return err
	}
	text := fmt.Sprintf("%s ranked by %s%s", words.Counted(doc.Nodes, sideNoun(side)),
		words.Counted(doc.Seeds, "seed"), describeSide(side, "seeds"))
	if doc.Folds > 0 {
		doc.AUC = &r.AUC
		doc.Stderr = &r.Stderr
		text += fmt.Sprintf(" · AUC of seeds left out %.3f ± %.3f", r.AUC, r.Stderr)
	}
	return d.Out.Finish(doc, shell.KernelParameters{Spec: spec, Values: chosen.Given}, text,
		spec.Name+shell.ParameterText(spec, chosen.Given)+" · "+words.Counted(r.Sweeps, "sweep"))
}
