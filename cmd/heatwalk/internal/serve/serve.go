// Package serve is the command serve, and the commands that only its calls have.
package serve

import (
	"context"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/fault"
	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/internal/serve"
)

// New returns the command heatwalk serve, whose calls execute runs.
func New(run *shell.Session, execute func(*shell.Session) int) *cobra.Command {
	cmd, _, _ := shell.NewCommand(run, "serve",
		"Run command lines from stdin in this process, and keep graphs open",
		func(line *shell.CommandLine, _ *struct{}, _ []string) {
			line.Refuse(true, "dry-run seed", "calls have it; give it to them")
		},
		func(run *shell.Session, _ *struct{}, _ string) error {
			run.Costs.LimitHeap(run.Costs.DataLimit())
			// Memory that is never touched lets the garbage of small calls grow to its size. Without it they spend a third of
			// their processor time on collections.
			untouched := make([]byte, 64<<20)
			defer runtime.KeepAlive(untouched)
			shared := shell.NewServer(run)
			s := &serve.Server{In: run.Console.Stdin, Out: run.Console.Stdout, Err: run.Console.Stderr, Canceled: fault.ErrInterrupted}
			s.Call = func(ctx context.Context, args []string, stdout, stderr io.Writer) int {
				call := shared.NewCall(ctx, args, stdout, stderr)
				if len(args) > 0 && slices.Contains([]string{"open", "close", "memory"}, args[0]) {
					call.Commands = func() []*cobra.Command { return newCommands(shared, call) }
				}
				return execute(call)
			}
			err := s.Serve(run.Context)
			if err != nil && run.Context.Err() == nil {
				err = fault.Usage("stdin", "%v", err)
			}
			return err
		})
	return cmd
}

// newCommands returns the commands that only calls have.
func newCommands(s *shell.Server, call *shell.Session) []*cobra.Command {
	name := ""
	open, in, flags := shell.NewCommand(call, "open GRAPH", "Keep a graph open under the name of --as",
		func(line *shell.CommandLine, _ *shell.GraphInputs, _ []string) { line.Require("as") },
		func(call *shell.Session, in *shell.GraphInputs, path string) error {
			g, err := call.ReadGraph(in, path, "")
			if err == nil {
				s.Keep(call, name, g)
				err = printGraphs(s, call)
			}
			return err
		})
	flags.AddText(&name, "as", "`NAME` in place of GRAPH in later calls")
	in.Declare(flags)
	closing, _, _ := shell.NewCommand(call, "close NAME", "Close an open graph", nil,
		func(call *shell.Session, _ *struct{}, name string) error {
			if !s.Forget(name) {
				return fault.Usage(name, "no graph of this name is open; give the name of open --as")
			}
			return printGraphs(s, call)
		})
	memory, _, _ := shell.NewCommand(call, "memory", "Memory of the process and of open graphs", nil,
		func(call *shell.Session, _ *struct{}, _ string) error { return printGraphs(s, call) })
	return []*cobra.Command{open, closing, memory}
}

// printGraphs prints the memory of the open graphs.
func printGraphs(s *shell.Server, call *shell.Session) error {
	return call.Console.PrintResult(&struct {
		Graphs map[string]int64 `json:"graphs"`
		shell.Closing
	}{Graphs: s.Graphs()}, func(io.Writer) {})
}
