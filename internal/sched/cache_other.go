//go:build !linux

package sched

// CacheBytes returns a guess of the size of a processor's second cache.
func CacheBytes() int { return usualCacheBytes }

// LastCacheBytes returns a guess of the size of the cache that processors share.
func LastCacheBytes() int { return usualLastCacheBytes }
