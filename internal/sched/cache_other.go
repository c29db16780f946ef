//go:build !linux

package sched

// CacheBytes returns a guess of the size of the second-level cache in bytes.
var CacheBytes = func() int { return usualCacheBytes }
