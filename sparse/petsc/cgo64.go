//go:build petsc && cgo && petsc64

package petsc

// The build cache of Go does not see tags inside a #cgo line, so that each variant has its own file.

// #cgo pkg-config: petsc64 ompi-c
import "C"
