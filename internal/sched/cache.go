package sched

// What is taken for caches of which nothing is known.
const (
	usualCacheBytes     = 1 << 20
	usualLastCacheBytes = 16 << 20
)
