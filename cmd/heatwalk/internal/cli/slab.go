package cli

import (
	"encoding/json"

	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/evaluate"
	"github.com/heatwalk/heatwalk/nodefile"
)

// slabFlag is the share of --slab, the whole without it.
type slabFlag struct{ evaluate.Share }

func (in *invocation) slabVar(flags *pflag.FlagSet, s *slabFlag, of string) {
	in.variable(flags, "slab", "I/M", "", "do only slab I, from 0, of M slabs of "+of+"; heatwalk merge puts them together", func(text string) (err error) {
		s.Share, err = evaluate.ParseShare(text)
		return err
	})
}

// bounds returns what of n things, called as in "column", belongs to the slab:
// lo ≤ i < hi.
func (s slabFlag) bounds(n int, noun string) (lo, hi int, err error) {
	if s.Of > n {
		return 0, 0, fault.Usage("--slab", "there are only %s; give at most %d slabs", words.Counted(int64(n), noun), n)
	}
	lo, hi = s.Bounds(n)
	return lo, hi, nil
}

// checkSlab notes what is wrong with a slab: all slabs are to read the same
// store, and write files in one form.
func (in *invocation) checkSlab(s slabFlag, graph []string, out, format string, formats []string) {
	if s.Of == 0 {
		return
	}
	if len(graph) > 0 && !isDir(graph[0]) {
		in.problem("--slab", "%s is not a store, and all slabs are to read the same one; run heatwalk ingest first", graph[0])
	}
	if out != "" && (out == "-" || formatOf(out, formats) != format) {
		in.problem("--slab", "a part is a file in the form %s; write -o PART%s", format, format)
	}
}

// newPart describes the output of a slab.
func newPart(command string, s slabFlag, g *openGraph, parameters any, l *nodefile.Labels) (*evaluate.Part, error) {
	p, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	out := &evaluate.Part{Command: command, Slab: s.Index, Of: s.Of, Store: g.Manifest().Identity, Parameters: p}
	if l != nil {
		out.Labels = evaluate.ListSum(l.Names, l.Row, l.Class)
	}
	return out, nil
}
