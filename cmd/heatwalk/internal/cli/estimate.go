package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/param"
)

// estimateDocument is the JSON document of estimate.
type estimateDocument struct {
	Command     string          `json:"command"`
	MemoryBytes int64           `json:"memory_bytes"`
	LimitBytes  int64           `json:"limit_bytes"`
	DiskBytes   int64           `json:"disk_bytes"`
	Sweeps      *int            `json:"sweeps"`
	Faster      []string        `json:"faster,omitempty"`
	Items       []heatwalk.Part `json:"items"`
	Processes   *rankCost       `json:"processes,omitempty"`
	Closing
}

func newEstimate(run *session) *cobra.Command {
	cmd := newGroup(run, "estimate COMMAND ...", "Estimate memory, disk and sweeps of a long command")
	numberVar(run, cmd.PersistentFlags(), &run.ranks, "ranks", 0, param.Range{Least: 1, Most: 1 << 20}, "N", "processes of an MPI job that share the rows of the graph; --max-memory is that of each")
	planned := slices.DeleteFunc(commands(), func(c command) bool { return !c.planned })
	var args []string
	if len(run.args) > 1 {
		args = run.args[1:]
	}
	for _, c := range called(planned, args) {
		cmd.AddCommand(estimateOf(run, c.make(run)))
	}
	return cmd
}

// estimateOf returns a command that ends before cmd, or each of its subcommands, would begin to
// compute.
func estimateOf(run *session, cmd *cobra.Command) *cobra.Command {
	do := cmd.RunE
	cmd.Short = "What heatwalk " + cmd.Name() + " would take"
	for _, model := range cmd.Commands() {
		estimateOf(run, model)
	}
	if cmd.HasSubCommands() {
		return cmd
	}
	shared := isShared(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		run.estimating = true
		limit := run.memory
		switch {
		case run.ranks == 0:
		case !shared:
			return fault.Usage("--ranks", "processes do not share the rows of a graph in heatwalk %s; leave it out", cmd.Name())
		default:
			run.memory = 0 // the whole graph need not fit
		}
		if err := do(cmd, args); !errors.Is(err, errPlanned) {
			return err
		}
		run.doing = ""
		if run.cut != nil {
			if err := run.cut.check(limit); err != nil {
				return err
			}
		}
		return printPlan(run, strings.TrimPrefix(cmd.CommandPath(), "heatwalk estimate "))
	}
	return cmd
}

// printPlan prints memory, disk and sweeps of a run.
func printPlan(run *session, command string) error {
	run.progress.Close()
	p := run.planned
	items, bytes := p.Parts(), p.Bytes()
	if run.reading.Bytes > bytes {
		items, bytes = []heatwalk.Part{run.reading}, run.reading.Bytes
	}
	resident := budget.Resident(bytes)
	items = append(items, heatwalk.Part{What: "program and heap", Bytes: resident - bytes})
	doc := estimateDocument{Command: command, Processes: run.cut, MemoryBytes: resident, LimitBytes: run.memory, DiskBytes: run.disk, Items: items}
	if p.Sweeps != heatwalk.UnknownSweeps {
		doc.Sweeps = &p.Sweeps
	}
	doc.Faster = run.faster
	if run.json {
		doc.Closing = closingOfRun(run)
		return printDocument(run, doc)
	}
	var lines [][2]string
	for _, it := range doc.Items {
		lines = append(lines, [2]string{it.What, words.Bytes(it.Bytes)})
	}
	total := words.Bytes(doc.MemoryBytes)
	if run.memory > 0 {
		total += " of " + words.Bytes(run.memory)
	}
	sweeps := "unknown before the run"
	if doc.Sweeps != nil {
		sweeps = words.Count(*doc.Sweeps)
	}
	lines = append(lines, [2]string{"memory", total}, [2]string{"disk", words.Bytes(doc.DiskBytes)}, [2]string{"sweeps", sweeps})
	if run.cut != nil {
		lines = append(lines, run.cut.lines()...)
	}
	for _, advice := range doc.Faster {
		lines = append(lines, [2]string{"faster with", advice})
	}
	sheet(run.stdout, 28, lines)
	return run.stdout.err
}
