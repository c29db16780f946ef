package system

import (
	"runtime"
	"runtime/debug"
)

// Collect collects garbage. It must be called before large allocations, because otherwise the memory of a finished step
// would count against the limit together with the memory of the next step.
func Collect() { runtime.GC() }

// Release collects garbage and returns free memory to the system. It is for garbage of many small pieces, which the
// next large block cannot reuse.
func Release() { debug.FreeOSMemory() }
