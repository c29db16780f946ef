// Package system returns the limit on the memory of this process and its peak resident memory. It allocates large
// blocks of the heap on huge pages, which makes random access faster, and runs the garbage collector before an
// allocation that would exceed the memory limit.
package system

import (
	"os"
	"runtime/debug"
)

// AddressLimit is the shell command for a limit on the address space.
const AddressLimit = "ulimit -v"

const (
	// usualSpace is the approximate address space of the runtime itself without a limit.
	usualSpace = 1800 << 20

	// threadBytes is reserved for the stacks and pools of threads that are not running yet.
	threadBytes = 256 << 20
)

func availableSpace() (bytes int64, limited bool) {
	limit, used := addressSpace()
	return limit - used - threadBytes, limit > 0
}

// SpaceFor returns the limit on the address space, and the smallest limit that leaves the given bytes for data, or 0 if
// the current limit suffices.
func SpaceFor(bytes int64) (limit, needed int64) {
	limit, used := addressSpace()
	if space := limit - used - threadBytes; limit > 0 && space < bytes {
		needed = max(used, usualSpace) + threadBytes + bytes
	}
	return limit, needed
}

// Memory returns the memory of the machine in bytes, or the limit of its container if it is less, or 0 if both are
// unknown.
func Memory() int64 {
	limit, _ := machineOrContainer()
	return limit
}

func machineOrContainer() (limit int64, name string) {
	limit = machine()
	name = "machine"
	if c := container(); c > 0 && c <= limit {
		return c, "container"
	}
	return limit, name
}

// AllowedMemory returns the least of the memory of the machine, the limit of its container, the address space that is
// left and GOMEMLIMIT, in bytes, and its name. It returns 0 if all are unknown.
func AllowedMemory() (limit int64, name string) {
	limit, name = machineOrContainer()
	if space, limited := availableSpace(); limited && (limit == 0 || space < limit) {
		limit = max(1, space)
		name = AddressLimit
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		if process := debug.SetMemoryLimit(-1); limit == 0 || process < limit {
			limit = process
			name = "GOMEMLIMIT"
		}
	}
	return limit, name
}
