//go:build !linux

package sched

// CacheBytes returns a guess of the size of a processor's second cache.
func CacheBytes() int { return usualCacheBytes }
