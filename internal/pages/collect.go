package pages

import (
	"runtime"
	"runtime/debug"
)

// Collect frees what is not used any more, before something large is made. The
// collector's own pace lets as much garbage lie as is in use, and a step that has just
// ended leaves most of what it held: the next one would be there beside it, and count
// against a limit twice.
func Collect() { runtime.GC() }

// Release is [Collect] where the garbage lay in many pieces, which the next large block
// does not fit into: their memory goes back to the system at once.
func Release() { debug.FreeOSMemory() }
