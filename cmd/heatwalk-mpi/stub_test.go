//go:build !petsc || !cgo

package main

import (
	"os"
	"os/exec"
	"testing"
)

func TestNotBuilt(t *testing.T) {
	cmd := exec.Command(os.Args[0], "version")
	cmd.Env = append(os.Environ(), "HEATWALK_TEST_MAIN=1")
	out, _ := cmd.CombinedOutput()
	const want = "heatwalk-mpi: built without MPI; install PETSc and Open MPI, on Debian with scripts/mpi-packages, and build with go build -tags petsc\n"
	if code := cmd.ProcessState.ExitCode(); code != 3 || string(out) != want {
		t.Errorf("exit code %d, %q", code, out)
	}
}
