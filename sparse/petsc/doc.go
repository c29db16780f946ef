// Package petsc connects the processes of an MPI job with PETSc. [World] implements [sparse.Network]: PetscSF moves
// rows between processes, and MPI the small vectors. The products and all algorithms are the same as in one process.
//
// The package needs the build tag petsc, cgo, and the libraries that scripts/mpi-packages installs; the tags
// petsc,petsc64 select the library with 64-bit indices. Without the tag, [Start] returns [ErrNotBuilt].
//
//	go build -tags petsc -o heatwalk-mpi ./cmd/heatwalk-mpi
//	mpirun -n 2 --bind-to none heatwalk-mpi classify ...
//
// PETSc allows only the thread that initialized it to call MPI. A goroutine locked to this thread runs all calls; the
// methods of World may be called from any goroutine, one at a time.
//
// Start turns the signal handlers of PETSc off, because they would replace handlers that the runtime of Go needs.
package petsc

import "errors"

// ErrNotBuilt is the error of [Start] in programs that were built without PETSc.
var ErrNotBuilt = errors.New("built without MPI; install PETSc and Open MPI, on Debian with scripts/mpi-packages, and build with go build -tags petsc")
