package sched

import (
	"os"
	"strconv"
	"strings"
	"sync"
)

// CacheBytes returns the size in bytes of the second-level cache, which a core usually does not share. If the size is
// unknown, it returns a guess.
var CacheBytes = sync.OnceValue(func() int {
	text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cache/index2/size")
	if err != nil {
		return usualCacheBytes
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(string(text)), "K"))
	if err != nil || n <= 0 {
		return usualCacheBytes
	}
	return n << 10
})
