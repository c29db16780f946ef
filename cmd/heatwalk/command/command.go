// Package command runs the heatwalk command inside another program, for example one that
// registers kernels, learners and methods of its own before it starts.
package command

import (
	"io"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/cli"
)

// Main runs the command with the arguments behind its name, and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Main(args, stdin, stdout, stderr)
}
