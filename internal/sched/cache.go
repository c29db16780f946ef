package sched

// usualCacheBytes is the second cache of a processor of which nothing is known.
const usualCacheBytes = 1 << 20
