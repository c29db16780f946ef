package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/generate"
	"github.com/heatwalk/heatwalk/graphfile"
)

// generatedCollection is the JSON document of generate molecules.
type generatedCollection struct {
	Output     string         `json:"output"`
	Files      []string       `json:"files"`
	Model      string         `json:"model"`
	Parameters map[string]any `json:"parameters"` // the flags, by name
	Closing
}

func newMolecules(in *invocation) *cobra.Command {
	var (
		g   generate.Molecules
		out string
	)
	cmd := &cobra.Command{
		Use:   "molecules -o DIR/DS",
		Short: "A collection of small labelled graphs of classes, for heatwalk graphs",
		Args:  in.arguments("", 0, 0),
	}
	cmd.RunE = in.runs(func(*cobra.Command, []string) {
		g.RNGSeed = uint64(in.seed)
		if out == "" || out == "-" || isStoreName(out) {
			in.problem("-o", "name what the files begin with, as in -o DIR/DS for DIR/DS_A.txt")
		} else if err := g.Validate(); err != nil {
			in.problem("generate molecules", "%s", strings.TrimPrefix(err.Error(), "generate: "))
		}
	}, func([]string) error {
		d := &generatedCollection{Output: out, Model: "molecules", Parameters: flagValues(cmd.LocalNonPersistentFlags())}
		d.Parameters["seed"] = in.seed
		return in.runMolecules(g, d)
	})
	flags := cmd.Flags()
	flags.StringVarP(&out, "output", "o", "", "`PREFIX` of the files, such as DIR/DS")
	in.intVar(flags, &g.Graphs, "graphs", 200, 1, 1<<24, "graphs")
	in.intVar(flags, &g.Vertices, "nodes", 20, 12, 1_000_000, "mean number of vertices of a graph")
	in.intVar(flags, &g.Classes, "classes", 2, 1, 9, "classes")
	in.floatVar(flags, &g.Noise, "noise", 0.4, bounds{lo: 0, hi: 1, symbol: "noise"}, "share of the branches that belong to any class")
	cmd.Flags().SortFlags = false
	return cmd
}

// runMolecules makes and writes a collection.
func (in *invocation) runMolecules(g generate.Molecules, d *generatedCollection) error {
	n := new(needs)
	n.Limit = in.dataLimit()
	const vertex = 80 // bytes, with its edges and while they are put in order
	if err := n.Reserve(int64(g.Graphs)*(300+vertex*int64(g.Vertices)), "graphs"); err != nil {
		return err
	}
	if err := in.keepTo(n); err != nil {
		return err
	}
	files := &outputs{in: in}
	defer files.abort()
	c, err := g.Collection(in.ctx)
	if err != nil {
		return err
	}
	for _, ending := range graphfile.TUFiles(c) {
		path := d.Output + ending
		if err := files.writeText(path, func(w io.Writer) error { return graphfile.WriteTU(w, ending, c) }); err != nil {
			return err
		}
		d.Files = append(d.Files, path)
	}
	run, err := files.beside(d.Output, "", ".run.json")
	if err == nil {
		err = in.writeRun(run, nil, d.Parameters)
	}
	if err == nil {
		err = files.commit()
	}
	if err != nil {
		return err
	}
	return in.tell(d, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s\n%s\n", d.Output, words.Counted(int64(g.Graphs), "graph"), in.cost())
	})
}
