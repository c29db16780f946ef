package sched

// usualCacheBytes is the size of the cache if the system does not report it.
const usualCacheBytes = 1 << 20
