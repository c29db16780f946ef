package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/ingest/source"
	"github.com/heatwalk/heatwalk/similarity"
	"github.com/heatwalk/heatwalk/sparse"
	"github.com/heatwalk/heatwalk/tablefile"
)

// neighbours holds the flags that make a graph of attributes.
type neighbours struct {
	of, ids string
	weight  float64
	similarity.Settings
}

// neighbourFlags declares the flags of n.
func (in *invocation) neighbourFlags(cmd *cobra.Command, n *neighbours) {
	flags := cmd.Flags()
	flags.IntVar(&n.Neighbours, "neighbours", 0, "edges between each row of --of and the `K` rows with the largest cosine")
	flags.StringVar(&n.of, "of", "", "`FILE` with attributes, a row for each node: .npz, .npy or LIBSVM's text")
	flags.Float64Var(&n.Least, "least-cosine", 0, "`COSINE` below which there is no edge (without --neighbours, all others are)")
	flags.StringVar(&n.ids, "feature-ids", "", "`FILE` with the ids of the rows of --of (default: FILE.rows.ids beside it, or numbers from 0)")
	flags.Float64Var(&n.weight, "content-weight", 1, "`WEIGHT` of an edge of cosine 1, beside those of INPUT")
}

// checkNeighbours notes what is wrong with the flags.
func (in *invocation) checkNeighbours(cmd *cobra.Command, args []string, r *reading, n *neighbours) {
	given := n.of != ""
	for _, name := range []string{"neighbours", "least-cosine", "feature-ids", "content-weight"} {
		if cmd.Flags().Changed(name) && !given {
			in.problem("--"+name, "is about attributes; name their file with --of")
			return
		}
	}
	switch {
	case !given && len(args) == 0:
		in.problem(cmd.Name(), "INPUT is missing; usage: %s", synopsis(cmd))
	case !given:
	case n.Neighbours < 0:
		in.problem("--neighbours", "%d; give 1 or more", n.Neighbours)
	case n.Neighbours == 0 && n.Least == 0:
		in.problem("--of", "is not said how many edges to make of; add --neighbours K or --least-cosine COSINE")
	case !(n.Least >= 0 && n.Least <= 1):
		in.problem("--least-cosine", "%v; give 0 to 1", n.Least)
	case !(n.weight > 0 && n.weight <= maxContentWeight):
		in.problem("--content-weight", "%v; give a number above 0", n.weight)
	case r.sources.any():
		in.problem("--of", "makes a graph of attributes; make that of --hyperedges, --cocitation or --coupling first, and give it as INPUT")
	case r.config.Directed:
		in.problem("--directed", "neighbours have no direction; leave it out")
	}
}

const (
	maxContentWeight = 1e100
	attributeBytes   = 2 * (4 + 8) // a column and a value of an attribute, which are copied as they grow
)

// attributes reads the rows of --of as a source of the graph.
func (in *invocation) attributes(n *neighbours) (*ingest.Source, error) {
	o := &tablefile.Options{}
	stage := in.progress.begin("reading "+n.of, 0, inBytes)
	o.Progress = func(done, total int64) { stage.set(done, total) }
	f, err := tablefile.Inspect(in.ctx, n.of, o)
	if err != nil {
		return nil, matrixError(err)
	}
	ids, err := in.rowIDs(f, n)
	if err != nil {
		return nil, err
	}
	ptr := make([]int64, 1, f.Rows+1)
	var (
		col []uint32
		val []float64
	)
	err = tablefile.Read(in.ctx, f, func(_ []byte, row []float64) error {
		for j, v := range row {
			if v != 0 {
				col, val = append(col, uint32(j)), append(val, v)
			}
		}
		ptr = append(ptr, int64(len(col)))
		if need := attributeBytes * int64(cap(col)); in.memory > 0 && need > in.plannable() {
			return &ingest.MemoryError{Need: need, Limit: in.memory}
		}
		return nil
	})
	if err != nil {
		in.wholly(err)
		return nil, matrixError(err)
	}
	x, err := sparse.NewCSR(len(ptr)-1, f.Cols, ptr, col, val)
	if err != nil {
		return nil, &dataError{n.of, err.Error()}
	}
	s := n.Settings
	s.Workers = in.threads
	made := source.Neighbours(x, ids, n.weight, &s)
	made.Name = n.of
	return made, nil
}

// rowIDs returns what the rows of a file of attributes are called.
func (in *invocation) rowIDs(f *tablefile.File, n *neighbours) ([]string, error) {
	beside := strings.TrimSuffix(n.of, filepath.Ext(n.of)) + ".rows.ids"
	if _, err := os.Stat(beside); n.ids == "" && err == nil {
		n.ids = beside
	}
	ids := make([]string, f.Rows)
	if n.ids != "" {
		list, err := in.readIDFile(n.ids, f.Rows)
		if err != nil {
			return nil, err
		}
		seen := make(map[string]int, f.Rows)
		for i := range ids {
			ids[i] = list.id(i)
			if first, twice := seen[ids[i]]; twice {
				return nil, &dataError{n.ids, "id " + strconv.Quote(ids[i]) + " is given to rows " + strconv.Itoa(first+1) + " and " + strconv.Itoa(i+1) + "; name each row differently"}
			}
			seen[ids[i]] = i
		}
		return ids, nil
	}
	names, err := f.Names("rows")
	if err != nil {
		return nil, matrixError(err)
	}
	for i := range ids {
		if names != nil {
			ids[i] = names[i]
		}
		ids[i] = cmp.Or(ids[i], strconv.Itoa(i))
	}
	return ids, nil
}
