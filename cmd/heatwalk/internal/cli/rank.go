package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/nodefile"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/kernel/function"
	"github.com/heatwalk/heatwalk/method/rank"
	"github.com/heatwalk/heatwalk/param"
)

// rankOptions ranks nodes by similarity to seeds.
type rankOptions struct {
	graph                       graphInputs
	seeds, weights, out, listed string
	spec                        *param.Spec
	userValues                  param.Values
}

func newRank(run *session) *cobra.Command {
	cmd, c, flags := newCommand(run, "rank GRAPH --seeds IDS -o OUT.tsv",
		"Nodes by similarity to known ones", checkRank, runRank)
	flags.addText(&c.seeds, "seeds", "`FILE` of the ids of the known nodes, one a line")
	flags.addText(&c.weights, "seed-weights", "`FILE` of node and weight, one pair a line, in place of --seeds")
	outputFlag(flags, &c.out, "output", "-", "`FILE` of the ranking: .tsv, .csv, or .npz for arrays in the order of the ids; - is stdout", tablefile.NumberEndings)
	flags.StringVar(&c.listed, "kernel", kernel.Families()[0].Name, "`SPEC` of the kernel, as in diffusion:beta=2; see heatwalk methods")
	graphFlags(&c.graph, flags)
	return cmd
}

// checkRank parses the kernel and records problems of the flags.
func checkRank(line *commandLine, c *rankOptions, _ []string) {
	if c.weights == "" {
		line.require("seeds")
	}
	line.refuse(rule{c.weights != "", "seeds",
		"--seed-weights names the seeds; leave one of them out"})
	if name, _, _ := strings.Cut(c.listed, ":"); name == cwk.Spec.Name {
		line.problem("--kernel",
			"%s: its walks start at labels of classes, which seeds do not have; give another kernel, such as %s", name, kernel.Families()[0].Name)
		return
	}
	var n param.Named
	c.spec, n = parseNamed(line, "--kernel", c.listed,
		append(kernel.Families().Specs(), function.PersonalizedPageRank))
	if c.spec == nil {
		return
	}
	c.userValues, _ = parseGiven(line, "--kernel", n.Given, c.spec)
	if f := kernel.Families().Named(n.Name); f != nil && f.Distance != "" {
		line.problem("--kernel", "%s is a distance; give %s", n.Name, f.Distance)
	}
}

// readWeightedSeeds reads the seeds, with their weights if they have some.
func readWeightedSeeds(run *session, c *rankOptions,
	g *openGraph) ([]int, []float64, error) {
	if c.weights == "" {
		rows, err := readIDs(run, &c.graph.tables, c.seeds, g.Nodes)
		return rows, nil, err
	}
	v, err := nodefile.ReadValues(run.ctx, c.weights, g.Nodes,
		nodeLabels(run.console, &c.graph, g))
	if err != nil {
		return nil, nil, err
	}
	noteColumns(run.console, c.weights, v.Columns)
	for i, weight := range v.Value {
		if !(weight > 0) {
			return nil, nil, fault.Data(c.weights,
				"the weight of %s is %v; give weights above 0, and leave other nodes out", g.Nodes.ID(v.Row[i]), weight)
		}
	}
	return v.Row, v.Value, nil
}

// rankDocument is the JSON document of rank.
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
	Closing
}

func runRank(run *session, c *rankOptions, name string) error {
	var weights []float64
	d, err := beginRun(run, &c.graph, name, c.out, nil, func(d *graphRun) (err error) {
		if d.cols, weights, err = readWeightedSeeds(run, c, d.g); err == nil {
			d.rows, err = rowsOf(run, &c.graph.tables, "", d.g)
		}
		return err
	})
	if err != nil {
		return err
	}
	g := d.g
	directed := g.Store.Manifest.Directed
	if directed && c.spec.Works&param.Directed == 0 {
		return asymmetric(name, c.spec.Name,
			"--kernel="+function.PersonalizedPageRank.Name)
	}
	ids := nodesOf(g, d.rows)
	run.costs.reserveNumbers(ids)
	report := run.progress.Phases()
	set := &rank.Settings{RNGSeed: uint64(run.seed),
		Progress: func(done, total int) { report("ranking", int64(done), int64(total)) }}
	r, v, err := heatwalk.RankNodes(run.ctx, g.Graph,
		&rank.Problem{Nodes: d.rows, Seeds: d.cols, Weight: weights}, c.spec.Name,
		c.userValues, set)
	if errors.Is(err, rank.ErrSeeds) {
		return fault.Data(cmp.Or(c.weights, c.seeds),
			"%s of %s; at least one seed and one other node are needed",
			words.Counted(len(d.cols), "seed"), words.Counted(len(d.rows), "node"))
	}
	if err != nil {
		return graphError(run.costs, err, name,
			"take parameters farther from the end of their range, or another --kernel")
	}
	doc := &rankDocument{
		Output: c.out, Nodes: len(d.rows), Seeds: len(d.cols), Kernel: c.spec.Name,
		Parameters: v, Folds: r.Folds, Sweeps: r.Sweeps,
	}
	isSeed := make(map[int]bool, len(d.cols))
	for _, seed := range d.cols {
		isSeed[seed] = true
	}
	// positions by row, and by rank
	position := make(map[int]int, len(d.rows))
	order := make([]int, len(r.Order))
	place := make([]int, len(d.rows))
	for i, row := range d.rows {
		position[row] = i
	}
	for i, row := range r.Order {
		order[i] = position[row]
		place[order[i]] = i + 1
	}
	columns := []tablefile.Column[int]{
		{Title: "score", Number: func(i int) float64 { return r.Score[d.rows[i]] }},
		{Title: "rank", Whole: func(i int) int { return place[i] }},
		{Title: "seed", Truth: func(i int) bool { return isSeed[d.rows[i]] }},
	}
	if err := tablefile.WriteNumbers(run.ctx, d.out.w, endingOf(c.out), order,
		ids.ID, columns); err != nil {
		return err
	}
	text := fmt.Sprintf("%s ranked by %s", words.Counted(doc.Nodes, "node"),
		words.Counted(doc.Seeds, "seed"))
	if doc.Folds > 0 {
		doc.AUC = &r.AUC
		doc.Stderr = &r.Stderr
		text += fmt.Sprintf(" · AUC of seeds left out %.3f ± %.3f", r.AUC, r.Stderr)
	}
	return d.out.finish(doc, kernelParameters{c.spec, v}, text,
		c.spec.Name+parameterText(c.spec, v)+" · "+words.Counted(r.Sweeps, "sweep"))
}
