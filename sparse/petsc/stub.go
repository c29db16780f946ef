//go:build !petsc || !cgo

package petsc

import "github.com/heatwalk/heatwalk/sparse"

// World is the network of an MPI job. Without the build tag petsc, Start never returns a World.
type World struct{ sparse.Network }

// Start returns [ErrNotBuilt].
func Start([]string) (*World, error) { return nil, ErrNotBuilt }

// Close does nothing.
func (w *World) Close() {}
