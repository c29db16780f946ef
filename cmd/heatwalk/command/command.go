// Package command runs the heatwalk command inside another program, for example one that registers kernels,
// learners, methods and kinds of items before it starts.
package command

import (
	"io"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/cli"
	_ "github.com/heatwalk/heatwalk/papers"
	_ "github.com/heatwalk/heatwalk/papers/ongram"
	"github.com/heatwalk/heatwalk/sparse"
)

// Main runs the command with the arguments after its name, and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Main(args, stdin, stdout, stderr)
}

// MainOn is [Main] in one of the processes of a network, which share the rows of the graph. All processes
// must call it with the same arguments. Process 0 prints and writes files.
func MainOn(network sparse.Network, args []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	return cli.MainOn(network, args, stdin, stdout, stderr)
}
