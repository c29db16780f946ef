package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/nodefile"
	"github.com/heatwalk/heatwalk/tablefile"
)

// attributeFlags are the flags of what is known of nodes beside their labels.
type attributeFlags struct {
	file string
	ids  string
}

func (in *invocation) attributeFlags(flags *pflag.FlagSet, f *attributeFlags) {
	flags.StringVar(&f.file, "node-features", "", "`FILE` of attributes of nodes: a matrix .npz, .npy or LIBSVM, or a table with a column of ids")
	flags.StringVar(&f.ids, "feature-ids", "", "`FILE` of ids, one for each row of a matrix of --node-features (default: the file .rows.ids beside it)")
}

// checkAttributes notes what is wrong with the flags of f together.
func (in *invocation) checkAttributes(f *attributeFlags) {
	switch {
	case f.ids != "" && f.file == "":
		in.problem("--feature-ids", "there is no matrix; give it with --node-features")
	case f.file == "-":
		in.problem("--node-features", "stdin can be read once, and attributes are read several times; give a file")
	}
}

// attributesDocument is what the JSON documents say of attributes.
type attributesDocument struct {
	Nodes   int      `json:"nodes"` // that have some
	Columns int      `json:"columns"`
	Values  int64    `json:"values"`            // that are not 0
	Unknown int      `json:"unknown,omitempty"` // rows of nodes that are not in the graph
	Passed  []string `json:"passed_over,omitempty"`
}

// attributesOf returns what there is to say of the attributes of g, nil if it has none.
func attributesOf(g *openGraph) *attributesDocument {
	if g.attributes == nil {
		return nil
	}
	t := g.attributes.Table
	return &attributesDocument{t.Present, t.Cols, t.Entries, g.attributes.Unknown, g.attributes.Passed}
}

// String says it in a line.
func (d *attributesDocument) String() string {
	text := fmt.Sprintf("%s of %s", words.Counted(int64(d.Columns), "attribute"), words.Counted(int64(d.Nodes), "node"))
	if d.Unknown > 0 {
		text += fmt.Sprintf(" · %s of nodes that are not in the graph passed over", words.Counted(int64(d.Unknown), "row"))
	}
	return text
}

// readAttributes reads what is known of the nodes of g, if a file is given.
func (in *invocation) readAttributes(f *attributeFlags, g *openGraph, r *reading) (err error) {
	if f.file == "" {
		return nil
	}
	c := &nodefile.FeatureConfig{
		SkipUnknown: r.config.UnknownIDs == ingest.SkipUnknown, Memory: g.memory(),
		Warn: func(text string) { in.warn("%s", text) },
	}
	in.progress.Begin("reading "+f.file, 0, progress.Bytes)
	g.attributes, err = tablefile.ReadFeatures(in.ctx, f.file, f.ids, g.Nodes(), c, in.stdin)
	missing := new(nodefile.ParseError)
	switch {
	case errors.Is(err, tablefile.ErrTable):
		return fault.Usage("--feature-ids", "%s is a table, whose ids stand in a column; leave it out", f.file)
	case errors.Is(err, tablefile.ErrStream):
		return fault.Usage("--node-features", "%s can be read once, and attributes are read several times; give a plain file", f.file)
	case errors.Is(err, tablefile.ErrNoIDs) && errors.As(err, &missing):
		return fault.Usage("--node-features", "which nodes the rows of %s are is not told: %s is missing; write the ids there, one a line, or name their file with --feature-ids",
			f.file, missing.File)
	}
	return err
}
