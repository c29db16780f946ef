package sched

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// CacheBytes returns the size of the second-level cache, which a core usually does not share, or a
// guess.
var CacheBytes = sync.OnceValue(func() int { return cacheBytes("index2", usualCacheBytes) })

// LastCacheBytes returns the size of the third-level cache, which cores share, or a guess.
var LastCacheBytes = sync.OnceValue(func() int { return cacheBytes("index3", usualLastCacheBytes) })

func cacheBytes(index string, usual int) int {
	text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cache/" +
		index + "/size")
	if err != nil {
		return usual
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
	if err != nil || n <= 0 {
		return usual
	}
	return n << 10
}
