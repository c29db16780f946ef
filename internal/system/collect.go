package system

import (
	"runtime"
	"runtime/debug"
)

// Collect runs the garbage collector. It is called before large allocations, because the collector by itself tolerates as much
// garbage as there is live memory. The memory of a finished step would then count against the limit together with the memory of
// the next step.
func Collect() { runtime.GC() }

// Release runs the garbage collector and returns free memory to the system. It is needed if the
// garbage consists of many small pieces, which the next large block cannot reuse.
func Release() { debug.FreeOSMemory() }
