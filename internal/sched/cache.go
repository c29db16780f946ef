package sched

const usualCacheBytes = 1 << 20
