package sched

// Sizes of caches if the system does not report them.
const (
	usualCacheBytes     = 1 << 20
	usualLastCacheBytes = 16 << 20
)
