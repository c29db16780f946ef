package cli

import (
	"errors"
	"math"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/spec"
	"github.com/heatwalk/heatwalk/tablefile"
)

// neighbours holds the flags that make a graph of attributes.
type neighbours struct {
	of, ids string
	source.NeighbourSettings
}

// neighbourFlags declares the flags of n.
func (in *invocation) neighbourFlags(cmd *cobra.Command, n *neighbours) {
	flags := cmd.Flags()
	numberVar(in, flags, &n.Neighbours, "neighbours", 0, spec.Range{Least: 1, Most: math.MaxInt32}, "N", "edges between each row of --of and so many with the largest cosine")
	flags.StringVar(&n.of, "of", "", "`FILE` with attributes, a row for each node: .npz, .npy or LIBSVM's text")
	numberVar(in, flags, &n.Least, "least-cosine", 0, spec.Range{Least: 0, Most: 1}, "cosine", "cosine below which there is no edge (without --neighbours, all others are)")
	flags.StringVar(&n.ids, "feature-ids", "", "`FILE` with the ids of the rows of --of (default: FILE.rows.ids beside it, or numbers from 0)")
	numberVar(in, flags, &n.Weight, "content-weight", 1, spec.Range{Most: maxContentWeight, AboveLeast: true}, "weight", "weight of an edge of cosine 1, beside those of INPUT")
}

// checkNeighbours notes what is wrong with the flags.
func (in *invocation) checkNeighbours(cmd *cobra.Command, args []string, r *reading, n *neighbours) {
	given := n.of != ""
	in.refuse(cmd.Flags(),
		rule{!given, "neighbours least-cosine feature-ids content-weight", "is about attributes; name their file with --of"},
		rule{given, "directed", "neighbours have no direction; leave it out"},
	)
	switch {
	case !given && len(args) == 0:
		in.problem(cmd.Name(), "INPUT is missing; usage: %s", synopsis(cmd))
	case !given:
	case n.Neighbours == 0 && n.Least == 0 && !in.noted("--neighbours") && !in.noted("--least-cosine"):
		in.problem("--of", "is not said how many edges to make of; add --neighbours K or --least-cosine COSINE")
	case r.sources.any():
		in.problem("--of", "makes a graph of attributes; make that of --hyperedges, --cocitation or --coupling first, and give it as INPUT")
	}
}

const maxContentWeight = 1e100

// attributes reads the rows of --of as a source of the graph. Where there is no room for
// them it is the ingest that tells what it takes.
func (in *invocation) attributes(n *neighbours) (*ingest.Source, error) {
	f, err := tablefile.Inspect(in.ctx, n.of, &tablefile.Options{Progress: in.progress.Stages(progress.Bytes)})
	if err != nil {
		return nil, err
	}
	var of int64 // entries
	x, ids, err := tablefile.ReadCSR(in.ctx, f, n.ids, in.stdin, func(entries, need int64) error {
		of = entries
		if limit := in.dataLimit(); limit > 0 && need > limit {
			return &ingest.LimitError{Need: need, Limit: limit}
		}
		return nil
	})
	n.Workers = in.threads
	var made *ingest.Source
	switch over := new(*ingest.LimitError); {
	case errors.As(err, over):
		made = source.UnreadNeighbours(f.Cols, of, ids, &n.NeighbourSettings, err)
	case err != nil:
		return nil, err
	default:
		made = source.Neighbours(x, ids, &n.NeighbourSettings)
	}
	made.Name = n.of
	return made, nil
}
