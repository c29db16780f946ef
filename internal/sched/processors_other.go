//go:build !linux

package sched

// processors are those that the goroutines of one call run on; other systems
// are not told.
type processors struct{}

func (*processors) take() {}
