package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/cwk"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/rank"
	"github.com/heatwalk/heatwalk/param"
)

// rankOptions ranks nodes by similarity to seeds.
type rankOptions struct {
	graph              graphInputs
	seeds, out, listed string
	family             *kernel.Family
	userValues         param.Values
}

func newRank(run *session) *cobra.Command {
	cmd, c := newCommand(run, "rank GRAPH --seeds IDS -o OUT.tsv", "Nodes by similarity to known ones", checkRank, runRank)
	flags := cmd.Flags()
	flags.StringVar(&c.seeds, "seeds", "", "`FILE` of the ids of the known nodes, one a line")
	outputFlag(flags, &c.out, "output", "-", "`FILE` of the ranking: .tsv, .csv, or .npz for arrays in the order of the ids; - is stdout", tablefile.NumberEndings)
	flags.StringVar(&c.listed, "kernel", kernel.Families()[0].Name, "`SPEC` of the kernel, as in diffusion:beta=2; see heatwalk methods")
	graphFlags(run, &c.graph, flags)
	return cmd
}

// checkRank parses the kernel and records problems of the flags.
func checkRank(run *session, c *rankOptions, cmd *cobra.Command, _ []string) {
	run.require(cmd.Flags(), "seeds")
	if name, _, _ := strings.Cut(c.listed, ":"); name == cwk.Spec.Name {
		run.problem("--kernel", "%s: its walks start at labels of classes, which seeds do not have; give another kernel, such as %s", name, kernel.Families()[0].Name)
		return
	}
	spec, n := parseNamed(run, "--kernel", c.listed, kernel.Families().Specs())
	if spec == nil {
		return
	}
	c.family = kernel.Families().Named(n.Name)
	c.userValues, _ = parseGiven(run, "--kernel", n.Given, spec)
	if c.family.Distance != "" {
		run.problem("--kernel", "%s is a distance; give %s", n.Name, c.family.Distance)
	}
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
	d, err := beginRun(run, &c.graph, name, c.out, nil, func(d *graphRun) (err error) {
		if d.cols, err = readIDs(run, &c.graph.tables, c.seeds, d.g.Nodes); err == nil {
			d.rows, err = rowsOf(run, &c.graph.tables, "", d.g)
		}
		heatwalk.Reserve(d.g.Graph, 8*int64(len(d.rows)+len(d.cols)), "lists of nodes")
		return err
	})
	if err != nil {
		return err
	}
	g := d.g
	directed := g.Store.Manifest.Directed
	if directed && c.family.Works&param.Directed == 0 {
		return fault.Usage(name, "%s", asymmetric(c.family.Name, ""))
	}
	g.Store.Forward = !directed
	const cells = 100 // bytes of the numbers of a line
	run.disk += runFileBytes + idBytes(nodesOf(g, d.rows)) + cells*int64(len(d.rows))
	report := run.progress.Phases()
	set := &rank.Settings{RNGSeed: uint64(run.seed), Progress: func(done, total int) { report("ranking", int64(done), int64(total)) }}
	r, v, err := heatwalk.RankNodes(run.ctx, g.Graph, d.rows, d.cols, c.family.Name, c.userValues, set)
	if errors.Is(err, rank.ErrSeeds) {
		return fault.Data(c.seeds, "%s of %s; at least one seed and one other node are needed", words.Counted(len(d.cols), "seed"), words.Counted(len(d.rows), "node"))
	}
	if err != nil {
		return graphError(run, err, name, "take parameters farther from the end of their range, or another --kernel")
	}
	doc := &rankDocument{
		Output: c.out, Nodes: len(d.rows), Seeds: len(d.cols), Kernel: c.family.Name, Parameters: v, Folds: r.Folds, Sweeps: r.Sweeps,
	}
	isSeed := make(map[int]bool, len(d.cols))
	for _, seed := range d.cols {
		isSeed[seed] = true
	}
	// positions by row, and by rank
	position := make(map[int]int, len(d.rows))
	order := make([]int, len(r.Order))
	for i, row := range d.rows {
		position[row] = i
	}
	columns := []tablefile.NumberColumn{{Title: "score"}, {Title: "rank"}, {Title: "seed", Logical: true}}
	for k := range columns {
		columns[k].Values = make([]float64, len(d.rows))
	}
	for i, row := range r.Order {
		k := position[row]
		order[i] = k
		columns[0].Values[k] = r.Score[row]
		columns[1].Values[k] = float64(i + 1)
		if isSeed[row] {
			columns[2].Values[k] = 1
		}
	}
	if err := tablefile.WriteNumbers(run.ctx, d.out.w, formatOf(c.out, tablefile.NumberEndings), order, nodesOf(g, d.rows).ID, columns); err != nil {
		return err
	}
	text := fmt.Sprintf("%s ranked by %s", words.Counted(doc.Nodes, "node"), words.Counted(doc.Seeds, "seed"))
	if doc.Folds > 0 {
		doc.AUC = &r.AUC
		doc.Stderr = &r.Stderr
		text += fmt.Sprintf(" · AUC of seeds left out %.3f ± %.3f", r.AUC, r.Stderr)
	}
	return d.out.finish(doc, storeOf(g.Store.Manifest), kernelParameters{c.family, v}, text, c.family.Name+parameterText(&c.family.Spec, v)+" · "+words.Counted(r.Sweeps, "sweep"))
}
