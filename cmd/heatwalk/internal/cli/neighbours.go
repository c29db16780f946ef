package cli

import (
	"errors"
	"math"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/file/tablefile"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/param"
)

// neighbourFlags holds the flags for a graph of nearest neighbours of attributes.
type neighbourFlags struct {
	path, ids string
	source.NeighbourSettings
}

// declare declares the flags of n.
func (n *neighbourFlags) declare(run *session, cmd *cobra.Command) {
	flags := cmd.Flags()
	numberVar(run, flags, &n.Neighbours, "neighbours", 0, param.Range{Least: 1, Most: math.MaxInt32}, "N", "edges from each row of --of to the N rows with the largest cosine")
	flags.StringVar(&n.path, "of", "", "`FILE` with attributes, a row for each node: .npz, .npy or LIBSVM's text")
	numberVar(run, flags, &n.Least, "least-cosine", 0, param.Range{Least: 0, Most: 1}, "cosine", "cosine below which there is no edge (without --neighbours, all others are)")
	flags.StringVar(&n.ids, "feature-ids", "", "`FILE` with the ids of the rows of --of (default: X.rows.ids for X.npy, or numbers from 0)")
	numberVar(run, flags, &n.Weight, "content-weight", 1, param.Range{Most: maxContentWeight, AboveLeast: true}, "weight", "weight of an edge of cosine 1, relative to those of INPUT")
}

// check validates the flags and records problems.
func (n *neighbourFlags) check(run *session, cmd *cobra.Command, args []string, r *graphInputs) {
	isGiven := n.path != ""
	run.refuse(cmd.Flags(),
		rule{!isGiven, "neighbours least-cosine feature-ids content-weight", "is about attributes; name their file with --of"},
		rule{isGiven, "directed", "neighbours have no direction; leave it out"},
	)
	switch {
	case !isGiven && len(args) == 0:
		run.problem(cmd.Name(), "INPUT is missing; usage: %s", synopsis(cmd))
	case !isGiven:
	case n.Neighbours == 0 && n.Least == 0 && !run.noted("--neighbours") && !run.noted("--least-cosine"):
		run.problem("--of", "is not said how many edges to make of; add --neighbours K or --least-cosine COSINE")
	case r.sources.any():
		run.problem("--of", "makes a graph of attributes; make that of --hyperedges, --cocitation or --coupling first, and give it as INPUT")
	}
}

const maxContentWeight = 1e100

// read reads the rows of --of as a source of the graph. If they exceed the memory limit, ingest reports
// the required memory.
func (n *neighbourFlags) read(run *session) (*ingest.Source, error) {
	f, err := tablefile.Inspect(run.ctx, n.path, &tablefile.Options{Progress: run.progress.Stages(progress.Bytes)})
	if err != nil {
		return nil, err
	}
	var entryCount int64 // number of entries
	x, ids, err := tablefile.ReadCSR(run.ctx, f, n.ids, run.stdin, func(entries, need int64) error {
		entryCount = entries
		if limit := run.dataLimit(); limit > 0 && need > limit {
			return &ingest.LimitError{Need: need, Limit: limit}
		}
		return nil
	})
	n.Workers = run.threads
	var result *ingest.Source
	switch over := new(*ingest.LimitError); {
	case errors.As(err, over):
		result = source.UnreadNeighbours(f.Cols, entryCount, ids, &n.NeighbourSettings, err)
	case err != nil:
		return nil, err
	default:
		result = source.Neighbours(x, ids, &n.NeighbourSettings)
	}
	result.Name = n.path
	return result, nil
}
