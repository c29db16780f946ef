package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/progress"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/ingest"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/pages"
	"github.com/heatwalk/heatwalk/internal/system"
	"github.com/heatwalk/heatwalk/sparse/shard"
	"github.com/heatwalk/heatwalk/spec"
)

func newIngest(in *invocation) *cobra.Command {
	var (
		r     reading
		near  neighbours
		dir   string
		codec string
	)
	cmd := &cobra.Command{
		Use:   "ingest INPUT... -o DIR",
		Short: "Read edge lists and graph files of other tools into a store",
		Args:  in.arguments("INPUT", 0, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if info, err := os.Stat(dir); dir == "" {
				in.problem("-o", "the store's directory is missing; write -o DIR")
			} else if err == nil && !info.IsDir() {
				in.problem("-o", "%s is a file; name a directory", dir)
			}
			for i, a := range args {
				if isInputStore(a) && !(r.sources.citations() && len(args) == 1) {
					in.problem(a, "is a store already; the other commands take it as it is")
				}
				for _, b := range args[:i] {
					if a == b || sameFile(a, b) {
						in.problem(a, "given twice; its edges would count twice")
					}
				}
			}
			in.checkSources(&r)
			in.checkNeighbours(cmd, args, &r, &near)
			if err := in.checked(); err != nil {
				return err
			}
			r.config.Codec = shard.Codec(codec)
			if near.of != "" {
				source, err := in.attributes(&near)
				if err != nil {
					return err
				}
				r.config.Sources = []*ingest.Source{source}
				if r.config.Duplicates == ingest.DefaultDuplicates {
					r.config.Duplicates = ingest.SumDuplicates // links and content together
				}
			}
			return in.runIngest(dir, args, &r)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&dir, "output", "o", "", "`DIR` of the store")
	flags.BoolVar(&in.force, "force", false, "replace the store in DIR")
	in.choiceVar(flags, &codec, "codec", string(shard.FourWidths), []string{string(shard.FourWidths), string(shard.Zstd)},
		"code of the shards: the usual one, or the same under zstd for cold storage")
	in.neighbourFlags(cmd, &near)
	in.readingFlags(flags, &r)
	return cmd
}

func (in *invocation) runIngest(dir string, inputs []string, r *reading) error {
	in.keeps(dir)
	files := &outputs{in: in}
	defer files.abort()
	run, err := files.beside(withoutSeparator(dir), "", ".run.json")
	if err != nil {
		return err
	}
	r.config.Store = &shard.WriteOptions{Around: func(m *shard.Manifest, publish func() error) error {
		if err := in.writeRun(run, storeOf(m), nil); err != nil {
			return err
		}
		return files.commitAround(publish)
	}}
	report, err := in.ingest(dir, inputs, r, in.force)
	if err != nil {
		return err
	}
	in.doing = ""
	m := report.Store
	if in.json {
		c := in.closing()
		return in.document(struct {
			*ingest.Report
			Order           string  `json:"order"`
			Identity        string  `json:"identity"`
			BitsPerEntry    float64 `json:"bits_per_entry"`
			BytesTotal      int64   `json:"bytes_total"`
			Seconds         float64 `json:"seconds"` // covers that of the report
			PeakMemoryBytes int64   `json:"peak_memory_bytes"`
		}{report, orderOf(m), m.Identity, m.BitsPerEntry(), m.BytesTotal(), c.Seconds, c.PeakMemoryBytes})
	}
	w := in.summary()
	fmt.Fprintln(w, madeStore(report))
	fmt.Fprintf(w, "%s · %s\n", in.cost(), dir)
	return in.stdout.err
}

// madeStore says what a new store holds, and what did not come into it.
func madeStore(r *ingest.Report) string {
	order := ""
	if r.Store.Order != "" {
		order = ", order " + r.Store.Order
	}
	columns := ""
	for _, f := range r.Files {
		if f.Columns != "" {
			columns += f.Name + ": " + f.Columns + "\n"
		}
	}
	return fmt.Sprintf("%s%s, %s, %.1f bits an entry, %s%s%s", columns, words.Counted(r.Nodes, "node"), words.Counted(r.Edges, "edge"),
		r.Store.BitsPerEntry(), words.Bytes(r.Store.BytesTotal()), order, dropped(r))
}

// dropped lists what was merged or left out.
func dropped(r *ingest.Report) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		noun string
	}{
		{r.Duplicates, "duplicate edge"}, {r.Reciprocal, "edge in both directions"}, {r.SelfLoops, "self loop"},
		{r.ZeroWeights, "zero weight"}, {r.BadLines, "bad line"}, {r.UnknownIDs, "edge of an unknown node"},
	} {
		if p.n > 0 {
			first, rest := p.noun, ""
			for _, word := range []string{" of ", " in "} {
				if at := strings.Index(p.noun, word); at >= 0 {
					first, rest = p.noun[:at], p.noun[at:]
				}
			}
			parts = append(parts, words.Counted(p.n, first)+rest)
		}
	}
	if parts == nil {
		return ""
	}
	return "\n" + strings.Join(parts, ", ")
}

// ingest reads inputs into a new store in dir.
func (in *invocation) ingest(dir string, inputs []string, r *reading, force bool) (*ingest.Report, error) {
	c := r.config
	c.Force = force
	c.Workers = in.threads
	if in.memory > 0 {
		c.Memory = max(1, in.plannable()-r.taken)
	}
	c.TempDir = in.tempDir
	if c.Stdin == nil {
		c.Stdin = in.stdin
	}
	c.Warn = func(text string) { in.warn("%s", text) }
	var (
		at    ingest.Progress
		stage *progress.Stage
		lines int64
	)
	c.Progress = func(p ingest.Progress) {
		if stage == nil || p.Phase != at.Phase || p.File != at.File {
			u := progress.Bytes
			if p.File == "" {
				u = "row"
			}
			name := strings.TrimSpace(p.Phase + " " + p.File)
			if r.config.Stdin != nil && p.File != "" {
				name = r.source
			}
			stage = in.progress.Begin(name, p.Total, u)
		}
		at, lines = p, p.Lines
		stage.Set(p.Done, p.Total)
	}
	if in.estimating {
		if r.sources.any() || c.Sources != nil {
			return nil, in.planMade(dir, inputs, r)
		}
		return nil, in.planIngest(inputs, &c)
	}
	if c.Memory > 0 {
		limit := budget.HeapLimit(c.Memory + r.taken)
		pages.Within(limit, limit)
	}
	var temporary int64 // bytes of stores
	if r.sources.any() {
		made, bytes, end, err := in.makeSources(dir, inputs, &r.sources, c)
		if err != nil {
			in.wholly(err)
			return nil, err
		}
		defer func() {
			if err := end(); err != nil {
				in.warn("%s", cause(err))
			}
		}()
		c, inputs, temporary = made, nil, bytes
	}
	report, err := ingest.Run(in.ctx, dir, inputs, &c)
	if report != nil {
		report.SpilledBytes += temporary
	}
	if errors.Is(err, shard.ErrNotStore) { // it is the output that is none
		err = fault.Usage("-o", "%v", err)
	}
	in.wholly(err)
	if errors.Is(err, context.Canceled) || errors.Is(err, fault.ErrInterrupted) {
		in.reached = words.Counted(lines, "line")
	}
	in.progress.End()
	return report, err
}

// wholly makes an error about memory one of resident memory, not of edges alone.
func (in *invocation) wholly(err error) {
	if over := new(*ingest.MemoryError); errors.As(err, over) {
		(*over).Need, (*over).Limit = budget.Resident((*over).Need), in.memory
	}
}

// planIngest plans an ingest.
func (in *invocation) planIngest(inputs []string, c *ingest.Config) error {
	p, err := ingest.Estimate(in.ctx, inputs, c)
	if err != nil {
		in.wholly(err)
		return err
	}
	in.planned = &budget.Needs{Disk: p.Disk + p.Temp + runFileBytes, Demand: spec.Demand{Sweeps: p.Passes}}
	_ = in.planned.ReserveList(p.Memory) // without a limit
	return errPlanned
}

// planMade plans an ingest of a graph that is made of something else, whose size is known
// when it has been made: it is made for a while.
func (in *invocation) planMade(dir string, inputs []string, r *reading) error {
	temp, err := in.makeTemp(dir)
	if err != nil {
		return err
	}
	defer temp.end()
	in.estimating = false
	report, err := in.ingest(temp.Content(), inputs, r, false)
	if in.estimating = true; err != nil {
		return err
	}
	in.planned = &budget.Needs{Disk: report.Store.BytesTotal() + report.SpilledBytes + runFileBytes, Demand: spec.Demand{Sweeps: 1}}
	_ = in.planned.Reserve(in.measuredBytes(), "ingest") // without a limit
	return errPlanned
}

// measuredBytes returns the bytes of data of what has been done so far when it is done
// again: it may take a bit more, but not more than there is.
func (in *invocation) measuredBytes() int64 {
	peak := system.PeakMemory()
	bytes := max(0, budget.Data(peak+peak/8))
	if limit := in.dataLimit(); limit > 0 {
		bytes = min(bytes, limit)
	}
	return bytes
}

// storeOf returns what a run file says about a store.
func storeOf(m *shard.Manifest) any {
	return struct {
		Identity string            `json:"identity"`
		Nodes    int64             `json:"nodes"`
		Edges    int64             `json:"edges"`
		Entries  int64             `json:"entries"`
		Directed bool              `json:"directed"`
		Weighted bool              `json:"weighted"`
		Order    string            `json:"order"`
		Options  map[string]string `json:"options,omitempty"`
		Sources  []shard.Source    `json:"sources,omitempty"`
	}{m.Identity, m.Rows, m.Edges(), m.Entries, m.Directed, m.Weighted, orderOf(m), m.Options, m.Sources}
}

// orderOf returns what the order of a store's rows is called.
func orderOf(m *shard.Manifest) string { return cmp.Or(m.Order, noOrder) }

// noOrder is the order of the ids.
const noOrder = "none"
