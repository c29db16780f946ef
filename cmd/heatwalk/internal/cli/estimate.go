package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/budget"
	"github.com/heatwalk/heatwalk/internal/words"
	"github.com/heatwalk/heatwalk/param"
)

// estimateDocument is the JSON document of estimate.
type estimateDocument struct {
	Command     string          `json:"command"`
	MemoryBytes int64           `json:"memory_bytes"`
	LimitBytes  int64           `json:"limit_bytes"`
	DiskBytes   int64           `json:"disk_bytes"`
	Sweeps      *int            `json:"sweeps"`
	Items       []budget.Item   `json:"items"`
	Processes   *shell.RankCost `json:"processes,omitempty"`
	shell.Closing
}

func newEstimate(run *shell.Session) *cobra.Command {
	cmd := shell.NewGroup("estimate COMMAND ...",
		"Estimate memory, disk and sweeps of a long command")
	shell.NumberVar(&shell.FlagSet{FlagSet: cmd.PersistentFlags(), Line: run.Line}, &run.Costs.Ranks,
		"ranks", 0, param.Range{Least: 1, Most: 1 << 20}, "N",
		"processes of an MPI job that share the rows of the graph; --max-memory is that of each")
	planned := slices.DeleteFunc(commands(),
		func(c command) bool { return !c.planned })
	for _, c := range selectCommands(planned, run.Line.Args[min(1, len(run.Line.Args)):]) {
		cmd.AddCommand(estimateOf(run, c.construct(run)))
	}
	return cmd
}

// estimateOf returns a command that ends before cmd, or each of its subcommands, would begin to
// compute.
func estimateOf(run *shell.Session, cmd *cobra.Command) *cobra.Command {
	do := cmd.RunE
	cmd.Short = "What heatwalk " + cmd.Name() + " would take"
	for _, model := range cmd.Commands() {
		estimateOf(run, model)
	}
	if cmd.HasSubCommands() {
		return cmd
	}
	shared := shell.IsShared(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		run.Costs.Estimating = true
		run.Line.Documents = false
		limit := run.Costs.Memory
		switch {
		case run.Costs.Ranks == 0:
		case !shared:
			return fault.Usage("--ranks",
				"processes do not share the rows of a graph in heatwalk %s; leave it out", cmd.Name())
		default:
			run.Costs.Memory = 0 // the whole graph need not fit
		}
		if err := do(cmd, args); !errors.Is(err, shell.ErrPlanned) {
			return err
		}
		run.OutputState = ""
		if run.Costs.Cut != nil {
			if err := run.Costs.Cut.Check(limit); err != nil {
				return err
			}
		}
		return printPlan(run,
			strings.TrimPrefix(cmd.CommandPath(), "heatwalk estimate "))
	}
	return cmd
}

// printPlan prints memory, disk and sweeps of a run.
func printPlan(run *shell.Session, command string) error {
	run.Progress.Close()
	p := run.Costs.Planned
	items := p.Items()
	bytes := p.Total()
	if run.Costs.Reading.Bytes > bytes {
		items = []budget.Item{run.Costs.Reading}
		bytes = run.Costs.Reading.Bytes
	}
	resident := budget.Resident(bytes)
	items = append(items,
		budget.Item{What: "program and heap", Bytes: resident - bytes})
	doc := &estimateDocument{Command: command, Processes: run.Costs.Cut,
		MemoryBytes: resident, LimitBytes: run.Costs.Memory, DiskBytes: run.Costs.Disk + p.Disk,
		Items: items}
	if p.Sweeps != budget.UnknownSweeps {
		doc.Sweeps = &p.Sweeps
	}
	if run.Console.JSON {
		doc.Closing = shell.CloseRun(run.Console)
		return shell.PrintDocument(run.Console, doc)
	}
	var lines [][2]string
	for _, it := range doc.Items {
		lines = append(lines, [2]string{it.What, words.Bytes(it.Bytes)})
	}
	total := words.Bytes(doc.MemoryBytes)
	if run.Costs.Memory > 0 {
		total += " of " + words.Bytes(run.Costs.Memory)
	}
	sweeps := "unknown before the run"
	if doc.Sweeps != nil {
		sweeps = words.Count(*doc.Sweeps)
	}
	lines = append(lines, [2]string{"memory", total},
		[2]string{"disk", words.Bytes(doc.DiskBytes)}, [2]string{"sweeps", sweeps})
	if run.Costs.Cut != nil {
		lines = append(lines, run.Costs.Cut.Lines()...)
	}
	shell.PrintSheet(run.Console.Stdout, 28, lines)
	return run.Console.Stdout.Err
}
