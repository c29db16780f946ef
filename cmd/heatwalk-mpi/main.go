// Command heatwalk-mpi is the command heatwalk for the processes of an MPI job, which share the rows of the
// graph: mpirun -n 4 heatwalk-mpi classify ... It needs the build tag petsc, see docs/run.md.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/command"
	"github.com/heatwalk/heatwalk/sparse/petsc"
)

func main() {
	world, err := petsc.Start(nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "heatwalk-mpi:", err)
		if errors.Is(err, petsc.ErrNotBuilt) {
			os.Exit(3)
		}
		os.Exit(1)
	}
	code := command.MainOn(world, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if code == 0 {
		world.Close() // otherwise mpirun ends the other processes
	}
	os.Exit(code)
}
